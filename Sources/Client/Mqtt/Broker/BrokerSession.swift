import EventLoop
import Journal
import Settings
import TagrouteClient

/// The connection to the broker, and what goes over it. Pure: events go in, actions come out.
struct BrokerSession: Sendable {
  /// The state of the connection.
  enum Phase: Sendable, Hashable {
    /// Before the first attempt, and between two attempts. Can become `connecting`, `stopped`.
    case waiting(until: Duration)
    /// A thread tries to connect. Can become `connected`, `waiting`, `stopped`; or `connecting` again, with MQTT 3.1.1.
    case connecting(attempt: UInt64, until: Duration)
    /// The broker has accepted. Can become `waiting`, `leaving`.
    case connected(attempt: UInt64, since: Duration)
    /// The program ends, and `offline` is on its way. Can become `stopped`.
    case leaving(attempt: UInt64, until: Duration, token: UInt64)
    case stopped
  }

  /// How long an attempt may take, including the broker's answer to CONNECT.
  static let patience = Duration.seconds(180)
  /// How long the broker may take to confirm any of the messages in flight.
  static let confirmationPatience = Duration.seconds(60)
  /// How long the end of the program may take.
  static let farewell = Duration.milliseconds(1500)
  /// The least time between two commands.
  static let commandInterval = Duration.seconds(1)

  let identity: BrokerIdentity
  let messages: MessageSettings
  private(set) var phase = Phase.waiting(until: .zero)
  private(set) var flow = OutboxFlow()
  /// How many taps the broker has confirmed.
  private(set) var sent: UInt64 = 0
  /// Why there is no connection, and the fix; empty before the first failure and after a success.
  private(set) var trouble = ""
  private(set) var version: MqttVersion
  private var isStarted = false
  private var pause = ReconnectPause()
  private var lastAttempt: UInt64 = 0
  private var lastToken: UInt64 = 0
  /// Why this side ends the connection; reported in place of `closed`.
  private var verdict: BrokerEnding?
  private var isClosing = false
  /// The topics of messages in flight that are not taps.
  private var otherTopics: [UInt64: String] = [:]
  /// The topics, besides the taps', that the broker's rules forbid, and since when. Each is left alone for an hour:
  /// Mosquitto 2.0.11 also closes the connection. The rules may change in that time.
  private var forbiddenTopics: [String: Duration] = [:]
  private static let forbiddenTime = Duration.seconds(3600)
  private var readers: [PublishedReader] = []
  /// The states of readers that the broker may still have.
  private var publishedReaders: [String: [UInt8]] = [:]
  private var lastCommand: Duration?
  /// When a message was confirmed, or was sent while none was in flight.
  private var lastProgress = Duration.zero
  private var stuck = StuckTap()

  init(identity: BrokerIdentity, messages: MessageSettings) {
    (self.identity, self.messages) = (identity, messages)
    version = Self.first(identity)
  }

  private static func first(_ identity: BrokerIdentity) -> MqttVersion {
    identity.version == .threeOneOne ? .threeOneOne : .five
  }

  /// When ``BrokerEvent/time`` is due; nil if no time limit runs.
  var deadline: Duration? {
    let own: Duration? =
      switch phase {
      case .waiting(let until): isStarted ? until : nil
      case .connecting(_, let until): isClosing ? nil : until
      case .leaving(_, let until, _): until
      case .connected: isClosing ? nil : connectedDeadline
      case .stopped: nil
      }
    return [own, flow.retryTime].compactMap(\.self).min()
  }

  private var connectedDeadline: Duration? {
    let confirmation = awaitsConfirmation ? lastProgress + Self.confirmationPatience : nil
    let permission = forbiddenTopics.values.min().map { $0 + Self.forbiddenTime }
    return [confirmation, permission].compactMap(\.self).min()
  }

