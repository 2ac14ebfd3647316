import Bus
import Journal
import Names
import Presence
import ReaderProtocol

/// Which users may have a reader session.
extension DaemonState {
  /// Why a user may not have a reader session on a seat now; nil if the user may.
  func obstacle(to uid: UInt32, on seat: String) -> Names.SessionEnd? {
    if policy.servesAnySession {
      let isLocked = registry.agent(of: SessionKey(id: nil, uid: uid))?.report.locked == .yes
      return isLocked ? .sessionInactive : nil
    }
    if login.isSleeping == .yes { return .sleeping }
    if let station = stationInFront(of: seat) {
      return station.uid == uid && lock(ofStation: station, on: seat) != .yes ? nil : .sessionInactive
    }
    guard let active = login.activeSession(on: seat), active.uid == uid, active.isEligible,
      !policy.scan.treatsAsLocked(active.lock.isLocked)
    else { return .sessionInactive }
    return nil
  }

  func agent(showing session: SessionRecord) -> Agent? {
    if policy.servesAnySession { return registry.agent(of: SessionKey(id: nil, uid: session.uid)) }
    guard let reader = readers[session.reader], let agent = seat(reader.properties.seat).agent,
      agent.session.uid == session.uid
    else { return nil }
    return agent
  }

  /// The reader for a session that names none: the first ready one on the user's seat that can read some of the
  /// technologies, else the first ready one there, else the first one there.
  func reader(for uid: UInt32, reading technologies: [TagType] = TagType.readable) -> Int? {
    let own = readers.sorted { $0.key < $1.key }.filter { obstacle(to: uid, on: $0.value.properties.seat) == nil }
    let ready = own.filter { $0.value.isReady || $0.value.isReleased }
    return (ready.first { $0.value.canRead(some: technologies) } ?? ready.first ?? own.first)?.key
  }

  /// Whether a user may have a session at one of the readers now. polkit may still refuse it.
  func isReadingAvailable(to uid: UInt32) -> Bool {
    readers.values.contains { $0.isReady && obstacle(to: uid, on: $0.properties.seat) == nil }
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

  /// Frees readers from sessions that were over before their process heard of them. Such a process confirms nothing.
  mutating func freeReaders(at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    for (id, reader) in readers.sorted(by: { $0.key < $1.key }) {
      guard let occupant = sessions.occupant(of: id),
        ![reader.session?.number, reader.goal.session?.number, reader.endingSession].contains(occupant)
      else { continue }
      actions += perform(sessions.handle(.ended(occupant), at: id, now))
    }
    return actions
  }

  /// Lends a reader to another program, or takes it back.
  mutating func release(_ id: Int, _ isReleased: Bool, at now: TapQueue.Instant) -> [Action] {
    guard let reader = readers[id], reader.isReleased != isReleased else { return [] }
    readers[id]?.isReleased = isReleased
    if isReleased { return perform(sessions.handle(.lent(true), at: id, now)) }
    // A process that has closed the device reports when it has opened it again. Otherwise there is no report.
    guard reader.phase != .released else { return [] }
    return perform(sessions.handle(.lent(false), at: id, now))
      + perform(sessions.handle(.ready(reader.phase.isOpen), at: id, now))
  }

  /// Sets the sessions of readers. Returns the other actions, which the service carries out.
  mutating func perform(_ actions: [ReaderSessions.Action]) -> [Action] {
    var rest: [Action] = []
    for action in actions {
      switch action {
      case .begin(let reader, let options):
        guard let status = readers[reader] else { continue }
        readers[reader]?.session = options.limited(to: status)
      case .release(let reader, let id): if readers[reader]?.session?.number == id { readers[reader]?.session = nil }
      default: rest.append(.session(action))
      }
    }
    return rest
  }
}

extension TagSessionOptions {
  /// The same options without the technologies that the reader cannot read.
  func limited(to reader: RosterReader) -> TagSessionOptions {
    TagSessionOptions(
      number: number, technologies: reader.technologies(among: technologies),
      applicationIdentifiers: applicationIdentifiers, systemCodes: systemCodes,
      reportsUndeclaredCards: reportsUndeclaredCards)
  }
}

/// Loans of readers to other programs. The rule is that of reader sessions: a program with a reader can read the cards
/// of the user at the seat.
extension DaemonState {
  /// Selects the reader to lend to a user. Without a path, this is the first ready one on the user's seat.
  func readerToRelease(_ path: ObjectPath?, to uid: UInt32) throws(BusError) -> Int {
    if let path {
      guard let reader = reader(at: path) else { throw .notPossible("there is no reader \(path)") }
      try checkRelease(of: reader, to: uid)
      return reader
    }
    let own = readers.sorted { $0.key < $1.key }.filter { obstacle(to: uid, on: $0.value.properties.seat) == nil }
    guard !own.isEmpty || readers.isEmpty else { throw Self.notAtTheSeat(uid) }
    guard let reader = own.first(where: { $0.value.isReady && !$0.value.isReleased })?.key else {
      throw .notPossible("no reader is ready to be released")
    }
    try checkRelease(of: reader, to: uid)
    return reader
  }

  /// Checks that a reader may be lent to a user now.
  func checkRelease(of reader: Int, to uid: UInt32) throws(BusError) {
    guard let status = readers[reader] else { throw .notPossible("the reader is gone") }
    guard obstacle(to: uid, on: status.properties.seat) == nil else { throw Self.notAtTheSeat(uid) }
    // A session of the same user ends when the reader is lent. With `Sessions=any`, another user's session may have it.
    if let other = sessions.open.first(where: { $0.reader == reader && $0.isActive && $0.uid != uid }) {
      throw .notPossible("a reader session of user \(other.uid) has the reader")
    }
    guard status.isReady else { throw .notPossible("the reader is not ready") }
  }

  private static func notAtTheSeat(_ uid: UInt32) -> BusError {
    .notAuthorized(
      "you may not have a reader released: user \(uid) has no active, unlocked session on the reader's seat")
  }
}
