extension Connection {
  /// The signals that match `rule`, from here on.
  ///
  /// When this returns the bus has the match: what is called afterwards and answers with a signal is not missed. While
  /// the bus is away the match is kept for when it is back.
  ///
  /// - Parameter rule: which signals.
  /// - Returns: the signals, bounded as `SignalStream` says.
  /// - Throws: `BusError` where the rule is invalid, the bus refuses it, or the connection is closed.
  public func signals(_ rule: MatchRule) async throws(BusError) -> SignalStream {
    let text = try rule.text()
    if case .closed(let reason) = phase { throw reason }
    let (stream, continuation) = AsyncStream.makeStream(
      of: (number: UInt64, signal: ReceivedSignal).self, bufferingPolicy: .bufferingNewest(SignalStream.limit))
    let token = makeToken()
    subscriptions[token] = SignalSubscription(rule: rule, ruleText: text, continuation: continuation)
    continuation.onTermination = { [weak self] _ in self?.enqueue { $0.unsubscribe(token) } }
    do throws(BusError) {
      // The owner comes first, so that the first signal already finds it known.
      if let sender = rule.trackedSender { try await track(sender, for: token) }
      _ = try await callBus("AddMatch", [.string(text)])
    } catch {
      // Without a bus the match waits for it.
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
  ///   - interface: the interface. Where that is exported at `path` and declares the signal, `arguments` are held to it.
  ///   - member: the signal's name.
  ///   - arguments: the arguments.
  ///   - destination: the only receiver; nil broadcasts to whoever has a match, or goes to the only peer for whom there is
  ///     an object at `path`.
  /// - Throws: `BusError` where something cannot go on the wire, or the bus is away.
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

  /// Takes a match back without waiting for the answer; without a bus there is none to take back.
  func removeMatch(_ text: String) {
    guard uniqueName != nil, let native,
      let message = try? Message.call(Bus.name, Bus.path, Bus.interface, "RemoveMatch", body: [.string(text)])
    else { return }
    _ = try? native.send(message)
  }

  /// Adds all matches again, those that track owners first.
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
  /// The well-known name whose owner must be known to tell its signals from others'.
  var trackedSender: String? {
    guard let sender, !sender.hasPrefix(":"), sender != Bus.name else { return nil }
    return sender
  }
}
