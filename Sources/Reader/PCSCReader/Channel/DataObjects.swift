/// The data objects in an answer to a command of PC/SC part 3's supplement, 2.3: tag, length and value in BER.
struct DataObjects {
  /// Tags in the answer to a transparent exchange.
  enum Tag {
    /// The number of the data object that failed, and a status word.
    static let errorStatus: UInt16 = 0xC0
    /// The number of valid bits in the last byte; 0 for all.
    static let bitFraming: UInt16 = 0x92
    /// The first byte has error flags.
    static let responseStatus: UInt16 = 0x96
    static let response: UInt16 = 0x97
  }

  private var values: [UInt16: [UInt8]] = [:]

  /// Nil if an object is cut off. Of two objects with one tag, the first counts.
  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let first = rest.popFirst() {
      var tag = UInt16(first)
      if first & 0x1F == 0x1F {
        guard let second = rest.popFirst() else { return nil }
        tag = tag << 8 | UInt16(second)
      }
      guard let length = Self.length(&rest), rest.count >= length else { return nil }
      if values[tag] == nil { values[tag] = Array(rest.prefix(length)) }
      rest = rest.dropFirst(length)
    }
  }

  subscript(tag: UInt16) -> [UInt8]? { values[tag] }

  /// One byte, or 81 and one byte, or 82 and two.
  private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard let first = rest.popFirst() else { return nil }
    if first < 0x80 { return Int(first) }
    guard first == 0x81 || first == 0x82 else { return nil }
    var length = 0
    for _ in 0..<Int(first & 0x0F) {
      guard let byte = rest.popFirst() else { return nil }
      length = length << 8 | Int(byte)
    }
    return length
  }
}
