package import EventLoop

/// The clock of a simulated reader: a test's own, or the machine's.
package protocol SimulatorClock: Sendable {
  /// The time since a fixed moment. Never goes back.
  var now: Duration { get }

  /// Runs `body` once on the loop, after this delay from now.
  func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void)
}

/// The machine's monotonic clock.
package struct MachineClock: SimulatorClock {
  private let start = ContinuousClock.now

  /// A clock that starts at zero.
  package init() {}

  /// The time since the clock was created.
  package var now: Duration { ContinuousClock.now - start }

  /// Runs `body` on `loop` after `delay`. The modelled line takes 87 µs per byte, and the loop's timers are as exact.
  package func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
    loop.schedule(after: delay, body)
  }
}
