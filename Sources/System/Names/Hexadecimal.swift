package enum Hexadecimal {
  /// The bytes of pairs of digits, with or without colons between them; nil for any other text.
  package static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
    guard digits.count % 2 == 0, !digits.isEmpty else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The value of a digit in ASCII, in either case.
  package static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// Capital digits, two for each byte, without a separator.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0x0F)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// With leading zeros.
  package static func text<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
}
