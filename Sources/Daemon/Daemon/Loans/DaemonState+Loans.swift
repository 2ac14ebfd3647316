import Bus

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
