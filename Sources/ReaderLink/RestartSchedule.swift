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

  private var startedAt: Instant?
  private var failures = 0
  /// Whether what was plugged in or unplugged may end the pause before the next start.
  private var mayHurry = true

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
