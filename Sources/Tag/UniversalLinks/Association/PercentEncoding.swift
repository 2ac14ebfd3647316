/// Percent-encoding (RFC 3986 section 2.1).
enum PercentEncoding {
  /// The text in the spelling that is compared. Escapes are in upper case (section 6.2.2.1). Escaped unreserved
  /// characters are decoded, which does not change the meaning (section 6.2.2.2).
  static func normalized(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let value = escaped(rest) else {
        result.append(byte)
        continue
      }
      rest = rest.dropFirst(2)
      if CharacterClasses.isUnreserved(value) { result.append(value) } else { result += escape(of: value) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The text with its escapes decoded as UTF-8. Only an escape that is not part of valid UTF-8 stays encoded, in upper
  /// case: one bad byte must not hide the characters next to it from a rule.
  static func decoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.first {
      if let (character, count) = character(rest) {
        result += character
        rest = rest.dropFirst(count)
      } else if byte == UInt8(ascii: "%"), let value = escaped(rest.dropFirst()) {
        result += escape(of: value)
        rest = rest.dropFirst(3)
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The UTF-8 of the character that is percent-encoded at the start of `text`, and how many bytes its escapes take.
  /// Nil if there is no such character.
  static func character(_ text: Substring.UTF8View) -> (utf8: [UInt8], count: Int)? {
    var bytes: [UInt8] = []
    var rest = text
    while bytes.count < 4, rest.first == UInt8(ascii: "%"), let value = escaped(rest.dropFirst()) {
      bytes.append(value)
      rest = rest.dropFirst(3)
      if String(validating: bytes, as: UTF8.self) != nil { return (bytes, bytes.count * 3) }
    }
    return nil
  }

  /// The byte that the two hexadecimal digits at the start of `text` encode.
  private static func escaped(_ text: Substring.UTF8View) -> UInt8? {
    var digits = text.makeIterator()
    guard let high = digits.next().flatMap(CharacterClasses.hexValue),
      let low = digits.next().flatMap(CharacterClasses.hexValue)
    else { return nil }
    return high << 4 | low
  }

  private static func escape(of byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