  mutating func handle(
    _ event: BrokerEvent, at now: Moment, using random: inout some RandomNumberGenerator
  ) -> [BrokerAction] {
    guard phase != .stopped else { return [] }
    if !awaitsConfirmation { lastProgress = now.clock }
    let forbidden = forbiddenTopics.count
    forbiddenTopics = forbiddenTopics.filter { now.clock - $0.value < Self.forbiddenTime }
    let again = forbiddenTopics.count < forbidden && canSend ? introduce() : []
    var actions: [BrokerAction] = []
    switch event {
    case .start:
      isStarted = true
      actions = timePassed(now)
    case .time: actions = timePassed(now)
    case .accepted(let attempt): actions = accepted(attempt, now)
    case .ended(let attempt, let ending): actions = ended(attempt, ending, now, using: &random)
    case .confirmed(let attempt, let token, let code): actions = confirmed(attempt, token, code, now)
    case .tooLarge(let attempt, let token, let isShortened): actions = tooLarge(attempt, token, isShortened)
    case .notSubscribed(let attempt, let topic, let code):
      let isNew = attempt == present && forbiddenTopics.updateValue(now.clock, forKey: topic) == nil
      actions = isNew ? [.log(.warning, BrokerEnding.notSubscribed(topic, code: code, to: identity))] : []
    case .message(let attempt, let topic, let payload, let isRetained):
      actions = attempt == present ? received(topic, payload, isRetained, now) : []
    case .agent(let isPresent): flow.agent(isPresent: isPresent)
    case .outgoingAvailable: flow.outgoingAvailable()
    case .taken(let taps): actions = flow.taken(taps, isConnected: canSend).flatMap { tap in publish(tap) }
    case .takingFailed: flow.takingFailed(at: now.clock)
    case .acknowledged: actions = publishLive(flow.acknowledged(), now)
    case .acknowledgingFailed: flow.acknowledgingFailed(at: now.clock)
    case .readers(let readers):
      self.readers = readers
      actions = canSend ? publishReaders() : []
    case .stop: actions = stop(now)
    }
    return again + actions
      + flow.calls(isConnected: canSend, at: now.clock).map { call -> BrokerAction in
        switch call {
        case .take(let limit): .take(limit: limit)
        case .acknowledge(let ids): .acknowledge(ids)
        }
      }
  }

  /// The attempt in progress; nil between attempts.
  private var present: UInt64? {
    switch phase {
    case .connecting(let attempt, _), .connected(let attempt, _), .leaving(let attempt, _, _): attempt
    case .waiting, .stopped: nil
    }
  }

  /// Whether the broker has still to confirm a message.
  private var awaitsConfirmation: Bool { !flow.inFlight.isEmpty || !otherTopics.isEmpty }

  /// Whether messages may be sent.
  private var canSend: Bool {
    guard case .connected = phase else { return false }
    return !isClosing
  }

  // MARK: The connection

  private mutating func timePassed(_ now: Moment) -> [BrokerAction] {
    switch phase {
    case .waiting(let until) where isStarted && now.clock >= until: return connect(now)
    case .connecting(_, let until) where now.clock >= until && !isClosing:
      return close(.unreachable("no answer within \(Self.patience.components.seconds) seconds"))
    case .leaving(_, let until, _) where now.clock >= until:
      phase = .stopped
      return [.close(gracefully: false)]
    case .connected where awaitsConfirmation && now.clock >= lastProgress + Self.confirmationPatience:
      return close(.lost("it has confirmed no message for \(Self.confirmationPatience.components.seconds) seconds"))
    case .waiting, .connecting, .connected, .leaving, .stopped: return []
    }
  }

  private mutating func connect(_ now: Moment) -> [BrokerAction] {
    lastAttempt += 1
    (verdict, isClosing, otherTopics) = (nil, false, [:])
    phase = .connecting(attempt: lastAttempt, until: now.clock + Self.patience)
    return [.connect(attempt: lastAttempt, version)]
  }

  private mutating func close(_ verdict: BrokerEnding) -> [BrokerAction] {
    guard !isClosing else { return [] }
    (self.verdict, isClosing) = (verdict, true)
    return [.close(gracefully: false)]
  }

  private mutating func accepted(_ attempt: UInt64, _ now: Moment) -> [BrokerAction] {
    guard case .connecting(attempt, _) = phase, !isClosing else { return [] }
    phase = .connected(attempt: attempt, since: now.clock)
    trouble = ""
    flow.connected()
    return [.log(.notice, "connected to \(identity.broker)")] + introduce()
  }

  /// Publishes everything that the broker retains, and subscribes.
  private mutating func introduce() -> [BrokerAction] {
    var actions = publish(messages.topics.state, "online")
    // The broker may have lost its retained messages.
    publishedReaders = publishedReaders.mapValues { _ in [] }
    actions += publishReaders()
    var subscriptions: [String] = []
    if messages.hasDiscovery {
      actions += publishDiscovery()
      subscriptions.append(Topics.homeAssistantStatus)
    }
    if messages.hasCommands {
      subscriptions += StationCommand.Name.allCases.map(messages.topics.command)
    }
    subscriptions.removeAll { forbiddenTopics[$0] != nil }
    if !subscriptions.isEmpty { actions.append(.subscribe(subscriptions)) }
    return actions
  }

