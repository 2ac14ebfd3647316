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
