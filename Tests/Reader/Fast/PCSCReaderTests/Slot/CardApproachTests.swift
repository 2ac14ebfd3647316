import Testing

@testable import PCSCReader

@Suite struct CardApproachTests {
  let now = SuspendingClock.now

  @Test func `a card is connected to at once, unless it has no power`() {
    var approach = CardApproach()
    #expect(approach.notBefore == nil)
    approach.awaitPower(at: now)
    #expect(approach.notBefore == now + .milliseconds(200))
    approach.hurry()
    #expect(approach.notBefore == nil)
  }

  @Test func `refusals and failures of power are counted apart`() {
    var approach = CardApproach()
    let refusals = [approach.wasRefused(at: now), approach.wasRefused(at: now), approach.wasRefused(at: now)]
    #expect(refusals == [true, true, false])
    let failures = [approach.wasMute(at: now), approach.wasMute(at: now)]
    #expect(failures == [true, false])
  }
}
