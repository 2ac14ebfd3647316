/// Taps on their way to the agents. The queue keeps each tap until an agent has stored it, and sends one at a time per
/// session, in order.
///
/// Pure. A tap belongs to one session, or with `Sessions=any` to its user. The session's agent gets the tap again until
/// it has stored it, so delivery is at least once. At most 16 taps wait per session, 60 seconds each. A tap that was
/// read while the session was locked waits for the unlock. Its 60 seconds begin then.
struct TapQueue: Sendable {
  static let limit = 16
  static let lifetime = Duration.seconds(60)
  /// The pause after a failed delivery. Each further failure doubles it.
  static let retryDelay = Duration.milliseconds(250)
  static let maximumRetryDelay = Duration.seconds(8)

  enum Event: Sendable {
    /// A tag was read. The tap is held if the session is locked.
    case read(DetectedTap, held: Bool)
    /// Nil if the session has no agent now.
    case agent(LoginSessionKey, Agent?)
    /// Whether the session may get taps. It may not while it is locked.
    case open(LoginSessionKey, Bool)
    case finished(id: String, sender: String, Outcome)
    case sessionEnded(LoginSessionKey, String = "its session has ended")
    /// The time of `deadline` has come.
    case tick
  }

  enum Outcome: Hashable, Sendable {
    case stored
    /// The agent will never accept the tap.
    case refused(reason: String)
    /// The agent may accept the tap later.
    case failed(reason: String)
  }

  enum Action: Hashable, Sendable {
    case deliver(DetectedTap, to: Agent)
    case drop(DetectedTap, reason: String)
    /// The tap will be sent again.
    case postpone(DetectedTap, reason: String)
    case done(DetectedTap)
  }

  typealias Instant = SuspendingClock.Instant

  private struct Entry: Sendable {
    let tap: DetectedTap
    /// Nil while the tap is held.
    var expires: Instant?
  }

  /// The taps of one session.
  private struct Line: Sendable {
    var entries: [Entry] = []
    var agent: Agent?
    var isOpen = true
    /// The id of the tap that the agent has been sent and has not answered yet.
    var inFlight: String?
    var retryAt: Instant?
    var failures = 0

    /// Whether the first tap can be delivered, apart from a pause after a failure.
    var canDeliver: Bool { agent != nil && isOpen && inFlight == nil && !entries.isEmpty }

    /// Forgets the failures when no taps are left, so that the next tap is sent without a pause.
    mutating func settle() {
      guard entries.isEmpty else { return }
      retryAt = nil
      failures = 0
    }
  }

  private var lines: [LoginSessionKey: Line] = [:]

  /// Includes those that are being delivered.
  var count: Int { lines.values.reduce(0) { $0 + $1.entries.count } }

  var waitingSessions: [LoginSessionKey] { lines.filter { !$0.value.entries.isEmpty }.map(\.key) }

  /// When `tick` is due; nil if no tap waits for a time.
  var deadline: Instant? {
    lines.values.flatMap { line in
      line.entries.compactMap(\.expires) + (line.canDeliver ? [line.retryAt].compactMap { $0 } : [])
    }.min()
  }

  mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .read(let tap, let held):
      actions += append(tap, expires: held ? nil : now + Self.lifetime)
    case .agent(let session, let agent):
      setAgent(agent, of: session)
    case .open(let session, let isOpen):
      setOpen(isOpen, session, at: now)
    case .finished(let id, let sender, let outcome):
      actions += finish(id, sender, outcome, at: now)
    case .sessionEnded(let session, let reason):
      let line = lines.removeValue(forKey: session)
      actions += (line?.entries ?? []).map { .drop($0.tap, reason: reason) }
    case .tick: break
    }
    actions += expire(at: now)
    actions += deliver(at: now)
    for session in lines.keys { lines[session]?.settle() }
    lines = lines.filter { !$0.value.entries.isEmpty || $0.value.agent != nil }
    return actions
  }

  private mutating func append(_ tap: DetectedTap, expires: Instant?) -> [Action] {
    var line = lines[tap.session] ?? Line()
    defer { lines[tap.session] = line }
    if expires == nil { line.isOpen = false }
    line.entries.append(Entry(tap: tap, expires: expires))
    guard line.entries.count > Self.limit else { return [] }
    let oldest = line.entries.removeFirst().tap
    if line.inFlight == oldest.id { line.inFlight = nil }
    return [.drop(oldest, reason: "\(Self.limit) newer ones wait for its agent")]
  }

  private mutating func setAgent(_ agent: Agent?, of session: LoginSessionKey) {
    guard lines[session]?.agent != agent else { return }
    let isSameProcess = lines[session]?.agent?.sender == agent?.sender
    lines[session, default: Line()].agent = agent
    guard !isSameProcess else { return }
    lines[session]?.inFlight = nil
    lines[session]?.retryAt = nil
    lines[session]?.failures = 0
  }

  private mutating func setOpen(_ isOpen: Bool, _ session: LoginSessionKey, at now: Instant) {
    guard var line = lines[session] else { return }
    line.isOpen = isOpen
    if isOpen {
      for index in line.entries.indices where line.entries[index].expires == nil {
        line.entries[index].expires = now + Self.lifetime
      }
    }
    lines[session] = line
  }

  private mutating func finish(_ id: String, _ sender: String, _ outcome: Outcome, at now: Instant) -> [Action] {
    guard let session = lines.first(where: { $0.value.entries.contains { $0.tap.id == id } })?.key,
      var line = lines[session], let index = line.entries.firstIndex(where: { $0.tap.id == id })
    else {
      // The tap was discarded meanwhile. The agent is free for the next one.
      for (session, line) in lines where line.inFlight == id { lines[session]?.inFlight = nil }
      return []
    }
    defer { lines[session] = line }
    let tap = line.entries[index].tap
    let isCurrent = line.inFlight == id && line.agent?.sender == sender
    switch outcome {
    case .stored, .refused:
      line.entries.remove(at: index)
      if line.inFlight == id { line.inFlight = nil }
      line.failures = 0
      line.retryAt = nil
      if case .refused(let reason) = outcome { return [.drop(tap, reason: "its agent refused it: \(reason)")] }
      return [.done(tap)]
    case .failed(let reason):
      // A failure of a replaced agent must not delay its successor.
      guard isCurrent else { return [] }
      line.inFlight = nil
      var delay = Self.retryDelay
      for _ in 0..<line.failures where delay < Self.maximumRetryDelay { delay = delay * 2 }
      line.failures += 1
      line.retryAt = now + delay
      return [.postpone(tap, reason: reason)]
    }
  }

  private mutating func expire(at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (session, line) in lines {
      let expired = line.entries.filter { entry in entry.expires.map { $0 <= now } ?? false }.map(\.tap)
      guard !expired.isEmpty else { continue }
      let reason = "no agent accepted it within \(Self.lifetime.components.seconds) seconds"
      actions += expired.map { .drop($0, reason: reason) }
      lines[session]?.entries.removeAll { entry in expired.contains { $0.id == entry.tap.id } }
      if let inFlight = line.inFlight, expired.contains(where: { $0.id == inFlight }) { lines[session]?.inFlight = nil }
    }
    return actions
  }

  private mutating func deliver(at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (session, line) in lines {
      guard line.canDeliver, let agent = line.agent, let next = line.entries.first,
        line.retryAt.map({ $0 <= now }) ?? true
      else { continue }
      lines[session]?.inFlight = next.tap.id
      lines[session]?.retryAt = nil
      actions.append(.deliver(next.tap, to: agent))
    }
    return actions
  }
}
