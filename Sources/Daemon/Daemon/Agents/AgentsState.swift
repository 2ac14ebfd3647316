import Bus
import Journal
import Names
import Presence

/// The registered agents, the taps on their way to them, and the removals of tags that they should learn of.
///
/// Pure: the actions are for the parts that act.
struct AgentsState: Sendable {
  typealias Action = DaemonState.Action
  typealias Instant = TapQueue.Instant

  var seats: Seats
  private(set) var queue = TapQueue()
  private(set) var placedTaps = PlacedTaps()
  /// Of lines that users cause with their requests.
  private var lines = UserLines()

  init(_ seats: Seats) { self.seats = seats }

  // MARK: Registration

  /// Registers an agent for the first of `candidates`, the sessions that it may serve, most likely first. The agent is
  /// nil if other agents have all of them.
  ///
  /// The report `conditions` takes effect together with the registration; nil keeps the previous report.
  mutating func register(
    _ sender: String, at path: ObjectPath, for candidates: [LoginSessionKey], reporting conditions: [String: Bool]?,
    at now: Instant
  ) -> (agent: Agent?, actions: [Action]) {
    let before = seats.registry.agent(named: sender)
    guard var agent = seats.registry.register(sender, at: path, for: candidates) else { return (nil, []) }
    if let conditions, let reporting = seats.registry.replaceReport(of: sender, with: conditions) { agent = reporting }
    var actions: [Action] = []
    // The taps of its previous session wait for the next agent there.
    if let before, before.session != agent.session { actions += leave(before, at: now) }
    if before?.session != agent.session {
      actions += note(.notice, ofUser: agent.session.uid, at: now, "agent \(sender) serves \(agent.session)")
    }
    // An agent that moves to another session keeps its report, which is new for that session.
    let known = before?.session == agent.session ? before?.report.locked : nil
    actions += lockReport(agent, insteadOf: known ?? .unknown)
    actions += unlockReport(agent, conditions ?? [:])
    actions += open(agent.session, at: now)
    actions += perform(queue.handle(.agent(agent.session, agent), at: now), at: now)
    return (agent, actions)
  }

  /// Nil if no agent has this name.
  mutating func replaceReport(of sender: String, with conditions: [String: Bool], at now: Instant) -> [Action]? {
    guard let before = seats.registry.agent(named: sender)?.report.locked,
      let agent = seats.registry.replaceReport(of: sender, with: conditions)
    else { return nil }
    let lock = lockReport(agent, insteadOf: before) + unlockReport(agent, conditions)
    return lock + open(agent.session, at: now)
  }

  /// Passes an agent's report about the lock to the login monitor, which combines it with logind's.
  private func lockReport(_ agent: Agent, insteadOf before: Fact) -> [Action] {
    guard let id = agent.session.id, agent.report.locked != .unknown || before != .unknown else { return [] }
    return [.reportLock(session: id, agent.report.locked)]
  }

  /// Passes the user's confirmation that the session is unlocked to the login monitor. It removes a lock that was
  /// reported by an agent or a screen saver that is gone.
  private func unlockReport(_ agent: Agent, _ conditions: [String: Bool]) -> [Action] {
    guard let id = agent.session.id, conditions[Names.Condition.unlockedByUser] == true else { return [] }
    return [.userUnlocked(session: id)]
  }

  mutating func unregister(_ sender: String, at now: Instant) -> [Action] {
    guard let agent = seats.registry.unregister(sender) else { return [] }
    let line = note(.notice, ofUser: agent.session.uid, at: now, "agent \(sender) of \(agent.session) is gone")
    return line + leave(agent, at: now)
  }

  private mutating func leave(_ agent: Agent, at now: Instant) -> [Action] {
    var actions: [Action] = []
    if let id = agent.session.id, agent.report.locked != .unknown {
      actions.append(.reporterGone(session: id))
    }
    return actions + perform(queue.handle(.agent(agent.session, nil), at: now), at: now)
  }

  // MARK: Sessions

  /// The sessions that have an agent, or that taps wait for.
  var sessions: Set<LoginSessionKey> { Set(queue.waitingSessions + seats.registry.agents.map(\.session)) }

