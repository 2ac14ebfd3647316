/// Reads the answer to a SELECT (ISO/IEC 7816-4, 7.4.3).
enum FileControlInformation {
  /// The name of the selected application (tag 84) in the answer to a SELECT, with its status word; nil if it has none.
  static func applicationName(in answer: [UInt8]) -> [UInt8]? {
    guard answer.count > 2 else { return nil }
    var bytes = answer.dropLast(2)
    while let (tag, value) = object(&bytes) {
      switch tag {
      // FCP, FMD and FCI templates.
      case 0x62, 0x64, 0x6F:
        var inner = value
        while let (tag, value) = object(&inner) {
          if tag == 0x84 { return Array(value) }
        }
      case 0x84: return Array(value)
      default: break
      }
    }
    return nil
  }

  /// Removes the first data object (ISO/IEC 7816-4, 6.3). The result is nil if it is incomplete.
  private static func object(_ bytes: inout ArraySlice<UInt8>) -> (tag: Int, value: ArraySlice<UInt8>)? {
    guard let first = bytes.popFirst() else { return nil }
    var tag = Int(first)
    if first & 0x1F == 0x1F {
      guard let second = bytes.popFirst(), second & 0x80 == 0 else { return nil }
      tag = tag << 8 | Int(second)
    }
    guard var length = bytes.popFirst().map({ Int($0) }) else { return nil }
    if length > 0x80 {
      let count = length - 0x80
      guard count <= 2, bytes.count >= count else { return nil }
      length = 0
      for _ in 0..<count { length = length << 8 | Int(bytes.removeFirst()) }
    } else if length == 0x80 {
      return nil
    }
    guard bytes.count >= length else { return nil }
    defer { bytes = bytes.dropFirst(length) }
    return (tag, bytes.prefix(length))
  }
}
