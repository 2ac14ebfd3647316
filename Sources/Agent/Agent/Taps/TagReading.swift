import Bus
import Handlers
import Inbox
import NDEF
import Names
import Routing

/// The checked argument of `TagRead`: one reading of a tag.
struct TagReading: Sendable, Hashable {
  /// The daemon's UUID for this reading.
  let id: String
  /// The NDEF message as it is on the tag; empty for a bare tag. Of a damaged tag, the bytes that are no message.
  let message: [UInt8]
  /// Why the contents of the tag are damaged; empty if they are not.
  let damage: String
  /// For example `type-2`.
  let technology: String
  /// The tag's UID; may be empty.
  let uid: [UInt8]
  let reader: String
  let time: Timestamp

  /// The interface's limit.
  static let maximumMessage = 1 << 20

  /// Reads the keys that `org.tagroute.Tagroute1.Agent.TagRead` documents, and ignores others. Without a valid time, it
  /// is `now`. The error names the key.
  init(_ values: [String: Value], now: Timestamp) throws(BusError) {
    guard let id = values["id"]?.asString, Names.Handler.isTapID(id) else {
      throw .invalidArgument("id must be a UUID")
    }
    guard let message = values["message"]?.asBytes, message.count <= TagReading.maximumMessage else {
      throw .invalidArgument("message must be at most 1 MiB of bytes")
    }
    let technology = values["technology"]?.asString ?? ""
    guard technology.utf8.count <= 32 else { throw .invalidArgument("technology is longer than 32 bytes") }
    let uid = values["uid"]?.asBytes ?? []
    guard uid.count <= UIDText.lengths.upperBound else { throw .invalidArgument("uid is longer than 10 bytes") }
    let reader = values["reader"]?.asString ?? values["reader"]?.asObjectPath?.string ?? ""
    guard reader.utf8.count <= 255 else { throw .invalidArgument("reader is longer than 255 bytes") }
    damage = String((values["damage"]?.asString ?? "").prefix(TapReason.maximumDetail))
    self.id = id
    self.message = message
    self.technology = technology
    self.uid = uid
    self.reader = reader
    time = values["time"]?.asUInt64.flatMap { Int64(exactly: $0) }.map(Timestamp.init(microseconds:)) ?? now
  }

  /// The reading that the inbox has stored. The inbox keeps the reason for the damage only if no rule acted on the tap.
  init(_ stored: StoredTap) {
    self.init(stored.tap, damage: stored.reason.code == .damaged ? stored.reason.detail : nil)
  }

  /// The same, if the state of the tap is not known.
  init(_ tap: Tap) { self.init(tap, damage: nil) }

  private init(_ tap: Tap, damage: String?) {
    id = tap.id
    self.damage = damage ?? Self.damage(of: tap.message)
    message = tap.message
    technology = tap.technology
    uid = tap.uid
    reader = tap.reader
    time = tap.time
  }

  /// Why bytes from a tag are no message; empty if they are one, and if there are none.
  static func damage(of message: [UInt8]) -> String {
    do throws(NDEFError) {
      if !message.isEmpty { _ = try NDEFMessage(decoding: message) }
      return ""
    } catch {
      return "the message is not NDEF: \(error)"
    }
  }

  /// Whether the tag has no NDEF message. Then there is nothing to open, but a rule may know the tag by its UID.
  var isBare: Bool { message.isEmpty && damage.isEmpty }

  /// The data about the tag, for an app or a program.
  var details: TagDetails {
    TagDetails(uid: uid, technology: technology, reader: reader, time: UInt64(clamping: time.microseconds))
  }

  /// The facts that rules examine. The digest is only computed if a rule needs it. The message is nil if it is not NDEF.
  func facts(_ decoded: NDEFMessage?, withDigest: Bool) -> TapFacts {
    TapFacts(
      uid: uid, technology: technology, reader: reader, message: decoded,
      digest: withDigest && !message.isEmpty && damage.isEmpty ? MessageDigest.sha256(message) : "")
  }

  var tag: TagIdentity {
    // The contents of bare tags are all the same.
    if isBare { return uid.isEmpty ? .message(Array(id.utf8)) : .uid(uid) }
    return uid.isEmpty || UIDText.isRandom(uid) ? .message(message) : .uid(uid)
  }
}

/// A tag's identity: its UID, or its contents if the UID changes at each activation.
enum TagIdentity: Sendable, Hashable {
  case uid([UInt8])
  case message([UInt8])
}
