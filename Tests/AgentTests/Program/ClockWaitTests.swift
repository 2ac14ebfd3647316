import Testing

@testable import Agent

struct ClockWaitTests {
  @Test func `work that never ends is waited for up to the limit`() async {
    let clock = RecordingClock()
    let (never, _) = AsyncStream.makeStream(of: Void.self)
    #expect(await clock.wait(atMost: .seconds(5)) { for await _ in never {} } == false)
    #expect(clock.pauses == [.seconds(5)])
  }

  @Test func `work that ends is not waited for any longer`() async {
    #expect(await ContinuousClock().wait(atMost: .seconds(3600)) {})
  }
}
