import Testing

@testable import EventLoop

@Suite struct BackoffTests {
  private var backoff = Backoff(from: .milliseconds(50), to: .seconds(5))

  @Test mutating func `the pause doubles up to the longest`() {
    let pauses = (0..<9).map { _ in backoff.next() }
    #expect(pauses.prefix(4) == [.milliseconds(50), .milliseconds(100), .milliseconds(200), .milliseconds(400)])
    #expect(pauses.suffix(2) == [.seconds(5), .seconds(5)])
    backoff.reset()
    #expect(backoff.next() == .milliseconds(50))
  }

  @Test mutating func `only a success that lasted for the longest pause resets it`() {
    _ = backoff.next()
    backoff.succeeded(for: .seconds(1))
    #expect(backoff.next() == .milliseconds(100))
    backoff.succeeded(for: .seconds(5))
    #expect(backoff.next() == .milliseconds(50))
  }
}

@Suite struct WindowCountTests {
  @Test func `a window starts with its first event, not at a fixed time`() {
    var count = WindowCount(within: .seconds(60))
    let start = SuspendingClock.now
    #expect(count.next(at: start) == 1)
    #expect(count.next(at: start + .seconds(59)) == 2)
    #expect(count.next(at: start + .seconds(60)) == 1)
    // After a pause the next window starts with the next event.
    #expect(count.next(at: start + .seconds(500)) == 1)
    #expect(count.next(at: start + .seconds(559)) == 2)
    #expect(count.next(at: start + .seconds(560)) == 1)
  }
}
