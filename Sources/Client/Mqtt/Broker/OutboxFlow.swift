import TagrouteClient

/// Which taps are on their way to the broker, and which of them the agent may forget. Pure.
///
/// A tap is known from the moment it is sent until the agent has confirmed that it is acknowledged. Known taps that the
/// agent lists again are skipped. After the loss of the connection, taps without a confirmation are unknown again: the
/// agent still has them, so they are sent again, in order.
struct OutboxFlow: Sendable {
  /// How many taps wait for the broker's confirmation at a time.
  static let maximumInFlight = 20
  /// The most ids in one call to the agent.
  static let maximumAcknowledged = 1000
  /// The pause after a call that the agent did not answer, or answered with an error.
  static let pause = Duration.seconds(5)

  /// A tap that the broker has not confirmed.
  struct Sent: Sendable, Hashable {
    let tap: TapDescription
    let payload: [UInt8]
    /// The payload without contents, for a broker that does not take the other; nil if there is no difference.
    let shorter: [UInt8]?
  }

  enum Call: Sendable, Hashable {
    case take(limit: Int)
    case acknowledge([String])
  }

  private(set) var inFlight: [UInt64: Sent] = [:]
  /// Confirmed by the broker; the agent does not know it yet.
  private(set) var confirmed: [Sent] = []
  /// In the present call to the agent.
  private(set) var reporting: [Sent] = []
  /// The agent knows it, but a list that is on its way may still have it.
  private var departed: Set<String> = []
  private(set) var isAgentPresent = false
  /// When to call the agent again after a failure; nil if the last call succeeded.
  private(set) var retryTime: Duration?
  private var isTaking = false
  private var mayHaveMore = false
  private var changedWhileTaking = false
  private var waitsForAcknowledgement = false

  /// The ids that must not be sent again now.
  var known: Set<String> { Set((Array(inFlight.values) + confirmed + reporting).map(\.tap.id)) }

  /// The first tap that the broker has not confirmed; nil if there is none.
  var first: Sent? { inFlight.min { $0.key < $1.key }?.value }

  /// The calls that are due. The caller makes them.
  mutating func calls(isConnected: Bool, at now: Duration) -> [Call] {
    if let retryTime, now >= retryTime { self.retryTime = nil }
    guard isAgentPresent, retryTime == nil else { return [] }
    var calls: [Call] = []
    if reporting.isEmpty, !confirmed.isEmpty {
      reporting = Array(confirmed.prefix(Self.maximumAcknowledged))
      confirmed.removeFirst(reporting.count)
      calls.append(.acknowledge(reporting.map(\.tap.id)))
    }
    // Half of the places have to be free, so that a long list is not read in many small calls.
    if isConnected, mayHaveMore, !isTaking, 2 * inFlight.count <= Self.maximumInFlight {
      (isTaking, mayHaveMore, changedWhileTaking, waitsForAcknowledgement) = (true, false, false, false)
      // The known taps may come first in the list.
      calls.append(.take(limit: min(1000, Self.maximumInFlight - inFlight.count + known.count)))
    }
    return calls
  }

  /// The agent has listed these. Returns the ones to send, in order.
  mutating func taken(_ taps: [TapDescription], isConnected: Bool) -> [TapDescription] {
    isTaking = false
    defer { departed = [] }
    guard isConnected else {
      mayHaveMore = true
      return []
    }
    var seen = known.union(departed)
    let unknown = taps.filter { !$0.id.isEmpty && seen.insert($0.id).inserted }
    let free = Self.maximumInFlight - inFlight.count
    mayHaveMore = changedWhileTaking || !unknown.isEmpty || !departed.isEmpty
    // An answer is bounded, so known taps may have filled it. They go with the acknowledgement.
    waitsForAcknowledgement = unknown.isEmpty && !taps.isEmpty
    return Array(unknown.prefix(free))
  }

  mutating func sent(_ sent: Sent, as token: UInt64) { inFlight[token] = sent }

  /// Whether this is a tap. The broker has it.
  mutating func brokerConfirmed(_ token: UInt64) -> Bool {
    guard let sent = inFlight.removeValue(forKey: token) else { return false }
    confirmed.append(sent)
    return true
  }

  /// The broker does not have it.
  mutating func withdraw(_ token: UInt64) -> Sent? { inFlight.removeValue(forKey: token) }

  /// The agent does not have these any more. Returns them, in order.
  mutating func acknowledged() -> [Sent] {
    defer { reporting = [] }
    if isTaking { departed.formUnion(reporting.map(\.tap.id)) }
    if waitsForAcknowledgement { mayHaveMore = true }
    return reporting
  }

  mutating func takingFailed(at now: Duration) {
    (isTaking, mayHaveMore, retryTime) = (false, true, now + Self.pause)
    departed = []
  }

  mutating func acknowledgingFailed(at now: Duration) {
    confirmed = reporting + confirmed
    (reporting, retryTime) = ([], now + Self.pause)
  }

  mutating func connected() { mayHaveMore = true }

  mutating func disconnected() { inFlight = [:] }

  mutating func outgoingAvailable() { (mayHaveMore, changedWhileTaking) = (true, true) }

  mutating func agent(isPresent: Bool) {
    isAgentPresent = isPresent
    // The calls to an agent that is gone fail by themselves.
    if isPresent { (retryTime, mayHaveMore, changedWhileTaking) = (nil, true, true) }
  }
}

/// A large tap that may be the reason why the broker ends the connection. Pure.
///
/// Most brokers end the connection for a message that is too large, and some give no reason. The tap would keep all later
/// ones from their place. So after two such ends it is sent without its contents.
struct StuckTap: Sendable {
  /// From this size on, in bytes, a tap may be too large.
  static let size = 8 * 1024

  private var id = ""
  private var ends = 0

  /// A connection has ended. `first` is the first tap without a confirmation; nil if there is none.
  mutating func connectionEnded(_ first: OutboxFlow.Sent?) {
    guard let first else { return }
    if first.tap.id == id {
      ends += 1
    } else {
      let isLarge = first.shorter != nil && first.payload.count >= Self.size
      (id, ends) = isLarge ? (first.tap.id, 1) : ("", 0)
    }
  }

  /// Whether the tap is sent without its contents from now on.
  func isShortened(_ tap: String) -> Bool { ends > 1 && tap == id }
}
