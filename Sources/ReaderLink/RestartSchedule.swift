import EventLoop

/// When a reader process that ended is started again: at once the first time, then ever later, and after a while of good conduct
/// as if nothing had been.
struct RestartSchedule {
  typealias Instant = SuspendingClock.Instant

  /// A process that lived this long starts the count of failures anew.
  static let goodConduct = Duration.seconds(30)
  /// The pause before each restart; the last one repeats.
  static let pauses: [Duration] = [
    .zero, .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30),
  ]

  /// How many processes may end for another in `successionWindow` as if that were nothing: far more than a person plugs in and out.
  static let mostSuccessions = 200
  static let successionWindow = Duration.seconds(60)

  private var startedAt: Instant?
  private var failures = 0
  /// Whether what was plugged in or unplugged may end the pause before the next start.
  private var mayHurry = true
  private var successions = WindowCount(within: successionWindow)

  mutating func started(at now: Instant) { startedAt = now }

  /// - Returns: how long until it is started again.
  mutating func ended(at now: Instant) -> Duration {
    if let startedAt, now - startedAt >= Self.goodConduct {
      failures = 0
      mayHurry = true
    }
    defer { failures += 1 }
    return Self.pauses[min(failures, Self.pauses.count - 1)]
  }

  /// Another process of the same program would do no better: the longest pause comes next.
  mutating func isHopeless() { failures = Self.pauses.count - 1 }

  /// A process has ended only for another, because its device was plugged in anew.
  ///
  /// - Returns: whether that counts as nothing. One that does so without end is one that has failed.
  mutating func maySucceed(at now: Instant) -> Bool {
    successions.next(at: now) <= Self.mostSuccessions
  }

  /// A pause went by.
  mutating func paused() { mayHurry = true }

  /// Something was plugged in or unplugged during a pause.
  ///
  /// - Returns: whether it ends the pause. Only once: a device that comes and goes as fast as its process dies would have one
  ///   started without end.
  mutating func hurry() -> Bool {
    defer { mayHurry = false }
    return mayHurry
  }
}
