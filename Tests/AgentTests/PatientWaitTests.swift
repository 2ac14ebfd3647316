import Testing

@testable import Agent

struct PatientWaitTests {
  @Test func `what never ends is waited for as long as it may take, and no longer`() async {
    let clock = RecordingClock()
    let (never, _) = AsyncStream.makeStream(of: Void.self)
    #expect(await PatientWait(clock: clock).run(atMost: .seconds(5)) { for await _ in never {} } == false)
    #expect(clock.pauses == [.seconds(5)])
  }

  @Test func `what ends is not waited for any longer`() async {
    #expect(await PatientWait(clock: ContinuousClock()).run(atMost: .seconds(3600)) {})
  }
}
