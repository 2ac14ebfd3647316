import Testing

@testable import Reader

@Suite struct OpeningScheduleTests {
  let now = SuspendingClock.now

  @Test func triesAtOnceThenEverMoreRarelyAndNeverLaterThanAPersonWouldNotice() {
    var schedule = OpeningSchedule(isTold: true)
    #expect(schedule.step(wantsScanning: true, at: now) == .open)
    var pauses: [Duration] = []
    for _ in 0..<20 {
      schedule.failed(at: now)
      switch schedule.step(wantsScanning: true, at: now) {
      case .open: pauses.append(.zero)
      case .wait(let pause):
        pauses.append(pause)
        #expect(schedule.step(wantsScanning: true, at: now + pause) == .open)
      case .sleep: Issue.record("it sleeps")
      }
    }
    #expect(pauses.first == .zero)
    #expect(pauses.sorted() == pauses)
    #expect(pauses.dropFirst().allSatisfy { $0 >= .milliseconds(100) })
    #expect(pauses.last == .milliseconds(1500))
  }

  @Test func sleepsAfterAFewTriesWhereNobodyWantsTags() {
    var schedule = OpeningSchedule(isTold: true)
    for _ in OpeningSchedule.pauses {
      #expect(schedule.step(wantsScanning: false, at: now + .seconds(9)) == .open)
      schedule.failed(at: now)
    }
    #expect(schedule.step(wantsScanning: false, at: now + .seconds(9)) == .sleep)
    #expect(schedule.step(wantsScanning: true, at: now + .seconds(9)) == .open)
    schedule.hurry()
    #expect(schedule.step(wantsScanning: false, at: now) == .open)
    schedule.failed(at: now)
    #expect(schedule.step(wantsScanning: false, at: now) == .open)
  }

  @Test func looksForEverWhereNobodyWouldTell() {
    var schedule = OpeningSchedule(isTold: false)
    for _ in 0..<20 { schedule.failed(at: now) }
    #expect(schedule.step(wantsScanning: false, at: now) == .wait(.milliseconds(1500)))
  }

  @Test(arguments: [(Duration.seconds(3), OpeningSchedule.Step.open), (.seconds(2), .wait(.milliseconds(1500)))])
  func aDeviceThatWorkedIsOpenedAgainAtOnce(_ life: Duration, _ step: OpeningSchedule.Step) {
    var schedule = OpeningSchedule(isTold: true)
    for _ in 0..<20 { schedule.failed(at: now) }
    schedule.lost(openedAt: now, at: now + life)
    #expect(schedule.step(wantsScanning: true, at: now + life) == step)
  }
}
