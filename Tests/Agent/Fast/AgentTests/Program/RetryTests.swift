import Bus
import EventLoop
import Testing

@testable import Agent

struct RetryTests {
  @Test func `failed work is repeated after growing pauses until it succeeds`() async {
    let clock = RecordingClock()
    let attempts = Locked(0)
    let told = Locked<[String]>([])
    await Retry(clock: clock).run { () async throws(BusError) in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      if attempt < 10 { throw .failed("\(attempt)") }
    } failed: { error in
      told.withLock { $0.append(error.message) }
    }
    #expect(attempts.withLock(\.self) == 10)
    #expect(told.withLock(\.self) == (1...9).map(String.init))
    #expect(clock.pauses.prefix(3) == [.milliseconds(250), .milliseconds(500), .seconds(1)])
    #expect(clock.pauses.suffix(2) == [.seconds(30), .seconds(30)])
  }
}

/// A clock on which every pause ends at once and is recorded.
final class RecordingClock: Clock {
  struct Instant: InstantProtocol {
    let offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private let slept = Locked<[Duration]>([])
  var pauses: [Duration] { slept.withLock(\.self) }
  var now: Instant { Instant(offset: pauses.reduce(.zero, +)) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let pause = now.duration(to: deadline)
    slept.withLock { $0.append(pause) }
  }
}
