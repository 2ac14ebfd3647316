@testable import ReaderLink

/// A supervision and a clock that is moved by hand.
struct SupervisionRig {
  var supervision = ReaderSupervision(ReaderTiming(device: "pn532_uart:/dev/x"))
  var now = SuspendingClock.now

  mutating func callAsFunction(_ event: ReaderSupervision.Event) -> [ReaderSupervision.Action] {
    supervision.handle(event, at: now)
  }

  mutating func advance(_ duration: Duration) -> [ReaderSupervision.Action] {
    now += duration
    return supervision.handle(.tick, at: now)
  }

  /// What is left until the deadline.
  var remaining: Duration? { supervision.deadline.map { now.duration(to: $0) } }
}
