public import Journal

/// What the daemon hears of a reader, whatever its process goes through.
public enum ReaderProcessEvent: Sendable, Hashable {
  /// The device came, went or failed; while there is no process, `failed` with the reason.
  case state(ReaderState)
  /// Whether tags are looked for now; with `false` the field is off. Where a device or its process fails, that comes only when the
  /// device was opened again, which resets it, or is away, or when the process is stopped for good.
  case scanning(Bool)
  /// What a tag holds, once a placement.
  case tag(TagReport)
  /// The tag of this placement is away, or the process that watched it is gone.
  case removed(placement: UInt64)
  /// What the present process has done since it started.
  case counters(ReaderCounters)
  /// The process ended though nobody asked it to.
  case crashed(ReaderCrash)
  /// A line for the log.
  case log(LogLevel, String)
  /// The reader session of that number has begun.
  case sessionBegan(UInt64)
  /// It has ended as it was told to, and the field is off. Every request of it has been answered before.
  case sessionEnded(UInt64)
  /// It cannot begin or go on: the device or its process failed. Every request of it has been answered before. The reason is in words
  /// for a person. There is nothing to end any more.
  case sessionLost(UInt64, reason: String)
  /// The session has found a tag.
  case sessionTag(UInt64, SessionTag)
  /// The tag of that placement is away. Where a session ends, those that are still there are not named.
  case sessionTagRemoved(UInt64, placement: UInt64)
  /// What the operation of that request has come to; once for each request.
  case performed(request: UInt64, ReaderOperationResult)
  /// Bytes that the operation of that request has moved so far.
  case progress(request: UInt64, bytes: UInt32)
  /// Whether the device is closed for another program. A process that is started later is told to leave it closed.
  case lent(Bool)
  /// `setScanning(false)` is done: no tag that was read before that is still to come. A process that has ended, or is as good as that,
  /// has stopped, whatever its field does.
  case stopped
}

/// A reader process that ended though nobody asked it to.
public struct ReaderCrash: Sendable, Hashable {
  /// Why it ended, for example "killed by signal 11 (Segmentation fault)".
  public let reason: String
  /// The tag that was being read at that moment. It is not read again until it has been away.
  public let suspect: Placement?
  /// How long until the process is started again.
  public let restart: Duration

  /// - Parameters:
  ///   - reason: why it ended.
  ///   - suspect: the tag that was being read at that moment.
  ///   - restart: how long until the process is started again.
  public init(reason: String, suspect: Placement?, restart: Duration) {
    self.reason = reason
    self.suspect = suspect
    self.restart = restart
  }
}
