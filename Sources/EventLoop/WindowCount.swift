/// How often something has happened within a window of time that begins with the first time: what somebody else can cause without end
/// is counted so.
///
/// Pure. It is told the time, and forgets a window when it is asked for the first time after it.
public struct WindowCount: Sendable, Hashable {
  /// How long a window is.
  public let window: Duration
  private var count = 0
  private var end: SuspendingClock.Instant?

  /// - Parameter window: how long a window is.
  public init(within window: Duration) { self.window = window }

  /// It happens once more.
  ///
  /// - Parameter now: when.
  /// - Returns: how often it has happened in this window, this time among them.
  public mutating func next(at now: SuspendingClock.Instant) -> Int {
    if end.map({ now >= $0 }) ?? true { (count, end) = (0, now + window) }
    count += 1
    return count
  }
}
