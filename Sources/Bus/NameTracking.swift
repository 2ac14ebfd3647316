/// One name whose owner is followed, for streams of `owners(of:)` and for signals that are matched by it.
struct NameTracker {
  let rule: String
  /// The unique name of the owner.
  var owner: String?
  /// Whether `owner` is what the bus said, rather than not asked yet.
  var isKnown = false
  var watchers: [UInt64: AsyncStream<String?>.Continuation] = [:]
  /// The registrations that need it.
  var users: Set<UInt64> = []

  init(name: String) throws(BusError) {
    rule = try MatchRule(
      sender: Bus.name, path: Bus.path, interface: Bus.interface, member: "NameOwnerChanged", arg0: name
    ).text()
  }

  /// Takes in what the bus says, and passes it on where it is news.
  mutating func set(_ newOwner: String?) {
    guard !isKnown || owner != newOwner else { return }
    isKnown = true
    owner = newOwner
    for watcher in watchers.values { watcher.yield(newOwner) }
  }

  mutating func add(_ watcher: AsyncStream<String?>.Continuation, _ token: UInt64) {
    watchers[token] = watcher
    if isKnown { watcher.yield(owner) }
  }
}

extension Connection {
  /// Who owns a name: first the present owner's unique name, or nil where there is none, then each change.
  ///
  /// nil comes also when the bus goes away, and the owner again once it is back. A slow reader misses owners between,
  /// never the last one. Letting go of the stream ends the tracking; closing the connection ends the stream.
  ///
  /// - Parameter name: a unique or a well-known name.
  /// - Returns: the owners.
  /// - Throws: `BusError` where the name is invalid, the bus refuses, or the connection is closed.
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

  /// Follows a name for one registration more. The match is added before the owner is asked for, so no change is missed.
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
        // Nobody is there until the bus is back; then the match is added like all others.
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
    // Whatever the error, it means that nobody can be reached by the name now.
    trackers[name]?.set(try? result.get().first?.asString)
  }

  func receiveOwnerChange(_ message: borrowing Message) {
    guard let arguments = try? message.arguments(.signal), arguments.count == 3,
      let name = arguments[0].asString, let owner = arguments[2].asString
    else { return }
    trackers[name]?.set(owner.isEmpty ? nil : owner)
  }

  /// The bus has gone, and with it everybody on it.
  func forgetOwners() {
    for name in trackers.keys {
      trackers[name]?.set(nil)
    }
  }

  func endTracking() {
    for tracker in trackers.values {
      for watcher in tracker.watchers.values { watcher.finish() }
    }
    trackers = [:]
    requestedNames = []
  }
}
