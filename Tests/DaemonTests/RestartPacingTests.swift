import Testing

@testable import Daemon

@Suite struct RestartPacingTests {
  @Test func whatIsAskedForTooSoonIsDoneOnceAMomentLater() {
    var pacing = RestartPacing()
    var now = SuspendingClock.now
    #expect(pacing.ask(at: now) == .now)
    now += .milliseconds(50)
    #expect(pacing.ask(at: now) == .later(.milliseconds(150)))
    for _ in 0..<1000 { #expect(pacing.ask(at: now) == .together) }
    now += .milliseconds(150)
    pacing.isDue(at: now)
    #expect(pacing.ask(at: now) == .later(RestartPacing.interval))
    now += RestartPacing.interval
    pacing.isDue(at: now)
    now += RestartPacing.interval
    #expect(pacing.ask(at: now) == .now)
  }
}
