import Presence
import ReaderProtocol

/// Changes of the policy while the daemon runs.
extension DaemonState {
  /// Applies the new policy. An active reader session keeps its deadline.
  mutating func adopt(
    _ policy: Policy, insteadOf former: Policy, at now: TapQueue.Instant
  ) -> [Action] {
    sessions.timeLimit = policy.sessionLimit
    for (id, reader) in readers {
      readers[id]?.properties.technologies = reader.technologies(among: policy.polling.technologies)
    }
    var actions: [Action] = []
    if policy.servesAnySession != former.servesAnySession {
      actions += policy.servesAnySession ? serveAnySession(at: now) : reconcile(with: login, at: now)
    } else if policy.station != former.station {
      actions += reconcile(with: login, at: now)
    }
    // The new policy may treat other lock states as locked.
    for session in Set(queue.waitingSessions + registry.agents.map(\.session)) { actions += open(session, at: now) }
    return actions
  }

  /// Forgets logind's state. From here each agent serves its user on every seat.
  private mutating func serveAnySession(at now: TapQueue.Instant) -> [Action] {
    login = LoginState()
    var actions: [Action] = []
    for agent in registry.agents {
      let (served, moved) = register(agent.sender, at: agent.path, for: sessions(of: agent.session.uid, nil), at: now)
      // If the user has another agent, remove this one. Otherwise both would get the user's taps, and the daemon would
      // ignore this one's lock reports.
      actions += served == nil ? unregister(agent.sender, at: now) : moved
    }
    // Taps of users without an agent move too, and wait for one.
    for uid in Set(queue.waitingSessions.map(\.uid)) {
      actions += bringTaps(to: SessionKey(id: nil, uid: uid), at: now)
    }
    return actions
  }
}
