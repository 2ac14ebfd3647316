import Testing

@testable import Reader

@Suite struct OpeningScheduleTests {
  let now = SuspendingClock.now

  /// The pauses after each of so many failures.
  func pauses(
    _ schedule: inout OpeningSchedule, wantsScanning: Bool = true, isAbsent: Bool = false, count: Int = 20
  ) -> [Duration?] {
    (0..<count).map { _ in
      schedule.failed("pn532_uart:/dev/x", isAbsent: isAbsent, at: now)
      switch schedule.step(wantsScanning: wantsScanning, at: now) {
      case .open: return .zero
      case .wait(let pause):
        #expect(schedule.step(wantsScanning: wantsScanning, at: now + pause) == .open)
        return pause
      case .sleep: return nil
      }
    }
  }

  @Test(arguments: [(true, true, Duration.seconds(30)), (false, true, .seconds(3)), (false, false, .seconds(30))])
  func triesAtOnceThenEverMoreRarely(_ isFollowed: Bool, _ wantsScanning: Bool, _ longest: Duration) {
    var schedule = OpeningSchedule(isFollowed: isFollowed)
    #expect(schedule.step(wantsScanning: wantsScanning, at: now) == .open)
    let pauses = pauses(&schedule, wantsScanning: wantsScanning).compactMap { $0 }
    #expect(pauses.count == 20)
    #expect(pauses.first == .zero)
    #expect(pauses.sorted() == pauses)
    #expect(pauses.dropFirst().allSatisfy { $0 >= .milliseconds(100) })
    #expect(pauses.last == longest)
  }

  @Test func whatUdevTellsIsNotAskedFor() {
    var schedule = OpeningSchedule(isFollowed: true)
    #expect(pauses(&schedule, isAbsent: true).last == .some(nil))
    // It is there again, and held by another driver: that is tried, though rarely.
    schedule.failed("pn532_uart:/dev/x", isAbsent: false, at: now)
    #expect(schedule.step(wantsScanning: true, at: now) == .wait(OpeningSchedule.longestFollowed))
    schedule.hurry()
    #expect(schedule.step(wantsScanning: true, at: now) == .open)
  }

  @Test func sleepsAfterAFewTriesWhereNobodyWantsTagsAndSomebodyTells() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in OpeningSchedule.pauses {
      #expect(schedule.step(wantsScanning: false, at: now + .seconds(9)) == .open)
      schedule.failed("pn532_uart:/dev/x", isAbsent: false, at: now)
    }
    #expect(schedule.step(wantsScanning: false, at: now + .seconds(9)) == .sleep)
    #expect(schedule.step(wantsScanning: true, at: now + .seconds(9)) == .open)
    schedule.hurry()
    #expect(schedule.step(wantsScanning: false, at: now) == .open)
    schedule.failed("pn532_uart:/dev/x", isAbsent: false, at: now)
    #expect(schedule.step(wantsScanning: false, at: now) == .open)
  }

  @Test(arguments: [(Duration.seconds(3), OpeningSchedule.Step.open), (.seconds(2), .wait(.seconds(3)))])
  func aDeviceThatWorkedIsOpenedAgainAtOnce(_ life: Duration, _ step: OpeningSchedule.Step) {
    var schedule = OpeningSchedule(isFollowed: false)
    _ = pauses(&schedule)
    schedule.lost("pn532_uart:/dev/x", openedAt: now, at: now + life)
    #expect(schedule.step(wantsScanning: true, at: now + life) == step)
  }

  @Test func aFieldThatMayBeOnIsNotSleptOver() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in 0..<20 { schedule.failed("pn532_uart:/dev/x", at: now) }
    #expect(schedule.step(wantsScanning: false, at: now) == .sleep)
    #expect(
      schedule.step(wantsScanning: false, isFieldInDoubt: true, at: now) == .wait(OpeningSchedule.longestFollowed))
  }

  // MARK: Readers whose port is reset

  @Test func aPortIsResetEverMoreRarelyAndNotWithoutEnd() {
    var schedule = OpeningSchedule(isFollowed: true)
    var pauses: [Duration] = []
    for _ in 0..<8 {
      schedule.failed("acr122_usb:001:004", at: now)
      if case .wait(let pause) = schedule.step(wantsScanning: true, at: now) { pauses.append(pause) }
    }
    #expect(pauses == [1, 2, 5, 10, 30, 30, 30].map { .seconds($0) })
    // Where nobody wants tags it is left alone.
    #expect(schedule.step(wantsScanning: false, at: now) == .sleep)
  }

  @Test func noEventResetsAPortMoreThanOnceASecond() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in 0..<10 {
      schedule.failed("acr122_usb:001:004", at: now)
      schedule.hurry()
      #expect(schedule.step(wantsScanning: true, at: now) == .wait(OpeningSchedule.resetInterval))
      #expect(schedule.step(wantsScanning: true, at: now + OpeningSchedule.resetInterval) == .open)
    }
    // Nothing was there to be reset, and now it is plugged in.
    schedule.failed(nil, at: now)
    schedule.hurry()
    #expect(schedule.step(wantsScanning: true, at: now) == .open)
  }

  @Test(arguments: [
    "pn532_uart:/dev/ttyUSB0", "pn53x_usb:001:004", "acr122s:/dev/ttyS0", "acr122_pcsc:x", "pn532_uart:/dev/acr122_usb",
    "",
  ])
  func noOtherReaderIsTakenForOne(device: String) {
    #expect(!OpeningSchedule.resetsPort(of: device))
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in 0..<20 { schedule.failed(device, at: now) }
    #expect(schedule.step(wantsScanning: true, at: now) == .wait(OpeningSchedule.longestFollowed))
    #expect(schedule.advice(on: device) == "")
  }

  @Test func aReaderThatNoResetBringsBackIsToBeUnplugged() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in OpeningSchedule.pausesAfterReset {
      #expect(schedule.advice(on: "acr122_usb:001:004") == "")
      schedule.failed("acr122_usb:001:004", at: now)
    }
    #expect(schedule.advice(on: "acr122_usb:001:004").contains("unplug it"))
    schedule.hurry()
    #expect(schedule.advice(on: "acr122_usb:001:004") == "")
  }
}
