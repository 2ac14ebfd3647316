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

  /// A million sessions.
  @Test(arguments: 2...11 as ClosedRange<UInt64>)
  func `no session reaches a payment application of a lax card`(seed: UInt64) {
    LaxCardTests().expectNoBreach(sessions: 100_000, seed: seed)
  }
}