  private mutating func ended(
    _ attempt: UInt64, _ ending: BrokerEnding, _ now: Moment, using random: inout some RandomNumberGenerator
  ) -> [BrokerAction] {
    guard attempt == present else { return [] }
    stuck.connectionEnded(flow.first)
    flow.disconnected()
    if case .leaving = phase {
      phase = .stopped
      return []
    }
    let ending = verdict ?? ending
    if [.unsupportedVersion, .unanswered].contains(ending), version == .five, identity.version == .auto {
      version = .threeOneOne
      let what = ending == .unanswered ? "closed the connection at MQTT 5; trying" : "does not support MQTT 5; using"
      return [.log(.notice, "\(identity.broker) \(what) MQTT 3.1.1")] + connect(now)
    }
    var lifetime: Duration?
    if case .connected(_, let since) = phase { lifetime = now.clock - since } else { version = Self.first(identity) }
    let reason = ending.reason(for: identity)
    let isNew = reason != trouble
    trouble = reason
    let delay = pause.next(after: ending, connectedFor: lifetime, using: &random)
    phase = .waiting(until: now.clock + delay)
    // An outage of a day is one line.
    return [.log(isNew ? (ending.isRefusal ? .error : .warning) : .debug, reason)]
  }

  private mutating func stop(_ now: Moment) -> [BrokerAction] {
    switch phase {
    case .connected(let attempt, _) where !isClosing:
      let actions = publish(messages.topics.state, "offline")
      phase = .leaving(attempt: attempt, until: now.clock + Self.farewell, token: lastToken)
      return actions.isEmpty ? [.close(gracefully: true)] : actions
    case .connecting, .connected:
      phase = .stopped
      return [.close(gracefully: false)]
    case .waiting:
      phase = .stopped
      return []
    case .leaving, .stopped: return []
    }
  }

  // MARK: Messages

  private mutating func nextToken() -> UInt64 {
    lastToken += 1
    return lastToken
  }

  /// A retained message that is not a tap.
  private mutating func publish(_ topic: String, _ payload: [UInt8]) -> [BrokerAction] {
    guard forbiddenTopics[topic] == nil else { return [] }
    let token = nextToken()
    otherTopics[token] = topic
    return [.publish(Publication(token: token, topic: topic, payload: payload, isRetained: true))]
  }

  private mutating func publish(_ topic: String, _ text: String) -> [BrokerAction] { publish(topic, Array(text.utf8)) }

  private mutating func publish(_ tap: TapDescription) -> [BrokerAction] {
    let shorter = messages.contents == .yes ? TapPayload.make(tap, messages, withContents: false) : nil
    if let shorter, stuck.isShortened(tap.id) {
      return [contentsLeftOut, publish(.init(tap: tap, payload: shorter, shorter: nil))]
    }
    return [publish(.init(tap: tap, payload: TapPayload.make(tap, messages), shorter: shorter))]
  }

  private mutating func publish(_ sent: OutboxFlow.Sent) -> BrokerAction {
    let token = nextToken()
    flow.sent(sent, as: token)
    return .publish(
      Publication(token: token, topic: messages.topics.log, payload: sent.payload, shorter: sent.shorter))
  }

  /// Publishes the fresh ones of taps that the agent does not have any more. So no crash publishes one twice.
  private func publishLive(_ taps: [OutboxFlow.Sent], _ now: Moment) -> [BrokerAction] {
    guard canSend else { return [] }
    return taps.filter { TapPayload.isFresh($0.tap.time, now: now.wall, messages) }.map { sent in
      .publish(
        Publication(
          topic: messages.topics.tap, payload: sent.payload, shorter: sent.shorter,
          expiry: UInt32(clamping: messages.liveSeconds)))
    }
  }

  private mutating func publishDiscovery() -> [BrokerAction] {
    Discovery.publications(messages).flatMap { publish($0.topic, $0.payload) }
  }

