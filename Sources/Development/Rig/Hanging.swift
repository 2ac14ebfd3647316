/// Behaves like a peer that never replies: waits until the task is cancelled. Then it throws `CancellationError`.
package func hang() async throws {
  let (never, _) = AsyncStream.makeStream(of: Void.self)
  for await _ in never {}
  try Task.checkCancellation()
}
