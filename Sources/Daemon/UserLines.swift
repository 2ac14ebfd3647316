/// How many lines users may cause in the log: a user who repeats a request must not fill the journal.
///
/// Pure. So many lines a user and a minute, then one that says that more were left out; and no more than so many users.
struct UserLines: Sendable {
  /// Lines of a user in a minute.
  static let most = 20
  /// Users who have lines in the same minute.
  static let users = 32

  typealias Instant = SuspendingClock.Instant

  private var budgets: [UInt32: (budget: LineBudget, last: Instant)] = [:]

  /// Takes a line into account.
  mutating func line(of uid: UInt32, at now: Instant) -> LineBudget.Verdict {
    if budgets[uid] == nil, budgets.count >= Self.users {
      budgets = budgets.filter { $0.value.last + LineBudget.interval > now }
      guard budgets.count < Self.users else { return .leaveOut }
    }
    var budget = budgets[uid]?.budget ?? LineBudget(most: Self.most)
    defer { budgets[uid] = (budget, now) }
    return budget.line(at: now)
  }
}
