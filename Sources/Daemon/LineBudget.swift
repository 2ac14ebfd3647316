import EventLoop

/// How much may be written into the log on somebody's behalf: a process that says something ever anew must not fill the
/// journal.
///
/// Pure. So many lines in a minute that begins with the first of them, then one that says that more were left out.
struct LineBudget: Sendable {
  typealias Instant = SuspendingClock.Instant

  enum Verdict: Hashable, Sendable {
    case write
    /// Not this line, but one that says that lines are left out.
    case announce
    case leaveOut
  }

  static let interval = Duration.seconds(60)

  /// Lines in a minute.
  let most: Int
  private var lines = WindowCount(within: interval)

  init(most: Int) { self.most = most }

  /// Takes a line into account.
  mutating func line(at now: Instant) -> Verdict {
    let count = lines.next(at: now)
    return count <= most ? .write : count == most + 1 ? .announce : .leaveOut
  }
}
