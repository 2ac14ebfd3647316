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
