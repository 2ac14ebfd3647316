/// How an answer is reached: its steps, made only where somebody wants to read them, and who claims the link and does not open it.
struct Explanation {
  private let isWanted: Bool
  private(set) var steps: [Route.Step] = []
  private(set) var losers: [Candidate] = []
  /// How many more have lost.
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
