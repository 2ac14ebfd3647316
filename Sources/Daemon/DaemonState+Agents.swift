import Bus
import Journal
import Names
import ScanGate
import Session

/// Who is an agent, and what it may be shown.
extension DaemonState {
  /// Registers an agent for the first of `candidates` that has none.
  ///
  /// - Parameters:
  ///   - sender: its unique bus name.
  ///   - path: where it exports its interface.
  ///   - candidates: the sessions that it may serve, the likeliest first.
  ///   - conditions: what it reports of its session together with that, so that there is no moment in which it is known and
  ///     what it knows is not; nil where it says nothing, and what it said before counts.
  ///   - now: the time.
  /// - Returns: the agent, or nil where another serves each of them; and what to do.
  mutating func register(
    _ sender: String, at path: ObjectPath, for candidates: [SessionKey], reporting conditions: [String: Bool]? = nil,
    at now: TapQueue.Instant
  ) -> (agent: Agent?, actions: [Action]) {
    let before = registry.agent(named: sender)
    guard var agent = registry.register(sender, at: path, for: candidates) else { return (nil, []) }
    if let conditions, let reporting = registry.report(sender, conditions) { agent = reporting }
    var actions: [Action] = []
    // The taps of the session that it leaves wait for that session's next agent.
    if let before, before.session != agent.session { actions += leave(before, at: now) }
    if before?.session != agent.session {
      actions += note(.notice, ofUser: agent.session.uid, at: now, "agent \(sender) serves \(agent.session)")
    }
    // One that moves on from a session that has ended takes along what it said.
    let known = before?.session == agent.session ? before?.report.locked : nil
    actions += tell(agent, insteadOf: known ?? .unknown)
    actions += hearUser(agent, conditions ?? [:])
    actions += bringTaps(to: agent.session, at: now)
    actions += open(agent.session, at: now)
    actions += perform(queue.handle(.agent(agent.session, agent), at: now), at: now)
    return (agent, actions + evaluate(at: now))
  }

  /// Takes in what an agent reports of its session: all that it knows.
  ///
  /// - Returns: what to do; nil where no agent has that name.
  mutating func report(_ sender: String, _ conditions: [String: Bool], at now: TapQueue.Instant) -> [Action]? {
    guard let before = registry.agent(named: sender)?.report.locked, let agent = registry.report(sender, conditions)
    else { return nil }
    let lock = tell(agent, insteadOf: before) + hearUser(agent, conditions)
    return lock + open(agent.session, at: now) + evaluate(at: now)
  }

  /// What an agent says of the lock goes to where all that is known of its session is kept.
  private func tell(_ agent: Agent, insteadOf before: Fact) -> [Action] {
    guard let id = agent.session.id, agent.report.locked != .unknown || before != .unknown else { return [] }
    return [.reportLock(session: id, agent.report.locked)]
  }

  /// The user's own word that the session is unlocked: it ends a lock that is remembered of somebody who cannot take it back any more.
  private func hearUser(_ agent: Agent, _ conditions: [String: Bool]) -> [Action] {
    guard let id = agent.session.id, conditions[Names.Condition.unlockedByUser] == true else { return [] }
    return [.userUnlocked(session: id)]
  }

  mutating func unregister(_ sender: String, at now: TapQueue.Instant) -> [Action] {
    guard let agent = registry.unregister(sender) else { return [] }
    let line = note(.notice, ofUser: agent.session.uid, at: now, "agent \(sender) of \(agent.session) is gone")
    return line + leave(agent, at: now)
  }

  /// Has the taps of a user wait for a session of the kind that there is now: since they were read the daemon may have begun to tell
  /// sessions apart, or ceased to.
  mutating func bringTaps(to session: SessionKey, at now: TapQueue.Instant) -> [Action] {
    let others = queue.waitingSessions.filter { $0.uid == session.uid && ($0.id == nil) != (session.id == nil) }
    return others.sorted { ($0.id ?? "") < ($1.id ?? "") }.flatMap {
      perform(queue.handle(.renamed($0, session), at: now), at: now)
    }
  }

  /// Ends what an agent did for a session.
  private mutating func leave(_ agent: Agent, at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    if let id = agent.session.id, agent.report.locked != .unknown {
      actions.append(.reporterGone(session: id))
    }
    return actions + perform(queue.handle(.agent(agent.session, nil), at: now), at: now)
  }

  /// Ends what belongs to sessions that are gone, and takes agents that outlive theirs to the user's next one: of what is left of a session
  /// when its user has logged out, an agent may be a part for long (`KillUserProcesses=no`), and there is no second one beside it.
  mutating func follow(_ login: LoginState, at now: TapQueue.Instant) -> [Action] {
    guard login.isAvailable else { return [] }
    var actions: [Action] = []
    for session in Set(queue.waitingSessions + registry.agents.map(\.session)) {
      if isPresent(session) {
        actions += open(session, at: now)
      } else {
        actions += perform(queue.handle(.sessionEnded(session), at: now), at: now)
      }
    }
    for agent in registry.agents {
      let candidates = sessions(of: agent.session.uid, login)
      // Where there is no better place it stays, for the taps of its own.
      guard !candidates.isEmpty, !candidates.contains(agent.session) else { continue }
      actions += register(agent.sender, at: agent.path, for: candidates, at: now).actions
    }
    return actions
  }

  /// The sessions in which an agent of a user may serve, the likeliest first. Without `login`, as long as nobody has asked
  /// logind, there are none.
  func sessions(of uid: UInt32, _ login: LoginState?) -> [SessionKey] {
    if policy.servesAnySession { return [SessionKey(id: nil, uid: uid)] }
    let eligible = login?.eligibleSessions(of: uid) ?? []
    // An agent belongs to the desktop: a text session counts only where the user has no graphical one.
    let graphical = eligible.filter(\.isGraphical)
    return (graphical.isEmpty ? eligible : graphical).map { SessionKey(id: $0.id, uid: $0.uid) }
  }

  func isPresent(_ session: SessionKey) -> Bool {
    guard let id = session.id else { return true }
    return login.session(id)?.uid == session.uid
  }

  mutating func open(_ session: SessionKey, at now: TapQueue.Instant) -> [Action] {
    guard let lock = lock(of: session) else { return [] }
    return perform(queue.handle(.open(session, !policy.scan.treatsAsLocked(lock)), at: now), at: now)
  }

  /// nil where the session is not known.
  func lock(of key: SessionKey) -> Fact? {
    guard let id = key.id else { return registry.agent(of: key)?.report.locked == .yes ? .yes : .no }
    guard let session = login.session(id) else { return nil }
    return heard(session, registry.agent(of: key)).isLocked
  }

  /// A session as the gate wants it. Its agent's word that it is locked counts from the moment it is said, before it has
  /// come around with all that is known of the session.
  func heard(_ session: LoginSession, _ agent: Agent?) -> ScanConditions.Session {
    var conditions = session.conditions
    if agent?.report.locked == .yes { conditions.isLocked = .yes }
    return conditions
  }
}
