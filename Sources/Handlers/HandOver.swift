import EventLoop

/// A hand-over, as far as it has come.
public struct HandOver: Sendable {
  /// How it has ended; ``HandOverDoubt/Code/unanswered`` where that is not known yet.
  public let outcome: HandOverOutcome
  /// The answer that may still come; nil where the outcome is the last word.
  public let answer: PendingAnswer?

  /// - Parameters:
  ///   - outcome: how it has ended.
  ///   - answer: the answer that may still come.
  public init(outcome: HandOverOutcome, answer: PendingAnswer? = nil) {
    self.outcome = outcome
    self.answer = answer
  }
}

/// What an application has not answered in time, and may answer yet.
public struct PendingAnswer: Sendable, Hashable {
  private let task: Task<HandOverOutcome, Never>
  private let loop: EventLoop

  /// Two are equal where they are about the same call.
  public static func == (a: PendingAnswer, b: PendingAnswer) -> Bool { a.task == b.task }

  /// Hashes the call.
  public func hash(into hasher: inout Hasher) { hasher.combine(task) }

  init(_ task: Task<HandOverOutcome, Never>, on loop: EventLoop) {
    self.task = task
    self.loop = loop
  }

  /// The last word: the answer, or the doubt where none has come within the launcher's limit, or the application has left.
  public var outcome: HandOverOutcome { get async { await task.value } }

  /// Waits once more.
  ///
  /// - Parameter patience: how long.
  /// - Returns: the last word, or that there is none yet.
  public func handOver(within patience: Duration) async -> HandOver {
    let (words, word) = AsyncStream.makeStream(of: HandOverOutcome?.self)
    Task { word.yield(await task.value) }
    let alarm = loop.schedule(after: patience) { word.yield(nil) }
    defer { alarm.cancel() }
    if case let outcome?? = await words.first(where: { _ in true }) { return HandOver(outcome: outcome) }
    return HandOver(outcome: .unknown(.unanswered(within: patience)), answer: self)
  }
}
