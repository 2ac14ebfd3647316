import Dispatch
public import EventLoop

/// The time that a simulated reader goes by: a test's own, or the machine's.
public protocol SimulatorClock: Sendable {
  /// Since some fixed moment; never goes back.
  var now: Duration { get }

  /// - Parameters:
  ///   - delay: from now on.
  ///   - loop: where `body` runs.
  ///   - body: what to do then, once.
  func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void)
}

/// The machine's monotonic clock.
public struct MachineClock: SimulatorClock {
  private let start = ContinuousClock.now

  /// A clock that starts at zero.
  public init() {}

  /// Since the clock was made.
  public var now: Duration { ContinuousClock.now - start }

  /// Runs `body` on `loop` after `delay`.
  ///
  /// By a strict dispatch timer: the modelled line takes 87 µs a byte, and the loop's own timers resolve a millisecond.
  public func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = delay.components
    let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(clamping: attoseconds / 1_000_000_000)
    let timer = StrictTimer()
    timer.source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
    // The handler keeps the timer alive until it has fired, and lets go of it then.
    timer.source.setEventHandler { @Sendable in
      timer.source.cancel()
      loop.execute(body)
    }
    timer.source.activate()
  }
}

/// `@unchecked` because `DispatchSourceTimer` is not marked Sendable; after its set-up it is only cancelled, which any
/// thread may do.
private final class StrictTimer: @unchecked Sendable {
  let source = DispatchSource.makeTimerSource(flags: .strict)
}
