// Every call to a tag has a form with a completion handler, which is the requirement of the tag's protocol. The
// functions here make the two other forms of it.

/// Gets the values of an answer, or values without a meaning and the error.
typealias Handler<each Value> = @Sendable (repeat each Value, (any Error)?) -> Void

typealias ResultHandler<Value> = @Sendable (Result<Value, any Error>) -> Void

/// What a completion handler got, as a result. `value` is only evaluated if there is no error.
func outcome<Value>(_ error: (any Error)?, _ value: @autoclosure () -> Value) -> Result<Value, any Error> {
  if let error { .failure(error) } else { .success(value()) }
}

/// Makes a call that reports to a `resultHandler`, and waits for the result.
///
/// The call is made in the caller's isolation, so a tag need not be `Sendable`. If the task is cancelled, the function
/// throws `CancellationError` at once. The tag still carries out the command, and its answer is dropped. If the task
/// was cancelled before, the call is not made. Calling the handler again has no effect.
nonisolated(nonsending) func fromResult<Value>(_ call: (@escaping ResultHandler<Value>) -> Void) async throws -> Value {
  try Task.checkCancellation()
  let (answers, answer) = AsyncStream.makeStream(of: HandedOver<Value>.self)
  call {
    answer.yield(HandedOver(result: $0))
    answer.finish()
  }
  for await first in answers { return try first.result.get() }
  throw CancellationError()
}

/// A result on its way from a handler to the task that waits for it.
///
/// It is safe to send, because the values of a handler are made for this one call. The tag does not touch them after
/// it has called the handler.
private struct HandedOver<Value>: @unchecked Sendable {
  let result: Result<Value, any Error>
}

// A call that reports to a completion handler with none to five values. One function with a parameter pack would need
// a closure with a parameter after the pack, which Swift 6.3 does not have.

nonisolated(nonsending) func fromHandler(_ call: (@escaping Handler<>) -> Void) async throws {
  try await fromResult { done in call { done(outcome($0, ())) } }
}

nonisolated(nonsending) func fromHandler<A>(_ call: (@escaping Handler<A>) -> Void) async throws -> A {
  try await fromResult { done in call { done(outcome($1, $0)) } }
}

nonisolated(nonsending) func fromHandler<A, B>(_ call: (@escaping Handler<A, B>) -> Void) async throws -> (A, B) {
  try await fromResult { done in call { done(outcome($2, ($0, $1))) } }
}

nonisolated(nonsending) func fromHandler<A, B, C>(
  _ call: (@escaping Handler<A, B, C>) -> Void
) async throws -> (A, B, C) {
  try await fromResult { done in call { done(outcome($3, ($0, $1, $2))) } }
}

nonisolated(nonsending) func fromHandler<A, B, C, D>(
  _ call: (@escaping Handler<A, B, C, D>) -> Void
) async throws -> (A, B, C, D) {
  try await fromResult { done in call { done(outcome($4, ($0, $1, $2, $3))) } }
}

nonisolated(nonsending) func fromHandler<A, B, C, D, E>(
  _ call: (@escaping Handler<A, B, C, D, E>) -> Void
) async throws -> (A, B, C, D, E) {
  try await fromResult { done in call { done(outcome($5, ($0, $1, $2, $3, $4))) } }
}
