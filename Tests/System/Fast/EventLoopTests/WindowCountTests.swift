import EventLoop
import Testing

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