  /// Publishes each changed state, and an empty message for each reader that is gone.
  private mutating func publishReaders() -> [BrokerAction] {
    var actions: [BrokerAction] = []
    for name in publishedReaders.keys.sorted() where !readers.contains(where: { $0.name == name }) {
      publishedReaders[name] = nil
      actions += publish(messages.topics.reader(name), [])
    }
    for reader in readers where !reader.name.isEmpty && publishedReaders[reader.name] != reader.payload {
      publishedReaders[reader.name] = reader.payload
      actions += publish(messages.topics.reader(reader.name), reader.payload)
    }
    return actions
  }

  private mutating func confirmed(_ attempt: UInt64, _ token: UInt64, _ code: Int32, _ now: Moment) -> [BrokerAction] {
    guard attempt == present else { return [] }
    let isAccepted = code < 0x80
    if let topic = otherTopics.removeValue(forKey: token) {
      lastProgress = now.clock
      if case .leaving(_, _, token) = phase { return [.close(gracefully: true)] }
      // The taps matter more than a description that the broker's rules forbid.
      guard !isAccepted else { return [] }
      if code == 0x87 { forbiddenTopics[topic] = now.clock }
      return [.log(.warning, BrokerEnding.notAccepted(topic: topic, code: code).reason(for: identity))]
    }
    guard isAccepted else {
      guard let refused = flow.withdraw(token) else { return [] }
      guard code == 0x95, let shorter = refused.shorter, canSend else {
        return close(.notAccepted(topic: messages.topics.log, code: code))
      }
      return [contentsLeftOut, publish(.init(tap: refused.tap, payload: shorter, shorter: nil))]
    }
    if flow.brokerConfirmed(token) { (sent, lastProgress) = (sent + 1, now.clock) }
    return []
  }

  private var contentsLeftOut: BrokerAction {
    .log(.warning, "\(identity.broker) does not accept the size of a tap; its contents are left out")
  }

  private mutating func tooLarge(_ attempt: UInt64, _ token: UInt64, _ isShortened: Bool) -> [BrokerAction] {
    guard attempt == present else { return [] }
    if isShortened { return [contentsLeftOut] }
    if let topic = otherTopics.removeValue(forKey: token) {
      return [.log(.warning, BrokerEnding.notAccepted(topic: topic, code: 0x95).reason(for: identity))]
    }
    return flow.withdraw(token) == nil ? [] : close(.notAccepted(topic: messages.topics.log, code: 0x95))
  }

  private mutating func received(
    _ topic: String, _ payload: [UInt8], _ isRetained: Bool, _ now: Moment
  ) -> [BrokerAction] {
    guard canSend else { return [] }
    if topic == Topics.homeAssistantStatus {
      // A retained one is older than the descriptions that were sent at the start of the connection.
      guard messages.hasDiscovery, !isRetained, payload == Array("online".utf8) else { return [] }
      // The broker has still to confirm the previous ones.
      let topics = Set(otherTopics.values)
      guard !Discovery.publications(messages).contains(where: { topics.contains($0.topic) }) else { return [] }
      return publishDiscovery()
    }
    guard messages.hasCommands,
      let command = StationCommand(topic: topic, payload: payload, isRetained: isRetained, messages.topics)
    else { return [] }
    if let lastCommand, now.clock - lastCommand < Self.commandInterval {
      return [.log(.debug, "ignoring a command: the previous one was less than a second ago")]
    }
    lastCommand = now.clock
    return [.perform(command)]
  }
}

/// The pause before the next attempt to connect. Pure.
struct ReconnectPause: Sendable, Hashable {
  /// The first pause is at most this long.
  static let shortest = Duration.seconds(1)
  /// No pause is longer. After a refusal, none is shorter: a broker may lock out a client after many wrong passwords.
  static let longest = Duration.seconds(120)
  /// A connection that lasted for this long was a success. One that ends sooner each time is not retried in a loop.
  static let settled = Duration.seconds(30)

  private var backoff = Backoff(from: shortest, to: longest)

  /// The pause. It is a random part of the back-off ("full jitter"), so that stations that have lost their broker
  /// together do not come back together.
  mutating func next(
    after ending: BrokerEnding, connectedFor lifetime: Duration?, using random: inout some RandomNumberGenerator
  ) -> Duration {
    if let lifetime, lifetime >= Self.settled { backoff.reset() }
    let limit = backoff.next()
    guard !ending.isRefusal else { return Self.longest }
    return .milliseconds(Int64.random(in: 0...limit.components.seconds * 1000, using: &random))
  }
}
