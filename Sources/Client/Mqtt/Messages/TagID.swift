import Names

/// The identity of a tag as Home Assistant and ESPHome write it.
enum TagID {
  /// The longest id in a link that is used, in bytes. Home Assistant's own are 36 bytes long.
  private static let maximumLength = 128
  private static let prefixes = ["https://www.home-assistant.io/tag/", "homeassistant://tag/"]

  /// The id in the link that Home Assistant's apps write, percent-decoded as they do when they read it; nil if the link
  /// is another one. An id is a text on one line. One with a slash is not used: the apps differ about it.
  static func inLink(_ uri: String) -> String? {
    guard let prefix = prefixes.first(where: { uri.hasPrefix($0) }) else { return nil }
    var id = uri.dropFirst(prefix.count).prefix { $0 != "?" && $0 != "#" }
    if id.last == "/" { id.removeLast() }
    guard let bytes = decoded(id.utf8), (1...maximumLength).contains(bytes.count), !bytes.contains(UInt8(ascii: "/")),
      let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
      })
    else { return nil }
    return text
  }

  private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
    var (bytes, rest) = ([UInt8](), text)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      // UInt8(_:radix:) alone takes a sign, too.
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let decoded = UInt8(digits, radix: 16) else {
        return nil
      }
      bytes.append(decoded)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// The id for a UID: its digits, or the beginning of its HMAC if there is a key. Empty for a tag that has no UID, or
  /// chooses a new one at each tap.
  static func ofUID(_ uid: [UInt8], key: [UInt8]?) -> String {
    guard !uid.isEmpty, !UIDText.isRandom(uid) else { return "" }
    guard let key else { return UIDText.text(uid) }
    return String(Digests.hmac(uid, key: key).prefix(32))
  }
}
