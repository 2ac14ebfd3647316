import CGIO
import NDEF
import Names
import Settings
import TagrouteClient

/// The payload of the topics `tap` and `log`.
enum TapPayload {
  /// Without `withContents`, the contents of the tag are left out, even if the settings include them: the broker has a
  /// limit for the size of a message.
  static func make(_ tap: TapDescription, _ settings: MessageSettings, withContents: Bool = true) -> [UInt8] {
    let contents = withContents ? settings.contents : .no
    let read = tap.read
    let message = read?.bytes ?? []
    var members: [JSONTree.Member] = []
    func add(_ key: String, _ value: JSONTree) { members.append(.init(key: key, value: value)) }
    add("tap_id", .string(tap.id))
    let sequence = Int64(clamping: tap.sequence ?? 0)
    add("sequence", .integer(Int128(sequence < Names.Agent.firstUnsavedSequence ? sequence : 0)))
    add("time", .string(UTCTime.text(tap.time)))
    add("station", .string(settings.station))
    add("reader", .string(PublishedReader.name(ofPath: tap.reader)))
    add("technology", .string(tap.technology))
    add("tag_id", .string(tagID(tap, settings)))
    // If a rule acted on a damaged tag, the reason for its state may be another one.
    if read?.damage.isEmpty == false { add("damaged", .boolean(true)) }
    if !withContents { add("contents_omitted", .boolean(true)) }
    switch contents {
    case .no: break
    case .hash: if !message.isEmpty { add("contents_hash", .string(Digests.sha256(message))) }
    case .yes:
      if !tap.uri.isEmpty { add("uri", .string(tap.uri)) }
      if !tap.title.isEmpty { add("title", .string(tap.title)) }
      add("message", .string(Digests.base64(message)))
      add("types", .array(types(read?.message).map(JSONTree.string)))
    }
    return JSONTree.object(members).bytes
  }

  /// Without `Contents=`, the only part of the contents that is used is the id in a link for Home Assistant. There, it
  /// is the tag's identity.
  static func tagID(_ tap: TapDescription, _ settings: MessageSettings) -> String {
    if settings.takesIDsFromLinks, let id = HomeAssistantTagID.inLink(tap.uri) { return id }
    return HomeAssistantTagID.ofUID(tap.uid, key: settings.key)
  }

  /// Whether a tap is fresh: read within the limit, and not further in the future either, as after a step of the clock.
  /// Both times are in microseconds since 1970.
  static func isFresh(_ time: UInt64, now: UInt64, _ settings: MessageSettings) -> Bool {
    (time > now ? time - now : now - time) <= UInt64(settings.liveSeconds) * 1_000_000
  }

  /// The types of the records, such as `U` or `text/vcard`, in their order. None if the message cannot be decoded.
  private static func types(_ message: NDEFMessage?) -> [String] {
    (message?.records ?? []).map { String(decoding: $0.type, as: UTF8.self) }
  }
}

/// The identity of a tag as Home Assistant and ESPHome write it.
enum HomeAssistantTagID {
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
    guard let key else { return UIDText.dashed(uid) }
    return String(Digests.hmac(uid, key: key).prefix(32))
  }
}

/// The digests and encodings that GLib has.
enum Digests {
  /// SHA-256 as 64 lower-case hexadecimal digits.
  static func sha256(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBufferPointer {
      take(g_compute_checksum_for_data(G_CHECKSUM_SHA256, $0.baseAddress, gsize($0.count)))
    }
  }

  /// HMAC-SHA256 (RFC 2104) as 64 lower-case hexadecimal digits.
  static func hmac(_ bytes: [UInt8], key: [UInt8]) -> String {
    key.withUnsafeBufferPointer { key in
      bytes.withUnsafeBufferPointer {
        take(
          g_compute_hmac_for_data(
            G_CHECKSUM_SHA256, key.baseAddress, gsize(key.count), $0.baseAddress, gsize($0.count)))
      }
    }
  }

  /// Base64 with padding (RFC 4648, section 4).
  static func base64(_ bytes: [UInt8]) -> String {
    guard !bytes.isEmpty else { return "" }
    return bytes.withUnsafeBufferPointer { take(g_base64_encode($0.baseAddress, gsize($0.count))) }
  }

  private static func take(_ text: UnsafeMutablePointer<CChar>?) -> String {
    defer { g_free(text) }
    return text.map { String(cString: $0) } ?? ""
  }
}
