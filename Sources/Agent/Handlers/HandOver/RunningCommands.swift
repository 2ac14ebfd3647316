/// How many programs that rules started still run. A tag that comes and goes must not start them without end. Pure.
struct RunningCommands {
  /// Who started a program, or which one it is.
  enum Owner: Sendable, Hashable {
    /// The program of the rule with this name.
    case rule(String)
    /// The app with this desktop id, which a rule opened without a click.
    case application(String)

    fileprivate var words: String {
      switch self {
      case .rule: "of this rule"
      case .application: "of this app"
      }
    }
  }

  /// The most of one owner, and of all together. A program that turns on a lamp ends at once; a player, and what waits
  /// for the end of a hold, may run for hours.
  static let mostOfOwner = 16
  static let most = 64

  private var counts: [Owner: Int] = [:]

  /// Takes a place for a program. Returns why there is none, as the end of a sentence.
  mutating func begin(_ owner: Owner) -> String? {
    if counts[owner, default: 0] >= Self.mostOfOwner {
      return "\(Self.mostOfOwner) programs \(owner.words) still run, so no other one is started"
    }
    if counts.values.reduce(0, +) >= Self.most {
      return "\(Self.most) programs of rules still run, so no other one is started"
    }
    counts[owner, default: 0] += 1
    return nil
  }

  /// A program has ended, or was not started.
  mutating func end(_ owner: Owner) {
    counts[owner] = counts[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
