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
    /// Instead of this line, write a notice that lines are omitted.
    case announce
    case leaveOut
  }

  static let interval = Duration.seconds(60)

  /// The limit of lines in a minute.
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
  /// Lines of one budget per minute.
  static let most = 20
  /// The limit of users with their own budget in the same minute.
  static let users = 32

  typealias Instant = SuspendingClock.Instant

  private var budgets: [UInt32: (budget: LineBudget, last: Instant)] = [:]
  private var shared = LineBudget(most: most)

  /// Decides about a line that the user `uid` causes.
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

/// Log lines about readers and users, each kind within a limit.
extension DaemonState {
  /// Logs a line about a reader's process and its device. `text` gets the reader's name.
  mutating func note(
    _ level: LogLevel, of id: Int, at now: TapQueue.Instant, _ text: (String) -> String
  ) -> [Action] {
    write(level, of: id, by: \.processLines, at: now, text)
  }

  /// Logs a change of a reader's state. The limit is separate, so that a verbose process cannot suppress these lines.
  mutating func noteChange(
    _ level: LogLevel, of id: Int, at now: TapQueue.Instant, _ text: (String) -> String
  ) -> [Action] {
    write(level, of: id, by: \.changeLines, at: now, text)
  }

  /// Logs a change of a reader that users can cause.
  mutating func noteVerdict(of id: Int, at now: TapQueue.Instant, _ text: (String) -> String) -> [Action] {
    write(.info, of: id, by: \.verdictLines, at: now, text)
  }

  private mutating func write(
    _ level: LogLevel, of id: Int, by budget: WritableKeyPath<RosterReader, LineBudget>, at now: TapQueue.Instant,
    _ text: (String) -> String
  ) -> [Action] {
    // A line below the log threshold must not use up the limit.
    guard level <= policy.logThreshold else { return [] }
    let name = name(of: id)
    let verdict = readers[id]?[keyPath: budget].line(at: now) ?? searchLines.line(at: now)
    return Self.lines(level, text(name), name, verdict)
  }

  func name(of id: Int) -> String {
    readers[id].map { "reader \($0.label)" } ?? "the reader being searched for"
  }

  mutating func noteTag(_ level: LogLevel, _ text: String, of id: Int, at now: TapQueue.Instant) -> [Action] {
    guard level <= policy.logThreshold else { return [] }
    guard let name = readers[id]?.label, let verdict = readers[id]?.tagLines.line(at: now) else { return [] }
    return Self.lines(level, text, "reader \(name)", verdict)
  }

  /// Logs a line that a user has caused.
  mutating func note(_ level: LogLevel, ofUser uid: UInt32, at now: TapQueue.Instant, _ text: String) -> [Action] {
    guard level <= policy.logThreshold else { return [] }
    return Self.lines(level, text, "user \(uid)", userLines.line(of: uid, at: now))
  }

  private static func lines(
    _ level: LogLevel, _ text: String, _ name: String, _ verdict: LineBudget.Verdict
  ) -> [Action] {
    switch verdict {
    case .write: [.log(level, text)]
    case .announce: [.log(.warning, "\(name): too many lines; the rest of this minute is omitted")]
    case .leaveOut: []
    }
  }
}
