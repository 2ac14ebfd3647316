import Bus
import Handlers
import Inbox
import NDEF
import Names

/// The checked options of `Clear`.
struct ClearRequest: Hashable {
  private let ids: [String]?
  private let before: Timestamp?
  private let fromScreen: Bool

  /// A call with more ids would exceed the bus's limits.
  static let maximumIDs = 500

  /// The error names the option.
  init(_ options: [String: Value]) throws(BusError) {
    ids = try options["ids"].map { value throws(BusError) in
      guard let ids = value.asStrings, ids.count <= Self.maximumIDs else {
        throw BusError.invalidArgument("ids must be a list of at most \(Self.maximumIDs) ids")
      }
      return ids
    }
    before = try options["before"].map { value throws(BusError) in
      guard let time = value.asUInt64 else { throw BusError.invalidArgument("before must be a time in microseconds") }
      return Timestamp(microseconds: Int64(clamping: time))
    }
    fromScreen =
      try options["from-screen"].map { value throws(BusError) in
        guard let flag = value.asBool else { throw BusError.invalidArgument("from-screen must be a boolean") }
        return flag
      } ?? false
    // Refuse a misspelled option: without it, the call would remove more than the caller means.
    if let unknown = options.keys.first(where: { !["ids", "before", "from-screen"].contains($0) }) {
      throw BusError.invalidArgument("there is no option \(unknown)")
    }
  }

  /// `onScreen` are the taps that have a notification.
  func clearing(onScreen: Set<String>) -> InboxClearing {
    InboxClearing(ids: ids, before: before, onScreen: onScreen, includesOnScreen: fromScreen)
  }
}

/// The checked argument of `ResolveTag`: a tag that need not exist.
struct TagQuestion {
  let read: TagRead
  /// The SHA-256 of the message's bytes; empty without a message.
  let digest: String

  /// Reads the keys that the interface documents, and ignores others. The error names the key.
  init(_ values: [String: Value]) throws(BusError) {
    func value<Result>(_ key: String, _ read: (Value) -> Result?) throws(BusError) -> Result? {
      guard let value = values[key] else { return nil }
      guard let result = read(value) else { throw .invalidArgument("\(key) has another type") }
      return result
    }
    let uid = try value("uid", \.asBytes) ?? []
    guard uid.count <= 10 else { throw .invalidArgument("uid is longer than 10 bytes") }
    let technology = try value("technology", \.asString) ?? ""
    let reader = try value("reader", \.asString) ?? ""
    guard technology.utf8.count <= 32, reader.utf8.count <= 255 else {
      throw .invalidArgument("technology is longer than 32 bytes, or reader is longer than 255")
    }
    let bytes = try value("message", \.asBytes)
    guard (bytes ?? []).count <= TagRead.maximumMessage else {
      throw .invalidArgument("message must be at most 1 MiB of bytes")
    }
    var message: NDEFMessage?
    if let bytes {
      do throws(NDEFError) { message = try NDEFMessage(decoding: bytes) } catch {
        throw .invalidArgument("message is not NDEF: \(error.description)")
      }
    }
    read = TagRead(uid: uid, technology: technology, reader: reader, message: message)
    digest = bytes.map(MessageDigest.sha256) ?? ""
  }
}

/// The argument of `org.tagroute.Tagroute1.Agent.TagRead`.
extension TagRead {
  /// Checks the keys that the interface documents, and ignores others. Without a valid time, it is `now`.
  ///
  /// - Throws: `org.tagroute.Error.InvalidArgument`, which names the key.
  init(_ values: [String: Value], now: UInt64) throws(BusError) {
    guard let id = values["id"]?.asString, Names.Handler.isTapID(id) else {
      throw .invalidArgument("id must be a UUID")
    }
    guard let bytes = values["message"]?.asBytes, bytes.count <= Self.maximumMessage else {
      throw .invalidArgument("message must be at most 1 MiB of bytes")
    }
    let technology = values["technology"]?.asString ?? ""
    guard technology.utf8.count <= 32 else { throw .invalidArgument("technology is longer than 32 bytes") }
    let uid = values["uid"]?.asBytes ?? []
    guard uid.count <= UIDText.lengths.upperBound else { throw .invalidArgument("uid is longer than 10 bytes") }
    let reader = values["reader"]?.asString ?? values["reader"]?.asObjectPath?.string ?? ""
    guard reader.utf8.count <= 255 else { throw .invalidArgument("reader is longer than 255 bytes") }
    self.init(
      id: id, time: values["time"]?.asUInt64.flatMap { Int64(exactly: $0) }.map(UInt64.init) ?? now, reader: reader,
      technology: technology, uid: uid, bytes: bytes, damage: values["damage"]?.asString ?? "")
  }
}
