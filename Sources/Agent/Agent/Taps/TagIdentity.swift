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
