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

/// Tracks the owner of one name, for streams of `owners(of:)` and for match rules with a well-known sender.
struct NameTracker {
  let rule: String
  /// The unique name of the owner.
  private(set) var owner: String?
  /// The owner before that, on the same connection.
  private(set) var formerOwner: String?
  /// Whether `owner` was set at least once. Before that, nil means unknown.
  var isKnown = false
  var watchers: [UInt64: AsyncStream<String?>.Continuation] = [:]
  /// The registrations that need this tracker.
  var users: Set<UInt64> = []

  init(name: String) throws(BusError) {
    rule = try MatchRule(
      sender: Bus.name, path: Bus.path, interface: Bus.interface, member: "NameOwnerChanged", arg0: name
    ).text()
  }

  /// Sets the owner, and notifies the watchers if it changed.
  mutating func set(_ newOwner: String?) {
    guard !isKnown || owner != newOwner else { return }
    isKnown = true
    if let owner { formerOwner = owner }
    owner = newOwner
    for watcher in watchers.values { watcher.yield(newOwner) }
  }

  /// The connection is lost. On the next bus another peer may have the same unique name.
  mutating func forget() {
    set(nil)
    formerOwner = nil
  }

  mutating func add(_ watcher: AsyncStream<String?>.Continuation, _ token: UInt64) {
    watchers[token] = watcher
    if isKnown { watcher.yield(owner) }
  }
}

extension Connection {
  /// The owner of a name: first the current owner's unique name, or nil if there is none, then each change.
  ///
  /// The stream also yields nil when the connection is lost, and the owner again after the reconnection. A slow reader
  /// may miss intermediate owners, but never the last one. Releasing the stream ends the tracking. Closing the
  /// connection ends the stream.
  ///
  /// - Parameter name: a unique or a well-known name.
  /// - Returns: the owners.
  /// - Throws: `BusError` if the name is invalid, the bus refuses, or the connection is closed.
  public func owners(of name: String) async throws(BusError) -> AsyncStream<String?> {
    try NameRules.requireBusName(name)
    if case .closed(let reason) = phase { throw reason }
    let (stream, continuation) = AsyncStream.makeStream(of: String?.self, bufferingPolicy: .bufferingNewest(16))
    let token = makeToken()
    continuation.onTermination = { [weak self] _ in self?.enqueue { $0.untrack(name, token) } }
    do throws(BusError) {
      try await track(name, for: token, watcher: continuation)
    } catch {
      continuation.finish()
      throw error
    }
    return stream
  }

  /// Tracks a name for one more registration. The match is added before the owner is requested, so no change is missed.
  func track(
    _ name: String, for token: UInt64, watcher: AsyncStream<String?>.Continuation? = nil
  ) async throws(BusError) {
    let existing = trackers[name]
    var tracker: NameTracker
    if let existing { tracker = existing } else { tracker = try NameTracker(name: name) }
    tracker.users.insert(token)
    if let watcher { tracker.add(watcher, token) }
    trackers[name] = tracker
    guard existing == nil else { return }
    do throws(BusError) {
      _ = try await callBus("AddMatch", [.string(tracker.rule)])
      try askForOwner(name)
    } catch {
      if case .closed = phase { throw error }
      guard !error.isDisconnected else {
        // While the connection is down, the name has no owner. After the reconnection the match is added like all
        // others.
        trackers[name]?.set(nil)
        return
      }
      trackers.removeValue(forKey: name)?.watchers.values.forEach { $0.finish() }
      throw error
    }
  }

  func untrack(_ name: String, _ token: UInt64) {
    trackers[name]?.watchers[token] = nil
    trackers[name]?.users.remove(token)
    guard let tracker = trackers[name], tracker.users.isEmpty else { return }
    trackers[name] = nil
    removeMatch(tracker.rule)
  }

  func askForOwner(_ name: String) throws(BusError) {
    let message = try Message.call(Bus.name, Bus.path, Bus.interface, "GetNameOwner", body: [.string(name)])
    try send(message, expecting: .owner(name: name), from: Bus.name, timeout: .seconds(25))
  }

  func ownerAnswered(_ name: String, _ result: Result<[Value], BusError>) {
    // Any error means that no peer can be reached by this name now.
    trackers[name]?.set(try? result.get().first?.asString)
  }

  func receiveOwnerChange(_ message: borrowing Message) {
    guard let arguments = try? message.arguments(.signal), arguments.count == 3,
      let name = arguments[0].asString, let owner = arguments[2].asString
    else { return }
    trackers[name]?.set(owner.isEmpty ? nil : owner)
  }

  /// Whether a peer of the present connection owns a tracked name, or owned it before the present owner.
  ///
  /// A stream of ``owners(of:)`` says it later: a reader that compares names with its last value may trust a peer of a
  /// new bus that has the unique name of the owner on the former bus.
  ///
  /// - Parameters:
  ///   - peer: a unique name.
  ///   - name: a name that a stream of ``owners(of:)`` or a match rule tracks.
  ///   - orFormer: whether the former owner counts, too.
  /// - Returns: false also if the name is not tracked, or its owner is not known yet.
  public func isOwner(_ peer: String, of name: String, orFormer: Bool = false) -> Bool {
    guard let tracker = trackers[name] else { return false }
    return tracker.owner == peer || orFormer && tracker.formerOwner == peer
  }

  /// Sets all owners to nil, because the bus is gone and with it all its peers.
  func forgetOwners() {
    for name in trackers.keys { trackers[name]?.forget() }
  }

  func endTracking() {
    for tracker in trackers.values {
      for watcher in tracker.watchers.values { watcher.finish() }
    }
    trackers = [:]
    requestedNames = []
  }
}
