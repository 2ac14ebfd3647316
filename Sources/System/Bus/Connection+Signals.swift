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

/// A received signal.
public struct ReceivedSignal: Sendable, Hashable {
  /// The unique name of the sender, or `org.freedesktop.DBus`. The bus sets it, so the sender cannot forge it.
  public let sender: String
  /// The object that emitted it.
  public let path: ObjectPath
  /// The interface.
  public let interface: String
  /// The signal's name.
  public let member: String
  /// The arguments. The sender chooses their types.
  public let arguments: [Value]
  /// How many signals of this stream were lost, at least, between the previous one and this one. A slow reader loses
  /// signals, and each time the connection is down it adds one to this number. If it is not 0, state that is derived
  /// from signals must be read again.
  public internal(set) var missed: Int
}

/// The signals that match a rule, in the order of their arrival, for one reader.
///
/// At most `SignalStream.limit` of them wait for the reader. If more arrive, the oldest are dropped, and the next one
/// that is read reports that in `missed`. A signal with more than 1 MiB of text and bytes, or more than 16,384 values,
/// is dropped too.
///
/// The stream continues after a reconnection and ends when the connection is closed. Releasing it, or cancelling the
/// task that reads it, removes the match.
public struct SignalStream: AsyncSequence, Sendable {
  /// A signal.
  public typealias Element = ReceivedSignal
  /// How many signals may wait for a slow reader.
  public static let limit = 256

  let stream: AsyncStream<(number: UInt64, signal: ReceivedSignal)>

  /// Continues after the last signal that was read.
  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

  /// Reads the signals one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Iterator
    private var expected: UInt64 = 0

    init(base: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Iterator) { self.base = base }

    /// The next signal; nil if the connection is closed or the task is cancelled.
    public mutating func next() async -> ReceivedSignal? {
      await next(isolation: nil)
    }

    /// The next signal; nil if the connection is closed or the task is cancelled.
    ///
    /// - Parameter actor: the caller's actor. The call does not leave it if a signal is already waiting.
    /// - Returns: a signal.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ReceivedSignal? {
      guard let (number, signal) = await base.next(isolation: actor) else { return nil }
      var result = signal
      result.missed = Int(clamping: number - expected)
      expected = number + 1
      return result
    }
  }
}

/// The connection's end of a signal stream.
struct SignalSubscription {
  let rule: MatchRule
  let ruleText: String
  let continuation: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Continuation
  /// The number of the next signal. A gap in the numbers that the reader sees is a loss of signals.
  var nextNumber: UInt64 = 0

  mutating func yield(_ signal: ReceivedSignal) {
    continuation.yield((nextNumber, signal))
    nextNumber += 1
  }

  mutating func countMissed() {
    nextNumber += 1
  }
}

/// Which signals to receive ("Match Rules" in the specification). A property that is nil matches every signal.
public struct MatchRule: Sendable, Hashable {
  /// A unique or a well-known name. A well-known name matches only signals of its current owner.
  public var sender: String?
  /// The object.
  public var path: ObjectPath?
  /// The object and everything below it.
  public var pathNamespace: ObjectPath?
  /// The interface.
  public var interface: String?
  /// The signal.
  public var member: String?
  /// The first argument, which must be a string.
  public var arg0: String?

  /// - Parameters:
  ///   - sender: a unique or a well-known name.
  ///   - path: the object; not together with `pathNamespace`.
  ///   - pathNamespace: the object and everything below it.
  ///   - interface: the interface.
  ///   - member: the signal.
  ///   - arg0: the first argument, which must be a string.
  public init(
    sender: String? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil, interface: String? = nil,
    member: String? = nil, arg0: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.arg0 = arg0
  }

  /// The rule as the bus reads it.
  func text() throws(BusError) -> String {
    if let sender { try NameRules.requireBusName(sender) }
    if let interface { try NameRules.requireInterface(interface) }
    if let member { try NameRules.requireMember(member) }
    if let arg0, !NameRules.isWireString(arg0) { throw .invalidValue("a match rule contains U+0000") }
    guard path == nil || pathNamespace == nil else {
      throw .invalidValue("a match rule may have a path or a path namespace, not both")
    }
    let parts: [(String, String?)] = [
      ("type", "signal"), ("sender", sender), ("path", path?.string), ("path_namespace", pathNamespace?.string),
      ("interface", interface), ("member", member), ("arg0", arg0),
    ]
    return parts.compactMap { key, value in value.map { "\(key)='\(Self.escape($0))'" } }.joined(separator: ",")
  }

  /// There are no escapes between apostrophes. So an apostrophe is written as `\'` between two quoted parts.
  private static func escape(_ value: String) -> String {
    value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
  }

  /// Whether a signal matches, apart from its sender and its arguments.
  func matches(path: ObjectPath, interface: String, member: String) -> Bool {
    if let wanted = self.path, wanted != path { return false }
    if let wanted = pathNamespace, wanted != path, !path.isBelow(wanted) { return false }
    if let wanted = self.interface, wanted != interface { return false }
    if let wanted = self.member, wanted != member { return false }
    return true
  }

  /// Whether the first of `arguments` matches `arg0`.
  func matches(_ arguments: [Value]) -> Bool {
    arg0 == nil || arguments.first?.asString == arg0
  }
}
