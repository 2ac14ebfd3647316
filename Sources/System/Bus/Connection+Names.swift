/// The result of requesting a name.
public enum NameRequestResult: UInt32, Sendable, Hashable {
  /// We own it now.
  case primaryOwner = 1
  /// Another peer owns it.
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
  /// DBUS_NAME_FLAG_DO_NOT_QUEUE, and no replacement of an owner.
  private static let nameFlags = Value.uint32(4)

  /// Requests a well-known name ("org.freedesktop.DBus.RequestName" in the specification).
  ///
  /// Does not wait for a name that another peer owns. Unless the result is `exists`, the connection requests the name
  /// again after each reconnection. This ends with `releaseName`. Use `owners(of:)` to see the result.
  ///
  /// - Parameter name: a well-known name.
  /// - Returns: the result.
  /// - Throws: `BusError` if the name is invalid, the bus does not permit it, or the connection is down.
  public func requestName(_ name: String) async throws(BusError) -> NameRequestResult {
    try NameRules.requireBusName(name)
    let reply = try await callBus("RequestName", [.string(name), Self.nameFlags])
    guard let code = reply.first?.asUInt32, let result = NameRequestResult(rawValue: code) else {
      throw BusError(name: BusError.Name.inconsistentMessage, message: "the bus answered RequestName with \(reply)")
    }
    requestedNames.removeAll { $0 == name }
    if result != .exists { requestedNames.append(name) }
    return result
  }

  /// Releases a name. Has no effect if we do not own it.
  ///
  /// - Parameter name: a well-known name.
  /// - Throws: `BusError` if the name is invalid or the bus does not answer. Even then, the name is not requested
  ///   again.
  public func releaseName(_ name: String) async throws(BusError) {
    try NameRules.requireBusName(name)
    requestedNames.removeAll { $0 == name }
    _ = try await callBus("ReleaseName", [.string(name)])
  }

  func restoreNames() throws(BusError) {
    for name in requestedNames { try restore("RequestName", [.string(name), Self.nameFlags]) }
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
