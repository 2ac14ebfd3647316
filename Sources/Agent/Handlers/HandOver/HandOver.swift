import EventLoop

/// A hand-over that has ended, or still waits for an answer.
package struct HandOver: Sendable {
  /// How the hand-over ended; ``HandOverDoubt/Code/unanswered`` if that is not known yet.
  package let outcome: HandOverOutcome
  /// The answer that may still come; nil if the outcome is final.
  package let answer: PendingAnswer?

  /// Final if there is no answer.
  package init(outcome: HandOverOutcome, answer: PendingAnswer? = nil) {
    self.outcome = outcome
    self.answer = answer
  }
}

/// An application's answer that did not come in time, and may still come.
package struct PendingAnswer: Sendable, Hashable {
  private let task: Task<HandOverOutcome, Never>
  private let loop: EventLoop

  /// Whether both are about the same call.
  package static func == (a: PendingAnswer, b: PendingAnswer) -> Bool { a.task == b.task }

  /// Hashes the call.
  package func hash(into hasher: inout Hasher) { hasher.combine(task) }

  init(_ task: Task<HandOverOutcome, Never>, on loop: EventLoop) {
    self.task = task
    self.loop = loop
  }

  /// The final outcome. It is a doubt if the application left, or did not answer within the launcher's limit.
  package var outcome: HandOverOutcome { get async { await task.value } }

  /// Waits again, and returns the final outcome, or `unanswered` with this answer.
  package func handOver(within timeout: Duration) async -> HandOver {
    let (words, word) = AsyncStream.makeStream(of: HandOverOutcome?.self)
    Task { word.yield(await task.value) }
    let alarm = loop.schedule(after: timeout) { word.yield(nil) }
    defer { alarm.cancel() }
    if case let outcome?? = await words.first(where: { _ in true }) { return HandOver(outcome: outcome) }
    return HandOver(outcome: .unknown(.unanswered(within: timeout)), answer: self)
  }
}
