import Bus
import Journal
import ScanGate
import Session

/// Who is an agent, and what it may be shown.
extension DaemonState {
  /// Registers an agent for the first of `candidates` that has none.
  ///
  /// - Returns: the agent, or nil where another serves each of them; and what to do.
  mutating func register(
    _ sender: String, at path: ObjectPath, for candidates: [SessionKey], at now: TapQueue.Instant
  ) -> (agent: Agent?, actions: [Action]) {
    let before = registry.agent(named: sender)
    guard let agent = registry.register(sender, at: path, for: candidates) else { return (nil, []) }
    var actions: [Action] = []
    // The taps of the session that it leaves wait for that session's next agent.
    if let before, before.session != agent.session { actions += leave(before, at: now) }
    actions.append(.log(.notice, "agent \(sender) serves \(agent.session)"))
    // One that moves on from a session that has ended takes along what it said.
    if let id = agent.session.id, agent.report.locked != .unknown {
      actions.append(.reportLock(session: id, agent.report.locked))
    }
    actions += open(agent.session, at: now)
    actions += perform(queue.handle(.agent(agent.session, agent), at: now))
    return (agent, actions + evaluate(at: now))
  }

  /// Takes in what an agent reports of its session.
  ///
  /// - Returns: what to do; nil where no agent has that name.
  mutating func report(_ sender: String, _ conditions: [String: Bool], at now: TapQueue.Instant) -> [Action]? {
    guard let agent = registry.report(sender, conditions) else { return nil }
    var actions: [Action] = []
    if let id = agent.session.id, conditions["locked"] != nil {
      actions.append(.reportLock(session: id, agent.report.locked))
    }
    actions += open(agent.session, at: now)
    return actions + evaluate(at: now)
  }

  mutating func unregister(_ sender: String, at now: TapQueue.Instant) -> [Action] {
    guard let agent = registry.unregister(sender) else { return [] }
    return [.log(.notice, "agent \(sender) of \(agent.session) is gone")] + leave(agent, at: now)
  }

  /// Ends what an agent did for a session.
  private mutating func leave(_ agent: Agent, at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    if let id = agent.session.id, agent.report.locked != .unknown {
      actions.append(.reportLock(session: id, .unknown))
    }
    return actions + perform(queue.handle(.agent(agent.session, nil), at: now))
  }

  /// Ends what belongs to sessions that are gone, and takes agents that outlive theirs to the user's next one.
  mutating func follow(_ login: LoginState, at now: TapQueue.Instant) -> [Action] {
    guard login.isAvailable else { return [] }
    var actions: [Action] = []
    for session in Set(queue.waitingSessions + registry.agents.map(\.session)) {
      if isPresent(session) {
        actions += open(session, at: now)
      } else {
        actions += perform(queue.handle(.sessionEnded(session), at: now))
      }
    }
    for agent in registry.agents where !isPresent(agent.session) {
      let candidates = sessions(of: agent.session.uid, login)
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

  /// Whether a user may keep readers from scanning: root, or somebody at the machine. Without `login`, as long as nobody
  /// has asked logind, only root may.
  func mayInhibit(_ uid: UInt32, _ login: LoginState?) -> Bool {
    uid == 0 || policy.servesAnySession || login?.hasActiveSession(uid) == true
  }

  func isPresent(_ session: SessionKey) -> Bool {
    guard let id = session.id else { return true }
    return login.session(id)?.uid == session.uid
  }

  mutating func open(_ session: SessionKey, at now: TapQueue.Instant) -> [Action] {
    guard let lock = lock(of: session) else { return [] }
    return perform(queue.handle(.open(session, !policy.scan.treatsAsLocked(lock)), at: now))
  }

  /// nil where the session is not known.
  func lock(of session: SessionKey) -> Fact? {
    guard let id = session.id else {
      return registry.agent(of: session)?.report.locked == .yes ? .yes : .no
    }
    return login.session(id)?.conditions.isLocked
  }
}
