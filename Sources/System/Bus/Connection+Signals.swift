extension Connection {
  /// The signals that match `rule`, from now on.
  ///
  /// When this returns, the bus has the match, so a signal caused by a later call is not missed. If the connection is
  /// down, the match is added after the reconnection.
  ///
  /// - Parameter rule: the signals to receive.
  /// - Returns: the signals, with the bounds of `SignalStream`.
  /// - Throws: `BusError` if the rule is invalid, the bus refuses it, or the connection is closed.
  public func signals(_ rule: MatchRule) async throws(BusError) -> SignalStream {
    let text = try rule.text()
    if case .closed(let reason) = phase { throw reason }
    let (stream, continuation) = AsyncStream.makeStream(
      of: (number: UInt64, signal: ReceivedSignal).self, bufferingPolicy: .bufferingNewest(SignalStream.limit))
    let token = makeToken()
    subscriptions[token] = SignalSubscription(rule: rule, ruleText: text, continuation: continuation)
    continuation.onTermination = { [weak self] _ in self?.enqueue { $0.unsubscribe(token) } }
    do throws(BusError) {
      // Track the owner first, so that it is known when the first signal arrives.
      if let sender = rule.trackedSender { try await track(sender, for: token) }
      _ = try await callBus("AddMatch", [.string(text)])
    } catch {
      // If the connection is down, the match is added after the reconnection.
      if case .closed = phase { throw error }
      if error.isDisconnected { return SignalStream(stream: stream) }
      continuation.finish()
      throw error
    }
    return SignalStream(stream: stream)
  }

  /// Sends a signal.
  ///
  /// - Parameters:
  ///   - path: the object that emits it.
  ///   - interface: its interface. If it is exported at `path` and declares the signal, `arguments` must have the
  ///     declared types.
  ///   - member: the signal's name.
  ///   - arguments: the arguments.
  ///   - destination: the only receiver. If nil, the receiver is the only peer that can see the object at `path`, or
  ///     else each peer with a match.
  /// - Throws: `BusError` if a name or a value is invalid, the connection is down, or too much data waits to be sent
  ///   already.
  public func emit(
    path: ObjectPath, interface: String, member: String, _ arguments: [Value] = [], destination: String? = nil
  ) throws(BusError) {
    try NameRules.requireInterface(interface)
    try NameRules.requireMember(member)
    let destination = destination ?? objects[path]?.peer
    if let destination { try NameRules.requireBusName(destination) }
    let signature = try WireCheck.signature(of: arguments)
    if let declared = objects[path]?.interface(interface)?.signals.first(where: { $0.name == member }),
      declared.signature != signature.string
    {
      throw .invalidValue("\(interface).\(member) is declared with \(declared.signature), not \(signature)")
    }
    try checkDescriptors(in: signature, arguments)
    try checkUsable()
    let message = try Message.signal(path, interface, member, destination: destination, body: arguments)
    _ = try native?.send(message)
  }

  func receiveSignal(_ message: borrowing Message) {
    guard let sender = message.sender, let path = message.path, let interface = message.interface,
      let member = message.member
    else { return }
    if sender == Bus.name, interface == Bus.interface, member == "NameOwnerChanged" { receiveOwnerChange(message) }
    let matching = subscriptions.filter {
      $0.value.rule.matches(path: path, interface: interface, member: member) && isSender(sender, of: $0.value.rule)
    }
    guard !matching.isEmpty else { return }
    guard let arguments = try? message.arguments(.signal) else {
      for token in matching.keys { subscriptions[token]?.countMissed() }
      return
    }
    let signal = ReceivedSignal(
      sender: sender, path: path, interface: interface, member: member, arguments: arguments, missed: 0)
    for (token, subscription) in matching where subscription.rule.matches(arguments) {
      subscriptions[token]?.yield(signal)
    }
  }

  private func isSender(_ sender: String, of rule: MatchRule) -> Bool {
    guard let wanted = rule.sender else { return true }
    guard let tracked = rule.trackedSender else { return sender == wanted }
    return trackers[tracked]?.owner == sender
  }

  private func unsubscribe(_ token: UInt64) {
    guard let subscription = subscriptions.removeValue(forKey: token) else { return }
    removeMatch(subscription.ruleText)
    if let sender = subscription.rule.trackedSender { untrack(sender, token) }
  }

  /// Removes a match without waiting for the reply. If the connection is down, the bus has already removed it.
  func removeMatch(_ text: String) {
    guard uniqueName != nil, let native,
      let message = try? Message.call(Bus.name, Bus.path, Bus.interface, "RemoveMatch", body: [.string(text)])
    else { return }
    _ = try? native.send(message)
  }

  /// Adds all matches again, first those that track owners.
  func restoreMatches() throws(BusError) {
    for (name, tracker) in trackers {
      try restore("AddMatch", [.string(tracker.rule)])
      try askForOwner(name)
    }
    for token in subscriptions.keys.sorted() {
      guard let text = subscriptions[token]?.ruleText else { continue }
      subscriptions[token]?.countMissed()
      try restore("AddMatch", [.string(text)])
    }
  }

  func restore(_ member: String, _ arguments: [Value]) throws(BusError) {
    let message = try Message.call(Bus.name, Bus.path, Bus.interface, member, body: arguments)
    try send(message, expecting: .restoration, from: Bus.name, timeout: .seconds(25))
  }

  func endSignals() {
    for subscription in subscriptions.values { subscription.continuation.finish() }
    subscriptions = [:]
  }
}

extension MatchRule {
  /// The well-known name in `sender`. Its owner must be known, because signals carry the owner's unique name.
  var trackedSender: String? {
    guard let sender, !sender.hasPrefix(":"), sender != Bus.name else { return nil }
    return sender
  }
}
