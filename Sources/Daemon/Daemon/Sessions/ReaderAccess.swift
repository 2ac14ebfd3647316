import Bus
import Names
import ReaderProtocol

/// Which user may use which reader, for a reader session or a loan.
extension DaemonState {
  /// Those on seats that the user may use, in order.
  private func readers(for uid: UInt32) -> [(key: Int, value: RosterReader)] {
    readers.sorted.filter { seats.obstacle(to: uid, on: $0.value.properties.seat) == nil }
  }

  /// The reader for a session that names none: the first ready one on the user's seat that can read some of the
  /// technologies, else the first ready one there, else the first one there.
  func reader(for uid: UInt32, reading technologies: [TagType] = TagType.readable) -> Int? {
    let own = readers(for: uid)
    let ready = own.filter { $0.value.isReady || $0.value.isReleased }
    return (ready.first { $0.value.canRead(some: technologies) } ?? ready.first ?? own.first)?.key
  }

  /// polkit may still refuse it.
  func isReadingAvailable(to uid: UInt32) -> Bool { readers(for: uid).contains { $0.value.isReady } }

  func agent(showing session: SessionRecord) -> Agent? {
    if seats.policy.servesAnySession { return seats.registry.agent(of: LoginSessionKey(id: nil, uid: session.uid)) }
    guard let reader = readers[session.reader], let agent = seats.seat(reader.properties.seat).agent,
      agent.session.uid == session.uid
    else { return nil }
    return agent
  }

  // MARK: Loans

  /// Selects the reader to lend to a user. Without a path, this is the first ready one on the user's seat. The rule is
  /// that of reader sessions: a program with a reader can read the cards of the user at the seat.
  func readerToRelease(_ path: ObjectPath?, to uid: UInt32) throws(BusError) -> Int {
    if let path {
      guard let reader = readers.number(at: path) else { throw .notPossible("there is no reader \(path)") }
      try checkRelease(of: reader, to: uid)
      return reader
    }
    let own = readers(for: uid)
    guard !own.isEmpty || readers.all.isEmpty else { throw Self.notAtTheSeat(uid) }
    guard let reader = own.first(where: { $0.value.isReady && !$0.value.isReleased })?.key else {
      throw .notPossible("no reader is ready to be released")
    }
    try checkRelease(of: reader, to: uid)
    return reader
  }

  func checkRelease(of reader: Int, to uid: UInt32) throws(BusError) {
    guard let status = readers[reader] else { throw .notPossible("the reader is gone") }
    guard seats.obstacle(to: uid, on: status.properties.seat) == nil else { throw Self.notAtTheSeat(uid) }
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

extension TagSessionOptions {
  /// Without the technologies that the reader cannot read.
  func limited(to reader: RosterReader) -> TagSessionOptions {
    TagSessionOptions(
      number: number, technologies: reader.technologies(among: technologies),
      applicationIdentifiers: applicationIdentifiers, systemCodes: systemCodes,
      reportsUndeclaredCards: reportsUndeclaredCards)
  }
}
