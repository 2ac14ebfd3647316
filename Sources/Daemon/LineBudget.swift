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
  private var count = 0
  private var end: Instant?

  init(most: Int) { self.most = most }

  /// Takes a line into account.
  mutating func line(at now: Instant) -> Verdict {
    if end.map({ now >= $0 }) ?? true {
      end = now + Self.interval
      count = 0
    }
    guard count <= most else { return .leaveOut }
    count += 1
    return count <= most ? .write : .announce
  }
}
