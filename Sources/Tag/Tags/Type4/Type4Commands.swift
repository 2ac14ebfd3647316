/// The commands of ISO/IEC 7816-4 that a Type 4 tag supports.
///
/// All commands are short: up to 255 bytes of data, up to 256 bytes of answer. Extended lengths would save APDUs on a
/// card with larger MLe and MLc, but no time. A PN53x passes on at most 262 bytes at once, so each 256 bytes take a
/// chip command anyway. Some cards also announce extended lengths but do not support them.
extension TagChannel {
  mutating func select(application: [UInt8]) throws(TagWriteError) -> Bool {
    let length = UInt8(truncatingIfNeeded: application.count)
    return try send([0x00, 0xA4, 0x04, 0x00, length] + application + [0x00]).isSuccess
  }

  /// SELECT by file identifier, first or only occurrence, without response data.
  mutating func select(_ file: [UInt8]) throws(TagWriteError) -> Bool {
    try send([0x00, 0xA4, 0x00, 0x0C, 0x02] + file).isSuccess
  }

  /// READ BINARY of at most 256 bytes from an offset of at most 7FFF. The result may be shorter; it is empty if the
  /// card refuses.
  mutating func read(_ offset: Int, _ count: Int) throws(TagWriteError) -> [UInt8] {
    let answer = try send([0x00, 0xB0] + offset.bytes(2) + [UInt8(truncatingIfNeeded: count)])
    return Array(answer.contents.prefix(count))
  }

  /// READ BINARY of at most 253 bytes from any offset. The offset and the answer are data objects.
  mutating func readObject(_ offset: Int, _ count: Int) throws(TagWriteError) -> [UInt8] {
    let expected = UInt8(truncatingIfNeeded: count + (count < 0x80 ? 2 : 3))
    let answer = try send([0x00, 0xB1, 0x00, 0x00, 0x05] + DataObject.offset(offset) + [expected])
    return DataObject.contents(answer.contents).map { Array($0.prefix(count)) } ?? []
  }

  /// UPDATE BINARY. Returns the status word.
  mutating func update(_ offset: Int, _ data: [UInt8]) throws(TagWriteError) -> Int {
    if offset > Type4File.farthestOffset {
      let objects = DataObject.offset(offset) + DataObject.data(data)
      return try send([0x00, 0xD7, 0x00, 0x00, UInt8(truncatingIfNeeded: objects.count)] + objects).status
    }
    return try send([0x00, 0xD6] + offset.bytes(2) + [UInt8(truncatingIfNeeded: data.count)] + data).status
  }

  private mutating func send(_ command: [UInt8]) throws(TagWriteError) -> AnswerAPDU {
    let answer = try ask(command)
    // ISO/IEC 7816-4, 5.1 requires a status word. An answer without one gives no information about the card's contents.
    guard answer.count >= 2 else { throw .refused(.damaged, "an answer has no status word") }
    return AnswerAPDU(answer)
  }
}

/// A response APDU, which has at least a status word.
private struct AnswerAPDU {
  private let data: ArraySlice<UInt8>
  let status: Int

  init(_ bytes: [UInt8]) {
    data = bytes.dropLast(2)
    status = bytes.suffix(2).bigEndian
  }

  var isSuccess: Bool { status == 0x9000 }

  /// The data; empty if the card refused. Status 62 82 means that the file ended early; the bytes up to its end are
  /// valid.
  var contents: ArraySlice<UInt8> { isSuccess || status == 0x6282 ? data : [] }
}

/// The data objects of READ BINARY and UPDATE BINARY with odd instruction codes (ISO/IEC 7816-4, 11.3).
enum DataObject {
  /// The size of an offset object, in bytes.
  private static let offsetSize = 5

  /// An offset object. The offset has three bytes.
  static func offset(_ offset: Int) -> [UInt8] { [0x54, 0x03] + offset.bytes(3) }

  /// A discretionary data object.
  static func data(_ data: [UInt8]) -> [UInt8] {
    let length = UInt8(truncatingIfNeeded: data.count)
    return (data.count < 0x80 ? [0x53, length] : [0x53, 0x81, length]) + data
  }

  /// The contents of a discretionary data object; nil if the bytes are no such object.
  static func contents(_ object: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = object
    guard rest.popFirst() == 0x53, let first = rest.popFirst() else { return nil }
    var length = Int(first)
    if first >= 0x80 {
      guard first == 0x81 || first == 0x82 else { return nil }
      length = 0
      for _ in 0..<Int(first & 0x0F) {
        guard let byte = rest.popFirst() else { return nil }
        length = length << 8 | Int(byte)
      }
    }
    return rest.prefix(length)
  }

  /// The number of bytes that fit into an object of this size.
  static func room(in size: Int) -> Int { max(0, size - (size - 2 < 0x80 ? 2 : 3)) }

  /// The number of data bytes that fit into a command behind the offset object.
  static func roomBehindOffset(in size: Int) -> Int { room(in: size - offsetSize) }
}

extension ArraySlice<UInt8> {
  /// The bytes as a big-endian number; at most seven bytes.
  var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }
}

extension Int {
  /// The low bytes of the number in big-endian order.
  func bytes(_ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}
