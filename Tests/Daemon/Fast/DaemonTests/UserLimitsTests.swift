import Testing

@testable import Daemon

@Suite struct UserLinesTests {
  private var lines = UserLines()
  private var clock = ManualClock()

  private mutating func written(of uid: UInt32, _ count: Int) -> Int {
    (0..<count).count { _ in lines.line(of: uid, at: clock.now) == .write }
  }

  @Test mutating func `each user has a separate budget`() {
    #expect(written(of: 1000, 100) == UserLines.most)
    #expect(written(of: 1001, 1) == 1)
    clock.advance(LineBudget.interval)
    #expect(written(of: 1000, 100) == UserLines.most)
  }

  @Test mutating func `users without a free budget share one, which announces that lines are left out`() {
    #expect((0..<UInt32(UserLines.users)).reduce(0) { $0 + written(of: $1, 1) } == UserLines.users)
    let verdicts = (1000..<2000).map { lines.line(of: $0, at: clock.now) }
    #expect(verdicts.count { $0 == .write } == UserLines.most)
    #expect(verdicts[UserLines.most] == .announce)
    #expect(verdicts.count { $0 == .announce } == 1)
    clock.advance(LineBudget.interval)
    #expect(written(of: 999, 1) == 1)
  }

  @Test mutating func `a user who repeats requests for long gets no second budget`() {
    for uid in 0..<UInt32(UserLines.users) { _ = written(of: uid, 100) }
    clock.advance(LineBudget.interval - .seconds(1))
    for uid in 0..<UInt32(UserLines.users) { #expect(written(of: uid, 1) == 0) }
    clock.advance(.seconds(1))
    // All budgets are still in use, so another user gets the shared one.
    #expect(written(of: 5000, 100) == UserLines.most)
    #expect(written(of: 5001, 1) == 0)
    #expect(written(of: 0, 100) == UserLines.most)
  }
}

@Suite struct LineBudgetTests {
  @Test func `lines above the limit of an interval are announced once and left out`() {
    var budget = LineBudget(most: 3)
    var clock = ManualClock()
    func verdicts(_ count: Int) -> [LineBudget.Verdict] { (0..<count).map { _ in budget.line(at: clock.now) } }
    #expect(verdicts(6) == [.write, .write, .write, .announce, .leaveOut, .leaveOut])
    clock.advance(LineBudget.interval - .milliseconds(1))
    #expect(verdicts(1) == [.leaveOut])
    clock.advance(.milliseconds(1))
    #expect(verdicts(5) == [.write, .write, .write, .announce, .leaveOut])
  }
}

@Suite struct AuthorizationQuestionsTests {
  private var questions = AuthorizationQuestions()

  private mutating func begin(_ sender: String, of uid: UInt32) -> Bool { questions.begin(sender, of: uid) }

  @Test mutating func `a caller can ask again only after the answer`() {
    #expect(begin(":1.1", of: 1000))
    #expect(!begin(":1.1", of: 1000))
    questions.end(":1.1")
    #expect(begin(":1.1", of: 1000))
  }

  @Test mutating func `a user with many connections leaves room for other users`() {
    for number in 0..<200 { _ = begin(":1.\(number)", of: 1000) }
    #expect(!begin(":1.300", of: 1000))
    #expect(begin(":1.301", of: 1001))
    questions.end(":1.0")
    #expect(begin(":1.300", of: 1000))
  }

  @Test mutating func `all users together have a limit`() {
    for number in 0..<AuthorizationQuestions.limit { #expect(begin(":1.\(number)", of: UInt32(number))) }
    #expect(!begin(":1.999", of: 999))
  }
}
