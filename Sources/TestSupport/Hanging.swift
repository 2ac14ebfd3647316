/// What somebody does who does not answer: comes to no end before the task that waits for it is cancelled.
///
/// - Throws: `CancellationError`, and nothing else happens.
public func hang() async throws {
  let (never, _) = AsyncStream.makeStream(of: Void.self)
  for await _ in never {}
  try Task.checkCancellation()
}
