/// The waits of tests for a state of `Owner`.
struct Waiters<Owner: Actor> {
  /// What is waited for.
  typealias Condition = @Sendable (isolated Owner) -> Bool

  private var waiting: [Int: (condition: Condition, continuation: AsyncStream<Void>.Continuation)] = [:]
  private var last = 0

  /// Adds a wait. Returns its number and a stream, which ends with the wait.
  mutating func add(_ condition: @escaping Condition) -> (number: Int, met: AsyncStream<Void>) {
    let (met, continuation) = AsyncStream.makeStream(of: Void.self)
    last += 1
    waiting[last] = (condition, continuation)
    return (last, met)
  }

  /// Ends the waits whose condition is true.
  mutating func resume(for owner: isolated Owner) {
    for (number, waiter) in waiting where waiter.condition(owner) {
      waiting[number] = nil
      waiter.continuation.finish()
    }
  }

  /// Removes a wait whose stream has ended. Fails if its condition was not met: the task was cancelled.
  mutating func remove(_ number: Int) throws(SimulatorError) {
    guard waiting.removeValue(forKey: number) == nil else { throw SimulatorError("the wait was cancelled") }
  }
}
