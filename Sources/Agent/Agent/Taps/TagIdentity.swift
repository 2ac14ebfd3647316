import Bus
import NDEF
import Names

/// A tag's identity: its UID, or its contents if the UID changes at each activation.
enum TagIdentity: Sendable, Hashable {
  case uid([UInt8])
  case message([UInt8])
}

extension TagRead {
  var tag: TagIdentity {
    // The contents of bare tags are all the same.
    if isBare { return uid.isEmpty ? .message(Array(id.utf8)) : .uid(uid) }
    return uid.isEmpty || UIDText.isRandom(uid) ? .message(bytes) : .uid(uid)
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
