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
