/// What came of asking for a name.
public enum NameRequestResult: UInt32, Sendable, Hashable {
  /// We own it now.
  case primaryOwner = 1
  /// Another owns it; we are next in line.
  case inQueue = 2
  /// Another owns it and does not give way.
  case exists = 3
  /// We owned it before.
  case alreadyOwner = 4

  /// Whether we own it.
  public var isOwner: Bool { self == .primaryOwner || self == .alreadyOwner }
}

/// Who is behind a bus name, as the bus saw it when that peer connected.
public struct PeerCredentials: Sendable, Hashable {
  /// The user id.
  public let uid: UInt32
  /// The process id where the bus knows it. Processes end and ids are used again: for messages to people, never for decisions.
  public let pid: UInt32?
}

extension Connection {
  /// Asks for a well-known name ("org.freedesktop.DBus.RequestName" in the specification).
  ///
  /// Unless the answer is `exists`, the name is asked for again, with the same flags, whenever the bus comes back, until
  /// `releaseName`. What came of that, and a name taken by another, is seen in `owners(of:)`.
  ///
  /// - Parameters:
  ///   - name: a well-known name.
  ///   - allowReplacement: whether another that wants it gets it.
  ///   - replaceExisting: whether to take it from an owner that allows that.
  ///   - doNotQueue: whether to be told `exists` rather than wait in line for it.
  /// - Returns: what came of it.
  /// - Throws: `BusError` where the name is invalid, the bus does not permit it, or is away.
  public func requestName(
    _ name: String, allowReplacement: Bool = false, replaceExisting: Bool = false, doNotQueue: Bool = true
  ) async throws(BusError) -> NameRequestResult {
    try NameRules.requireBusName(name)
    let flags: UInt32 = (allowReplacement ? 1 : 0) | (replaceExisting ? 2 : 0) | (doNotQueue ? 4 : 0)
    let reply = try await callBus("RequestName", [.string(name), .uint32(flags)])
    guard let code = reply.first?.asUInt32, let result = NameRequestResult(rawValue: code) else {
      throw BusError(name: BusError.Name.inconsistentMessage, message: "the bus answered RequestName with \(reply)")
    }
    requestedNames.removeAll { $0.name == name }
    if result != .exists { requestedNames.append((name, flags)) }
    return result
  }

  /// Gives a name back, or leaves the line for it; without effect where neither is so.
  ///
  /// - Parameter name: a well-known name.
  /// - Throws: `BusError` where the name is invalid, or the bus does not answer. It is not asked for again in any case.
  public func releaseName(_ name: String) async throws(BusError) {
    try NameRules.requireBusName(name)
    requestedNames.removeAll { $0.name == name }
    _ = try await callBus("ReleaseName", [.string(name)])
  }

  func restoreNames() throws(BusError) {
    for (name, flags) in requestedNames { try restore("RequestName", [.string(name), .uint32(flags)]) }
  }

  /// The user and process behind a name.
  ///
  /// - Parameter name: a unique name; a well-known one may change hands before the answer is used.
  /// - Returns: what the bus knows.
  /// - Throws: `BusError`, `nameHasNoOwner` where the peer has left.
  public func credentials(of name: String) async throws(BusError) -> PeerCredentials {
    try NameRules.requireBusName(name)
    let reply = try await callBus("GetConnectionCredentials", [.string(name)])
    guard let entries = reply.first?.asDictionary, let uid = entries["UnixUserID"]?.asUInt32 else {
      throw .failed("the bus does not know which user \(name) is")
    }
    return PeerCredentials(uid: uid, pid: entries["ProcessID"]?.asUInt32)
  }
}
