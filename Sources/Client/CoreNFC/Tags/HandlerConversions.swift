import EventLoop

// Every call to a tag has a form with a completion handler, which is the requirement of the tag's protocol. The
// functions here make the two other forms of it.

/// What a completion handler got, as a result. `value` is only evaluated if there is no error.
func outcome<Value>(_ error: (any Error)?, _ value: @autoclosure () -> Value) -> Result<Value, any Error> {
  if let error { .failure(error) } else { .success(value()) }
}

/// Makes a call that reports to a `resultHandler`, and waits for the result.
///
/// The call is made in the caller's isolation, so a tag need not be `Sendable`. If the task is cancelled, the function
/// throws `CancellationError` at once. The tag still carries out the command, and its answer is dropped. If the task
/// was cancelled before, the call is not made. Calling the handler again has no effect.
nonisolated(nonsending) func fromResult<Value>(
  _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
) async throws -> Value {
  try Task.checkCancellation()
  let answer = PendingAnswer<Value>()
  call { answer.finish($0) }
  return try await answer.result().get()
}

/// Makes a call that reports to a completion handler, and waits for it as `fromResult` does.
nonisolated(nonsending) func fromHandler(
  _ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void
) async throws {
  try await fromResult { done in call { done(outcome($0, ())) } }
}

/// The same for a handler with one value.
nonisolated(nonsending) func fromHandler<A>(
  _ call: (@escaping @Sendable (A, (any Error)?) -> Void) -> Void
) async throws -> A {
  try await fromResult { done in call { done(outcome($1, $0)) } }
}

/// The same for a handler with two values.
nonisolated(nonsending) func fromHandler<A, B>(
  _ call: (@escaping @Sendable (A, B, (any Error)?) -> Void) -> Void
) async throws -> (A, B) {
  try await fromResult { done in call { done(outcome($2, ($0, $1))) } }
}

/// The same for a handler with three values.
nonisolated(nonsending) func fromHandler<A, B, C>(
  _ call: (@escaping @Sendable (A, B, C, (any Error)?) -> Void) -> Void
) async throws -> (A, B, C) {
  try await fromResult { done in call { done(outcome($3, ($0, $1, $2))) } }
}

/// The same for a handler with four values.
nonisolated(nonsending) func fromHandler<A, B, C, D>(
  _ call: (@escaping @Sendable (A, B, C, D, (any Error)?) -> Void) -> Void
) async throws -> (A, B, C, D) {
  try await fromResult { done in call { done(outcome($4, ($0, $1, $2, $3))) } }
}

/// The same for a handler with five values.
nonisolated(nonsending) func fromHandler<A, B, C, D, E>(
  _ call: (@escaping @Sendable (A, B, C, D, E, (any Error)?) -> Void) -> Void
) async throws -> (A, B, C, D, E) {
  try await fromResult { done in call { done(outcome($5, ($0, $1, $2, $3, $4))) } }
}

/// The answer to one call, for the one task that waits for it. The first answer counts, and a cancellation is one.
final class PendingAnswer<Value>: Sendable {
  private enum State {
    /// Can become: `waiting`, `answered`.
    case unanswered
    /// The task waits. Can become: `taken`.
    case waiting(CheckedContinuation<HandedOver<Value>, Never>)
    /// The task has not asked yet. Can become: `taken`.
    case answered(HandedOver<Value>)
    /// The task has its answer. Later answers are dropped.
    case taken
  }

  private let state = Locked(State.unanswered)

  /// Answers the call. Only the first answer has an effect.
  func finish(_ result: Result<Value, any Error>) {
    let answer = HandedOver(result: result)
    let waiting = state.withLock { state -> CheckedContinuation<HandedOver<Value>, Never>? in
      switch state {
      case .unanswered:
        state = .answered(answer)
        return nil
      case .waiting(let continuation):
        state = .taken
        return continuation
      case .answered, .taken: return nil
      }
    }
    waiting?.resume(returning: answer)
  }

  /// Waits for the answer. If the task is cancelled, the answer is `CancellationError`. Call it once.
  nonisolated(nonsending) func result() async -> Result<Value, any Error> {
    let answer: HandedOver<Value> = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<HandedOver<Value>, Never>) in
        let ready = state.withLock { state -> HandedOver<Value>? in
          switch state {
          case .unanswered:
            state = .waiting(continuation)
            return nil
          case .answered(let answer):
            state = .taken
            return answer
          case .waiting, .taken: return HandedOver(result: .failure(CancellationError()))
          }
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      finish(.failure(CancellationError()))
    }
    return answer.result
  }
}

/// A result on its way from a handler to the task that waits for it.
///
/// It is safe to send, because the values of a handler are made for this one call. The tag does not touch them after
/// it has called the handler.
private struct HandedOver<Value>: @unchecked Sendable {
  let result: Result<Value, any Error>
}
