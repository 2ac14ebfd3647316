/// The pause before the next attempt: the shortest first, doubled each time, up to the longest. Pure.
public struct Backoff: Sendable, Hashable {
  private let shortest: Duration
  private let longest: Duration
  private var upcoming: Duration

  /// - Parameters:
  ///   - shortest: the first pause.
  ///   - longest: no pause is longer.
  public init(from shortest: Duration, to longest: Duration) {
    (self.shortest, self.longest, upcoming) = (shortest, longest, shortest)
  }

  /// The pause before the next attempt.
  public mutating func next() -> Duration {
    defer { upcoming = min(upcoming * 2, longest) }
    return upcoming
  }

  /// Starts again with the shortest pause.
  public mutating func reset() { upcoming = shortest }

  /// Starts again with the shortest pause if a success lasted for the longest pause. So a peer that accepts and then
  /// fails each time is not retried in a tight loop.
  ///
  /// - Parameter lifetime: how long the success lasted.
  public mutating func succeeded(for lifetime: Duration) {
    if lifetime >= longest { reset() }
  }
}

/// Counts events within a window of time that starts with the first event. Used for events that another party can cause
/// without limit.
///
/// Pure: the caller passes the time. The first event after the end of a window starts a new one.
public struct WindowCount: Sendable, Hashable {
  /// The length of a window.
  public let window: Duration
  private var count = 0
  private var end: SuspendingClock.Instant?

  /// - Parameter window: the length of a window.
  public init(within window: Duration) { self.window = window }

  /// Counts one more event.
  ///
  /// - Parameter now: the time of the event.
  /// - Returns: the number of events in this window, including this one.
  public mutating func next(at now: SuspendingClock.Instant) -> Int {
    if end.map({ now >= $0 }) ?? true { (count, end) = (0, now + window) }
    count += 1
    return count
  }
}
