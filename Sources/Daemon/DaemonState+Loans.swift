import Bus

/// Whose device is closed for another program. The rule is that of reader sessions: who has a reader reads the cards of whoever
/// sits there.
extension DaemonState {
  /// Why a reader is not released.
  enum NotReleased: Error, Hashable {
    case notPossible(String)
    case notAuthorized(String)
  }

  /// The reader that a user may have the device of.
  ///
  /// - Parameters:
  ///   - path: the one that is wanted; nil for the first that is ready where the user sits.
  ///   - uid: the user.
  /// - Returns: its number.
  /// - Throws: why there is none for that user.
  func readerToRelease(_ path: ObjectPath?, to uid: UInt32) throws(NotReleased) -> Int {
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

  /// Whether a user may have a reader's device now.
  func checkRelease(of reader: Int, to uid: UInt32) throws(NotReleased) {
    guard let status = readers[reader] else { throw .notPossible("the reader is gone") }
    guard obstacle(to: uid, on: status.properties.seat) == nil else { throw Self.notAtTheSeat(uid) }
    // Of one's own sessions the one that has the reader ends. With `Sessions=any` there may be others'.
    if let other = sessions.open.first(where: { $0.reader == reader && $0.isActive && $0.uid != uid }) {
      throw .notPossible("a reader session of user \(other.uid) has the reader")
    }
    guard status.isReady else { throw .notPossible("the reader is not ready") }
  }

  private static func notAtTheSeat(_ uid: UInt32) -> NotReleased {
    .notAuthorized(
      "you may not have a reader released: user \(uid) has no active, unlocked session on the reader's seat")
  }
}
