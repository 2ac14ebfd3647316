import Bus
import Handlers
import Inbox
import NDEF
import Names

/// The checked options of `ListInbox` and `CountInbox`.
struct InboxOptions: Hashable {
  let query: InboxQuery
  /// Nil if the option is not given.
  let idPrefix: String?
  let wantsMessages: Bool

  /// Those that choose taps, apart from `id` and `id-prefix`.
  private static let choosing = [
    "state", "states", "text", "handler", "technology", "reader", "before", "before-sequence",
  ]

  /// The error names the option.
  init(_ options: [String: Value]) throws(BusError) {
    func text(_ name: String, atMost limit: Int) throws(BusError) -> String? {
      guard let option = options[name] else { return nil }
      guard let text = option.asString, (1...limit).contains(text.utf8.count) else {
        throw .invalidArgument("\(name) must be a text of 1 to \(limit) bytes")
      }
      return text
    }
    let handler = try text("handler", atMost: 255)
    query = InboxQuery(
      states: try Self.states(options), text: try text("text", atMost: InboxQuery.maximumText),
      handler: try handler.map { text throws(BusError) in try AgentAnswers.desktopID(text) },
      technology: try text("technology", atMost: 32), reader: try text("reader", atMost: 255),
      limit: try AgentAnswers.limit(options), before: try text("before", atMost: 255),
      beforeSequence: try AgentAnswers.sequence(options, "before-sequence"))
    idPrefix = try Self.idPrefix(options)
    wantsMessages =
      try options["messages"].map { value throws(BusError) in
        guard let flag = value.asBool else { throw BusError.invalidArgument("messages must be a boolean") }
        return flag
      } ?? false
  }

  private static func states(_ options: [String: Value]) throws(BusError) -> Set<TapState> {
    let names: [String]
    switch (options["state"], options["states"]) {
    case (nil, nil): return Set(TapState.allCases)
    case (let state?, nil): names = [state.asString ?? "state"]
    case (nil, let states?):
      guard let list = states.asStrings else { throw .invalidArgument("states must be a list of texts") }
      names = list
    case (.some, .some): throw .invalidArgument("state does not go with states")
    }
    if let unknown = names.first(where: { TapState.named($0).isEmpty }) {
      let known = TapState.allCases.filter { $0.name == $0.rawValue }.map(\.name).joined(separator: ", ")
      throw .invalidArgument("\(unknown) is not a state of a tap: use one of \(known)")
    }
    return names.reduce(into: []) { $0.formUnion(TapState.named($1)) }
  }

  private static func idPrefix(_ options: [String: Value]) throws(BusError) -> String? {
    guard let option = options["id-prefix"] else { return nil }
    guard let prefix = option.asString, (1...36).contains(prefix.utf8.count),
      prefix.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit })
    else { throw .invalidArgument("id-prefix is not the beginning of an id: hexadecimal digits and -") }
    if let other = (choosing + ["messages"]).first(where: { options[$0] != nil }) {
      throw .invalidArgument("id-prefix does not go with \(other)")
    }
    // The daemon writes ids in lowercase.
    return prefix.lowercased()
  }
}

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
