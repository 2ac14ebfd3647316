import Bus
import Journal
import Names
import Presence

/// The registered agents, and which taps they may get.
extension DaemonState {
  /// Registers an agent for the first of `candidates`, the sessions that it may serve, most likely first. The agent is
  /// nil if other agents have all of them.
  ///
  /// The report `conditions` takes effect together with the registration; nil keeps the previous report.
  mutating func register(
    _ sender: String, at path: ObjectPath, for candidates: [SessionKey], reporting conditions: [String: Bool]? = nil,
    at now: TapQueue.Instant
  ) -> (agent: Agent?, actions: [Action]) {
    let before = registry.agent(named: sender)
    guard var agent = registry.register(sender, at: path, for: candidates) else { return (nil, []) }
    if let conditions, let reporting = registry.report(sender, conditions) { agent = reporting }
    var actions: [Action] = []
    // The taps of its previous session wait for the next agent there.
    if let before, before.session != agent.session { actions += leave(before, at: now) }
    if before?.session != agent.session {
      actions += note(.notice, ofUser: agent.session.uid, at: now, "agent \(sender) serves \(agent.session)")
    }
    // An agent that moves to another session keeps its report, which is new for that session.
    let known = before?.session == agent.session ? before?.report.locked : nil
    actions += reportLock(agent, insteadOf: known ?? .unknown)
    actions += reportUnlock(agent, conditions ?? [:])
    actions += open(agent.session, at: now)
    actions += perform(queue.handle(.agent(agent.session, agent), at: now), at: now)
    return (agent, actions + evaluate(at: now))
  }

  /// Replaces an agent's report; nil if no agent has this name.
  mutating func report(_ sender: String, _ conditions: [String: Bool], at now: TapQueue.Instant) -> [Action]? {
    guard let before = registry.agent(named: sender)?.report.locked, let agent = registry.report(sender, conditions)
    else { return nil }
    let lock = reportLock(agent, insteadOf: before) + reportUnlock(agent, conditions)
    return lock + open(agent.session, at: now) + evaluate(at: now)
  }

  /// Passes an agent's report about the lock to the login monitor, which combines it with logind's.
  private func reportLock(_ agent: Agent, insteadOf before: Fact) -> [Action] {
    guard let id = agent.session.id, agent.report.locked != .unknown || before != .unknown else { return [] }
    return [.reportLock(session: id, agent.report.locked)]
  }

  /// Passes the user's confirmation that the session is unlocked to the login monitor. It removes a lock that was
  /// reported by an agent or a screen saver that is gone.
  private func reportUnlock(_ agent: Agent, _ conditions: [String: Bool]) -> [Action] {
    guard let id = agent.session.id, conditions[Names.Condition.unlockedByUser] == true else { return [] }
    return [.userUnlocked(session: id)]
  }

  mutating func unregister(_ sender: String, at now: TapQueue.Instant) -> [Action] {
    guard let agent = registry.unregister(sender) else { return [] }
    let line = note(.notice, ofUser: agent.session.uid, at: now, "agent \(sender) of \(agent.session) is gone")
    return line + leave(agent, at: now)
  }

  /// Removes an agent from its session.
  private mutating func leave(_ agent: Agent, at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    if let id = agent.session.id, agent.report.locked != .unknown {
      actions.append(.reporterGone(session: id))
    }
    return actions + perform(queue.handle(.agent(agent.session, nil), at: now), at: now)
  }

  /// Drops the taps of sessions that have ended, and moves their agents to the user's next session. An agent may
  /// outlive its session (`KillUserProcesses=no`), and then no second agent of the user starts.
  mutating func reconcile(with login: LoginState, at now: TapQueue.Instant) -> [Action] {
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
      // Without another session the agent stays, to get the taps of its old one.
      guard !candidates.isEmpty, !candidates.contains(agent.session) else { continue }
      actions += register(agent.sender, at: agent.path, for: candidates, at: now).actions
    }
    return actions
  }

  /// The sessions that an agent of a user may serve, most likely first. With logind they are unknown before its first
  /// answer.
  func sessions(of uid: UInt32, _ login: LoginState?) -> [SessionKey] {
    if policy.servesAnySession || uid == policy.station { return [SessionKey(id: nil, uid: uid)] }
    let eligible = login?.eligibleSessions(of: uid) ?? []
    // An agent belongs to a desktop. A text session is used only if the user has no graphical one.
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

  /// Nil if the session is unknown.
  func lock(of key: SessionKey) -> Fact? {
    guard let id = key.id else { return registry.agent(of: key)?.report.locked == .yes ? .yes : .no }
    guard let session = login.session(id) else { return nil }
    return conditions(of: session, registry.agent(of: key)).isLocked
  }

  /// The conditions of a session. An agent's report of a lock has effect at once, before the login monitor returns it.
  func conditions(of session: LoginSession, _ agent: Agent?) -> ScanConditions.Session {
    var conditions = session.conditions
    if agent?.report.locked == .yes { conditions.isLocked = .yes }
    return conditions
  }
}

/// A station: a machine whose taps go to one user's agent while no other user is logged in at the seat.
extension DaemonState {
  /// The place of the station's agent in the registry; nil if this machine is not a station. It needs no session.
  var station: SessionKey? {
    guard !policy.servesAnySession, let uid = policy.station else { return nil }
    return SessionKey(id: nil, uid: uid)
  }

  /// The station, if it gets the taps of a seat now; nil if another user is logged in there, or if this is not known.
  ///
  /// The foreground alone does not decide: while logind switches from one user to another, no session is in it.
  func stationInFront(of seat: String) -> SessionKey? {
    guard let station, seat == Self.defaultSeat, login.isFree(seat, for: station.uid) else { return nil }
    return station
  }

  /// Whether a station is locked. Its user may have a session with a screen, too.
  func lock(ofStation station: SessionKey, on seat: String) -> Fact {
    login.activeSession(on: seat)?.lock.isLocked == .yes ? .yes : lock(of: station) ?? .no
  }
}
