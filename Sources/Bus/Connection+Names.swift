/// The result of requesting a name.
public enum NameRequestResult: UInt32, Sendable, Hashable {
  /// We own it now.
  case primaryOwner = 1
  /// Another peer owns it; we wait in its queue.
  case inQueue = 2
  /// Another peer owns it and cannot be replaced.
  case exists = 3
  /// We already owned it.
  case alreadyOwner = 4

  /// Whether we own it.
  public var isOwner: Bool { self == .primaryOwner || self == .alreadyOwner }
}

/// The user and process behind a bus name, as the bus recorded them when that peer connected.
public struct PeerCredentials: Sendable, Hashable {
  /// The user id.
  public let uid: UInt32
  /// The process id, if the bus knows it. Ids of ended processes are reused: use it in messages to people, never for
  /// decisions.
  public let pid: UInt32?
}

extension Connection {
  /// Requests a well-known name ("org.freedesktop.DBus.RequestName" in the specification).
  ///
  /// Unless the result is `exists`, the connection requests the name again, with the same flags, after each
  /// reconnection. This ends with `releaseName`. Use `owners(of:)` to see the result, and whether another peer takes
  /// the name.
  ///
  /// - Parameters:
  ///   - name: a well-known name.
  ///   - allowReplacement: whether a peer that requests the name with `replaceExisting` gets it.
  ///   - replaceExisting: whether to take the name from an owner that allows it.
  ///   - doNotQueue: whether to return `exists` instead of waiting in the queue for the name.
  /// - Returns: the result.
  /// - Throws: `BusError` if the name is invalid, the bus does not permit it, or the connection is down.
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

  /// Releases a name, or leaves the queue for it. Has no effect if we neither own nor wait for it.
  ///
  /// - Parameter name: a well-known name.
  /// - Throws: `BusError` if the name is invalid or the bus does not answer. Even then, the name is not requested
  ///   again.
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
  /// - Parameter name: a unique name. A well-known name may change its owner before the result is used.
  /// - Returns: the credentials that the bus knows.
  /// - Throws: `BusError`; its name is `nameHasNoOwner` if the peer has left.
  public func credentials(of name: String) async throws(BusError) -> PeerCredentials {
    try NameRules.requireBusName(name)
    let reply = try await callBus("GetConnectionCredentials", [.string(name)])
    guard let entries = reply.first?.asDictionary, let uid = entries["UnixUserID"]?.asUInt32 else {
      throw .failed("the bus does not know which user \(name) is")
    }
    return PeerCredentials(uid: uid, pid: entries["ProcessID"]?.asUInt32)
  }
}
