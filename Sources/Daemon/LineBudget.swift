import EventLoop

/// Bounds the log lines of one source, so that a message that is repeated without end cannot fill the journal.
///
/// Pure. A minute begins with its first line. The line after the last allowed one is replaced by a notice, and the rest
/// of the minute is omitted.
struct LineBudget: Sendable {
  typealias Instant = SuspendingClock.Instant

  enum Verdict: Hashable, Sendable {
    case write
    /// Instead of this line, write a notice that lines are omitted.
    case announce
    case leaveOut
  }

  static let interval = Duration.seconds(60)

  /// The limit of lines in a minute.
  let most: Int
  private var lines = WindowCount(within: interval)

  init(most: Int) { self.most = most }

  /// Decides about one more line.
  mutating func line(at now: Instant) -> Verdict {
    let count = lines.next(at: now)
    return count <= most ? .write : count == most + 1 ? .announce : .leaveOut
  }
}
