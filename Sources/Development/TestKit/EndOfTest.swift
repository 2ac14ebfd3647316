import EventLoop
package import Testing

/// What the present test has started, with the actions that stop it.
private final class EndOfTest: Sendable {
  @TaskLocal static var present: EndOfTest?

  private let stops = Locked<[@Sendable () async throws -> Void]>([])

  func add(_ stop: @escaping @Sendable () async throws -> Void) { stops.withLock { $0.append(stop) } }

  /// Runs the actions, the last one first. Throws the first error after it has run all of them.
  func stop() async throws {
    var failure: (any Error)?
    for stop in stops.withLock({ $0 }).reversed() {
      do { try await stop() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

/// Runs `stop` when the present test ends, after everything that was started later has been stopped. Until then, the
/// values that `stop` captures stay alive. Has no effect in a test without `StopsAtEnd`.
package func atEndOfTest(_ stop: @escaping @Sendable () async throws -> Void) { EndOfTest.present?.add(stop) }

/// Stops what a test has started (`atEndOfTest`), the last thing first, even if the test fails.
package struct StopsAtEnd: TestTrait, SuiteTrait, TestScoping {
  /// Applies to each test of a suite.
  package var isRecursive: Bool { true }

  package init() {}

  /// Runs the test, and then the actions of `atEndOfTest`. Throws the error of the test. If it has none, the first
  /// error of an action.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let end = EndOfTest()
    do {
      try await EndOfTest.$present.withValue(end) { try await function() }
    } catch {
      try? await end.stop()
      throw error
    }
    try await end.stop()
  }
}
