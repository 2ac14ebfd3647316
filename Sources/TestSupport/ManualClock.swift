import EventLoop

/// A clock that a test moves by hand.
public final class ManualClock: Clock {
  /// So long after the beginning.
  public struct Instant: InstantProtocol {
    fileprivate let offset: Duration
    /// So much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// How much later the other one is.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Whether the first is the earlier one.
    public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var number = 0
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
  }

  private let state = Locked(State())
  /// How long each sleep is to be, as it begins; for one consumer.
  public let pauses: AsyncStream<Duration>
  private let continuation: AsyncStream<Duration>.Continuation

  /// At its beginning.
  public init() { (pauses, continuation) = AsyncStream.makeStream() }

  /// As far as it was moved.
  public var now: Instant { state.withLock(\.now) }
  /// Any.
  public var minimumResolution: Duration { .zero }

  /// Wakes whoever has slept for as long as that.
  ///
  /// - Parameter duration: how far it is moved.
  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Waits until it was moved that far, or the task is cancelled.
  ///
  /// - Parameters:
  ///   - deadline: when to wake.
  ///   - tolerance: none is needed.
  /// - Throws: `CancellationError`.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
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
        // Cancelled between the look and here: the handler has found nobody, or will find this one.
        guard let pause else { return continuation.resume(with: Result { try Task.checkCancellation() }) }
        self.continuation.yield(pause)
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
