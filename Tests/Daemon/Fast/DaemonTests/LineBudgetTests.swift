import Testing

@testable import Daemon

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
