import Session

/// What follows where the administrator decides otherwise while the daemon runs.
extension DaemonState {
  /// Goes by the policy that is in force by now. A session keeps the time that it was given.
  mutating func adopt(
    _ policy: Policy, insteadOf servedAnySession: Bool, at now: TapQueue.Instant
  ) -> [Action] {
    sessions.timeLimit = policy.sessionLimit
    for id in readers.keys { readers[id]?.properties.technologies = policy.technologies }
    var actions: [Action] = []
    if policy.servesAnySession != servedAnySession {
      actions += policy.servesAnySession ? serveAnySession(at: now) : follow(login, at: now)
    }
    // What counts as locked may be something else.
    for session in Set(queue.waitingSessions + registry.agents.map(\.session)) { actions += open(session, at: now) }
    return actions
  }

  /// Nobody asks logind any more: each agent is its user's, wherever that sits.
  private mutating func serveAnySession(at now: TapQueue.Instant) -> [Action] {
    login = LoginState()
    var actions: [Action] = []
    for agent in registry.agents {
      let (served, moved) = register(agent.sender, at: agent.path, for: sessions(of: agent.session.uid, nil), at: now)
      // Two would be told of one user's tags, and what this one said of its lock would count for nothing.
      actions += served == nil ? unregister(agent.sender, at: now) : moved
    }
    // Those of users whose agent is away wait for it too.
    for uid in Set(queue.waitingSessions.map(\.uid)) {
      actions += bringTaps(to: SessionKey(id: nil, uid: uid), at: now)
    }
    return actions
  }
}
