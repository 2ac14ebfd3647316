import Dispatch
public import EventLoop

/// The clock of a simulated reader: a test's own, or the machine's.
public protocol SimulatorClock: Sendable {
  /// The time since a fixed moment. Never goes back.
  var now: Duration { get }

  /// - Parameters:
  ///   - delay: the time from now on.
  ///   - loop: the loop that runs `body`.
  ///   - body: the code to run once.
  func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void)
}

/// The machine's monotonic clock.
public struct MachineClock: SimulatorClock {
  private let start = ContinuousClock.now

  /// A clock that starts at zero.
  public init() {}

  /// The time since the clock was created.
  public var now: Duration { ContinuousClock.now - start }

  /// Runs `body` on `loop` after `delay`.
  ///
  /// Uses a strict dispatch timer: the modelled line takes 87 µs per byte, and the loop's own timers resolve only 1 ms.
  public func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = delay.components
    let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(clamping: attoseconds / 1_000_000_000)
    let timer = StrictTimer()
    timer.source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
    // The handler retains the timer until it fires, and releases it then.
    timer.source.setEventHandler { @Sendable in
      timer.source.cancel()
      loop.execute(body)
    }
    timer.source.activate()
  }
}

/// `@unchecked` because `DispatchSourceTimer` is not marked Sendable. After its set-up the timer is only cancelled,
/// which any thread may do.
private final class StrictTimer: @unchecked Sendable {
  let source = DispatchSource.makeTimerSource(flags: .strict)
}
