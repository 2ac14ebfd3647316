import EventLoop

/// Runs what blocks on a thread of its own, and comes back with its result.
///
/// - Parameter body: what blocks.
/// - Returns: what `body` returns.
/// - Throws: `SystemError` where the system has no thread left.
func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
    do {
      try DedicatedThread.start { continuation.resume(returning: body()) }
    } catch {
      continuation.resume(throwing: error)
    }
  }
}
