/// How many programs of rules run. A tag that comes and goes must not start them without end. Pure.
struct RunningCommands {
  /// The most of one rule, and of all rules together. A program that turns on a lamp ends at once; a player, and what
  /// waits for the end of a hold, may run for hours.
  static let mostOfRule = 16
  static let most = 64

  private var counts: [String: Int] = [:]

  /// Takes a place for a program of a rule. Returns why there is none, as the end of a sentence.
  mutating func begin(_ rule: String) -> String? {
    if counts[rule, default: 0] >= Self.mostOfRule {
      return "\(Self.mostOfRule) programs of this rule still run, so no other one is started"
    }
    if counts.values.reduce(0, +) >= Self.most {
      return "\(Self.most) programs of rules still run, so no other one is started"
    }
    counts[rule, default: 0] += 1
    return nil
  }

  /// A program of a rule has ended, or was not started.
  mutating func end(_ rule: String) {
    counts[rule] = counts[rule].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
