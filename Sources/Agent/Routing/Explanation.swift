/// The steps that lead to an answer, and the applications that claim the link but do not open it. The steps are
/// recorded only if the caller wants to read them.
struct Explanation {
  private let isWanted: Bool
  private(set) var steps: [Route.Step] = []
  private(set) var losers: [Candidate] = []
  /// How many more applications lost.
  private(set) var leftOut = 0

  init(isWanted: Bool) { self.isWanted = isWanted }

  mutating func add(_ subject: String, _ finding: @autoclosure () -> String) {
    if isWanted { steps.append(Route.Step(subject, finding())) }
  }

  mutating func lose(_ candidates: [Candidate], leftOut count: Int) {
    losers += candidates
    leftOut += count
  }
}
