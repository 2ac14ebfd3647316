import EventLoop

/// When to restart a reader process that ended: at once the first time, then after longer and longer pauses. A process
/// that lives for `goodConduct` resets the count.
struct RestartSchedule {
  typealias Instant = SuspendingClock.Instant

  /// A process that lives this long resets the count of failures.
  static let goodConduct = Duration.seconds(30)
  /// The pause before each restart; the last one repeats.
  static let pauses: [Duration] = [
    .zero, .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30),
  ]

  /// The most successions in `successionWindow` that are not failures: far more than a person causes by plugging in and
  /// out.
  static let mostSuccessions = 200
  static let successionWindow = Duration.seconds(60)

  private var startedAt: Instant?
  private var failures = 0
  /// Whether plugging in or unplugging a device may end the pause before the next start.
  private var mayHurry = true
  private var successions = WindowCount(within: successionWindow)

  mutating func started(at now: Instant) { startedAt = now }

  /// Returns the pause before the restart.
  mutating func ended(at now: Instant) -> Duration {
    if let startedAt, now - startedAt >= Self.goodConduct {
      failures = 0
      mayHurry = true
    }
    defer { failures += 1 }
    return Self.pauses[min(failures, Self.pauses.count - 1)]
  }

  /// Another process of the same program would fail as well, so the longest pause comes next.
  mutating func isHopeless() { failures = Self.pauses.count - 1 }

  /// A process ended only to make way for a successor, because its device was plugged in again. Returns true if this is
  /// not a failure; false after too many successions, which are one.
  mutating func maySucceed(at now: Instant) -> Bool {
    successions.next(at: now) <= Self.mostSuccessions
  }

  /// A pause has passed.
  mutating func paused() { mayHurry = true }

  /// A device was plugged in or unplugged during a pause. Returns whether this ends the pause. It does so once: a
  /// device that appears and disappears as fast as its process dies would otherwise cause endless restarts.
  mutating func hurry() -> Bool {
    defer { mayHurry = false }
    return mayHurry
  }
}
