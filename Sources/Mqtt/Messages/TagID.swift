import Names

/// The identity of a tag as Home Assistant and ESPHome write it.
enum TagID {
  /// The longest id in a link that is used, in bytes. Home Assistant's own are 36 bytes long.
  private static let maximumLength = 128
  private static let prefixes = ["https://www.home-assistant.io/tag/", "homeassistant://tag/"]

  /// The id in the link that Home Assistant's apps write; nil if the link is another one.
  static func inLink(_ uri: String) -> String? {
    guard let prefix = prefixes.first(where: { uri.hasPrefix($0) }) else { return nil }
    var id = uri.dropFirst(prefix.count).prefix { $0 != "?" && $0 != "#" }
    if id.last == "/" { id.removeLast() }
    // The unreserved characters of RFC 3986: nothing has to be decoded, and nothing can be confused.
    guard (1...maximumLength).contains(id.utf8.count), id.utf8.allSatisfy(isUnreserved) else { return nil }
    return String(id)
  }

  /// The id for a UID: its digits, or the beginning of its HMAC if there is a key. Empty for a tag that has no UID, or
  /// chooses a new one at each tap.
  static func ofUID(_ uid: [UInt8], key: [UInt8]?) -> String {
    guard !uid.isEmpty, !UIDText.isRandom(uid) else { return "" }
    guard let key else { return UIDText.text(uid) }
    return String(Digests.hmac(uid, key: key).prefix(32))
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
