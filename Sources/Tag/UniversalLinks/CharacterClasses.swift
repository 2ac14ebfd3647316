/// The character classes of RFC 3986, under the names used there, for bytes of UTF-8.
enum CharacterClasses {
  static func isAlpha(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isHexDigit(_ byte: UInt8) -> Bool { hexValue(byte) != nil }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  static func isUnreserved(_ byte: UInt8) -> Bool {
    isAlpha(byte) || isDigit(byte) || "-._~".utf8.contains(byte)
  }

  static func isSubDelimiter(_ byte: UInt8) -> Bool { "!$&'()*+,;=".utf8.contains(byte) }

  static func isPathCharacter(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || isSubDelimiter(byte) || ":@/".utf8.contains(byte)
  }

  static func isQueryCharacter(_ byte: UInt8) -> Bool { isPathCharacter(byte) || byte == UInt8(ascii: "?") }

  static func isSchemeCharacter(_ byte: UInt8) -> Bool { isAlpha(byte) || isDigit(byte) || "+-.".utf8.contains(byte) }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// A character as an error message may show it: a visible ASCII character in quotation marks, any other as its code
  /// point.
  static func name(_ scalar: Unicode.Scalar) -> String {
    let visible = (0x21...0x7E).contains(scalar.value)
    let hex = String(scalar.value, radix: 16, uppercase: true)
    return visible ? "\"\(scalar)\"" : "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }
}
