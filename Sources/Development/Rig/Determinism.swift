import EventLoop

/// A clock that a test advances by hand.
package final class ManualClock: Clock {
  /// An instant, measured from the clock's beginning.
  package struct Instant: InstantProtocol {
    fileprivate let offset: Duration
    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var number = 0
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
  }

  private let state = Locked(State())
  /// The duration of each sleep as it begins; for one consumer.
  package let pauses: AsyncStream<Duration>
  private let continuation: AsyncStream<Duration>.Continuation

  package init() { (pauses, continuation) = AsyncStream.makeStream() }

  /// The current instant, which only `advance(by:)` changes.
  package var now: Instant { state.withLock(\.now) }
  /// Zero: any duration is possible.
  package var minimumResolution: Duration { .zero }

  /// Advances the clock, and wakes the sleepers that are due.
  package func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Waits until the clock reaches the deadline, or the task is cancelled.
  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let pause = state.withLock { state -> Duration? in
          guard deadline > state.now, !Task.isCancelled else { return nil }
          state.sleepers[number] = (deadline, continuation)
          return state.now.duration(to: deadline)
        }
        // A cancellation is never lost. If the handler ran before the sleeper was added, `isCancelled` was true above.
        // Otherwise the handler finds the sleeper.
        guard let pause else { return continuation.resume(with: Result { try Task.checkCancellation() }) }
        self.continuation.yield(pause)
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

/// SplitMix64. The same seed gives the same random numbers in every run.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Behaves like a peer that never replies: waits until the task is cancelled. Then it throws `CancellationError`.
package func hang() async throws {
  let (never, _) = AsyncStream.makeStream(of: Void.self)
  for await _ in never {}
  try Task.checkCancellation()
}
