/// A tag's UID as text: pairs of uppercase hexadecimal digits with hyphens, for example `04-A2-19-5A`.
public enum TagUID {
  /// The longest UID, in bytes: that of a triple-size NFC-A tag (ISO/IEC 14443-3, section 6.5.4).
  public static let maximumCount = 10

  /// The text for a UID; empty for a tag without one.
  public static func text(_ uid: [UInt8]) -> String {
    uid.map { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }.map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: "-")
  }

  /// The UID that a text names; nil for any other text. Lowercase digits are accepted.
  public static func bytes(_ text: String) -> [UInt8]? {
    let pairs = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard pairs.count <= maximumCount else { return nil }
    var uid: [UInt8] = []
    for pair in pairs {
      let values = pair.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard pair.count == 2, values.count == 2 else { return nil }
      uid.append(UInt8(values[0] << 4 | values[1]))
    }
    return uid
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
}
