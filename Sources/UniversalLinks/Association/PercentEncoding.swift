/// Percent-encoding (RFC 3986 section 2.1).
enum PercentEncoding {
  /// The same text with its escapes in upper case (section 6.2.2.1).
  static func normalized(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var bytes = Array(text.utf8)
    for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
      for digit in index + 1..<min(index + 3, bytes.count)
      where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(bytes[digit]) {
        bytes[digit] &= 0xDF
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that the escapes stand for, as UTF-8; where they stand for none it stays as it is.
  static func decoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap(CharacterClasses.hexValue)
      guard byte == UInt8(ascii: "%"), digits.count == 2 else {
        result.append(byte)
        continue
      }
      result.append(digits[0] << 4 | digits[1])
      rest = rest.dropFirst(2)
    }
    return String(validating: result, as: UTF8.self) ?? normalized(text)
  }
}
