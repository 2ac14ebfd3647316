package import Testing

/// Stops what a test has started (`atEndOfTest`), the last thing first, even if the test fails.
package struct StopsAtEnd: TestTrait, SuiteTrait, TestScoping {
  /// Applies to each test of a suite.
  package var isRecursive: Bool { true }

  /// Creates the trait.
  package init() {}

  /// Runs the test, and then the actions that stop what it has started.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await stoppingAtEnd(function)
  }
}
