import NDEF
import Names
import Settings
import TagrouteClient

/// The payload of the topics `tap` and `log`.
enum TapPayload {
  /// The payload of a tap. Without `contents`, what is on the tag is left out whatever the settings say: the broker has
  /// a limit for the size of a message.
  static func make(_ tap: TapDescription, _ settings: MessageSettings, withContents: Bool = true) -> [UInt8] {
    let contents = withContents ? settings.contents : .no
    let message = tap.message ?? []
    var members: [JSONValue.Member] = []
    func add(_ key: String, _ value: JSONValue) { members.append(.init(key: key, value: value)) }
    add("tap_id", .string(tap.id))
    let sequence = Int64(clamping: tap.sequence ?? 0)
    add("sequence", .integer(sequence < Names.Agent.firstUnsavedSequence ? sequence : 0))
    add("time", .string(UTCTime.text(tap.time)))
    add("station", .string(settings.station))
    add("reader", .string(ReaderState.name(ofPath: tap.reader)))
    add("technology", .string(tap.technology))
    add("tag_id", .string(tagID(tap, settings)))
    let decoded = try? NDEFMessage(decoding: message)
    // If a rule acted on a damaged tag, the reason for its state may be another one.
    let isDamaged = tap.stateReasonCode == "damaged" || !message.isEmpty && decoded == nil
    if isDamaged { add("damaged", .boolean(true)) }
    if !withContents { add("contents_omitted", .boolean(true)) }
    switch contents {
    case .no: break
    case .hash: if !message.isEmpty { add("contents_hash", .string(Digests.sha256(message))) }
    case .yes:
      if !tap.uri.isEmpty { add("uri", .string(tap.uri)) }
      if !tap.title.isEmpty { add("title", .string(tap.title)) }
      add("message", .string(Digests.base64(message)))
      add("types", .array(types(decoded).map(JSONValue.string)))
    }
    return JSONValue.object(members).bytes
  }

  /// Of what is on a tag, only the id in a link for Home Assistant is used without `Contents=`. There, it is the tag's
  /// identity.
  static func tagID(_ tap: TapDescription, _ settings: MessageSettings) -> String {
    if settings.takesIDsFromLinks, let id = TagID.inLink(tap.uri) { return id }
    return TagID.ofUID(tap.uid, key: settings.key)
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
