import Testing
@testable import DaemonTests

/// The searches of the fast tests, one or more steps further.
@Suite struct SearchTests {
  @Test func `every tag goes to the user who was active when it was put down, or is dropped`() {
    HandOverModelTests().expectRules(ofSteps: 5, sequences: 30_000)
  }

  @Test func `every sequence of events at a reader keeps the rules`() {
    ReaderSessionOrderTests().expectRules(ofEvents: 10, worlds: 40_000)
  }
}
