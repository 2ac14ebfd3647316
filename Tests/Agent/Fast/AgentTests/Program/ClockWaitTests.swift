import Testing

@testable import Agent

struct ClockWaitTests {
  @Test func `a wait for work that never ends stops at the limit`() async {
    let clock = RecordingClock()
    let (never, _) = AsyncStream.makeStream(of: Void.self)
    #expect(await clock.wait(atMost: .seconds(5)) { for await _ in never {} } == false)
    #expect(clock.pauses == [.seconds(5)])
  }

  @Test func `a wait ends with the work`() async {
    #expect(await ContinuousClock().wait(atMost: .seconds(3600)) {})
  }
}
