import Bus
import Journal
import Names
import ScanGate
import Session

/// Who may have a reader session.
extension DaemonState {
  /// Why a user may not have a reader session on a seat now; nil if the user may.
  func obstacle(to uid: UInt32, on seat: String) -> Names.SessionEnd? {
    if policy.servesAnySession {
      let isLocked = registry.agent(of: SessionKey(id: nil, uid: uid))?.report.locked == .yes
      return isLocked ? .sessionInactive : nil
    }
    if login.isSleeping == .yes { return .sleeping }
    guard let active = login.activeSession(on: seat), active.uid == uid, active.isEligible,
      !policy.scan.treatsAsLocked(active.lock.isLocked)
    else { return .sessionInactive }
    return nil
  }

  /// The agent that shows a session.
  func agent(showing session: ReaderSession) -> Agent? {
    if policy.servesAnySession { return registry.agent(of: SessionKey(id: nil, uid: session.uid)) }
    guard let reader = readers[session.reader], let agent = seat(reader.properties.seat).agent,
      agent.session.uid == session.uid
    else { return nil }
    return agent
  }

  /// The reader for a session that names none: the first ready one on the user's seat, else the first one there.
  func reader(for uid: UInt32) -> Int? {
    let own = readers.sorted { $0.key < $1.key }.filter { obstacle(to: uid, on: $0.value.properties.seat) == nil }
    return (own.first { $0.value.isReady || $0.value.isReleased } ?? own.first)?.key
  }

  func reader(at path: ObjectPath) -> Int? { readers.first { $0.value.path == path }?.key }

  /// Ends the sessions of users who may no longer have one.
  mutating func endForbiddenSessions(at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    for session in sessions.open {
      guard let seat = readers[session.reader]?.properties.seat, let reason = obstacle(to: session.uid, on: seat) else {
        continue
      }
      actions += perform(sessions.end(session.id, reason, at: now))
    }
    return actions
  }

  /// Lends a reader to another program, or takes it back.
  mutating func release(_ id: Int, _ isReleased: Bool, at now: TapQueue.Instant) -> [Action] {
    guard readers[id] != nil, readers[id]?.isReleased != isReleased else { return [] }
    readers[id]?.update(isReleased: isReleased)
    var turn: [Action] = []
    if isReleased {
      // The process may still be opening the device after the previous loan.
      readers[id]?.isLent = false
      turn = perform(sessions.handle(.lent(true), at: id, now))
    } else if readers[id]?.isLent == false {
      // The process has not closed the device, so it may never report that it has opened it.
      turn = perform(sessions.handle(.lent(false), at: id, now))
      turn += perform(sessions.handle(.ready(readers[id]?.isReady == true), at: id, now))
    }
    return [.lend(id, isReleased)] + turn
  }

  /// The process reports that it has closed the device for another program, or that the loan is over.
  mutating func lent(_ id: Int, _ isLent: Bool, at now: TapQueue.Instant) -> [Action] {
    guard let reader = readers[id] else { return [] }
    readers[id]?.isLent = isLent
    let line = noteVerdict(of: id, at: now) { "\($0) is \(isLent ? "released to another program" : "given back")" }
    guard !isLent, !reader.isReleased else { return line }
    return line + perform(sessions.handle(.lent(false), at: id, now))
  }

  func perform(_ actions: [ReaderSessions.Action]) -> [Action] { actions.map { .session($0) } }
}