  /// Whether the session may get taps has changed.
  mutating func open(_ session: LoginSessionKey, at now: Instant) -> [Action] {
    guard let lock = seats.lock(of: session) else { return [] }
    return perform(queue.handle(.open(session, !seats.policy.scan.treatsAsLocked(lock)), at: now), at: now)
  }

  mutating func updateSessions(at now: Instant) -> [Action] {
    sessions.flatMap { session in
      seats.isPresent(session)
        ? open(session, at: now) : perform(queue.handle(.sessionEnded(session), at: now), at: now)
    }
  }

  /// Drops the taps that no agent can get under the new policy: `Sessions` or `StationUser` has changed, and an agent now
  /// serves its user instead of a session, or the reverse.
  mutating func dropUnservedTaps(at now: Instant) -> [Action] {
    queue.waitingSessions.filter { ($0.id == nil) == seats.sessions(of: $0.uid, nil).isEmpty }.flatMap {
      let agent = seats.registry.agent(of: $0)
      return perform(queue.handle(.sessionEnded($0, "Sessions= or StationUser= has changed"), at: now), at: now)
        + perform(queue.handle(.agent($0, agent), at: now), at: now)
    }
  }

  // MARK: Taps

  mutating func add(_ tap: DetectedTap, placement: UInt64, on reader: Int, isHeld: Bool, at now: Instant) -> [Action] {
    placedTaps.add(tap.id, placement: placement, on: reader)
    return open(tap.session, at: now) + perform(queue.handle(.read(tap, held: isHeld), at: now), at: now)
  }

  mutating func delivered(_ id: String, to sender: String, _ outcome: TapQueue.Outcome, at now: Instant) -> [Action] {
    let actions = perform(queue.handle(.finished(id: id, sender: sender, outcome), at: now), at: now)
    guard outcome == .stored, let removal = placedTaps.stored(id, by: sender) else { return actions }
    return actions + passOn(removal, at: now)
  }

  /// The time of `queue.deadline` has come.
  mutating func tick(at now: Instant) -> [Action] { perform(queue.handle(.tick, at: now), at: now) }

  mutating func removed(_ removal: HeldRemovals.Removal, at now: Instant) -> [Action] {
    placedTaps.removed(removal.placement, from: removal.reader).map { passOn($0, at: now) } ?? []
  }

  /// The reader's tags were removed with it.
  mutating func removedReader(_ reader: Int, at now: Instant) -> [Action] {
    placedTaps.removed(reader).flatMap { passOn($0, at: now) }
  }

  /// The reader's next process numbers its placements from the beginning.
  mutating func forgetPlacements(on reader: Int) { placedTaps.forget(reader: reader) }

  /// Tells the agent that has stored a tap that its tag was removed. Not behind a lock: a removal has the same kind of
  /// effect as a tap.
  private mutating func passOn(_ removal: PlacedTaps.Removal, at now: Instant) -> [Action] {
    guard let agent = seats.registry.agent(named: removal.agent) else { return [] }
    guard let lock = seats.lock(of: agent.session), !seats.policy.scan.treatsAsLocked(lock) else {
      let line = "the agent is not told that the tag of tap \(removal.tap) was removed: the session is locked"
      return note(.debug, ofUser: agent.session.uid, at: now, line)
    }
    return [.tagRemoved(tap: removal.tap, to: agent)]
  }

  private mutating func perform(_ actions: [TapQueue.Action], at now: Instant) -> [Action] {
    actions.flatMap { action -> [Action] in
      switch action {
      case .deliver(let tap, let agent): return [.deliver(tap, to: agent)]
      case .done(let tap): return [.log(.debug, "\(tap.summary) is stored by its agent")]
      case .drop(let tap, let reason):
        placedTaps.forget(tap.id)
        return note(.warning, ofUser: tap.session.uid, at: now, "\(tap.summary) is discarded: \(reason)")
      case .postpone(let tap, let reason):
        return note(.warning, ofUser: tap.session.uid, at: now, "\(tap.summary) will be sent again: \(reason)")
      }
    }
  }

  mutating func note(_ level: LogLevel, ofUser uid: UInt32, at now: Instant, _ text: String) -> [Action] {
    guard level <= seats.policy.logThreshold else { return [] }
    return lines.line(of: uid, at: now).limit(level, text, about: "user \(uid)").map { .log($0, $1) }
  }
}
