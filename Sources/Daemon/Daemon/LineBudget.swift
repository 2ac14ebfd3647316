import EventLoop
import Journal

/// Bounds the log lines of one source, so that a message that is repeated without end cannot fill the journal.
///
/// Pure. A minute begins with its first line. The line after the last allowed one is replaced by a notice, and the rest
/// of the minute is omitted.
struct LineBudget: Sendable {
  typealias Instant = SuspendingClock.Instant

  enum Verdict: Hashable, Sendable {
    case write
    /// Replace this line by a notice that lines are omitted.
    case announce
    case leaveOut
  }

  static let interval = Duration.seconds(60)

  /// Per minute.
  let most: Int
  private var lines = WindowCount(within: interval)

  init(most: Int) { self.most = most }

  mutating func line(at now: Instant) -> Verdict {
    let count = lines.next(at: now)
    return count <= most ? .write : count == most + 1 ? .announce : .leaveOut
  }
}

/// Bounds the log lines that users cause, so that a user who repeats a request cannot fill the journal.
///
/// Pure. Each user has a budget per minute. All users beyond the limit share one budget, so that their lines do not
/// vanish without a notice.
struct UserLines: Sendable {
  /// Per budget and minute.
  static let most = 20
  /// With their own budget in the same minute.
  static let users = 32

  typealias Instant = SuspendingClock.Instant

  private var budgets: [UInt32: (budget: LineBudget, last: Instant)] = [:]
  private var shared = LineBudget(most: most)

  mutating func line(of uid: UInt32, at now: Instant) -> LineBudget.Verdict {
    if budgets[uid] == nil, budgets.count >= Self.users {
      budgets = budgets.filter { $0.value.last + LineBudget.interval > now }
      guard budgets.count < Self.users else { return shared.line(at: now) }
    }
    var budget = budgets[uid]?.budget ?? LineBudget(most: Self.most)
    defer { budgets[uid] = (budget, now) }
    return budget.line(at: now)
  }
}

extension LineBudget.Verdict {
  /// At most one line: this text, or a notice about the source `name` instead.
  func limit(_ level: LogLevel, _ text: String, about name: String) -> [(LogLevel, String)] {
    switch self {
    case .write: [(level, text)]
    case .announce: [(.warning, "\(name): too many lines; the rest of this minute is omitted")]
    case .leaveOut: []
    }
  }
}
