import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct OpeningScheduleTests {
  let now = SuspendingClock.now

  /// The pauses after `count` failures; nil for a sleep.
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
  func `the first retry is immediate, and later ones become rarer`(
    _ isFollowed: Bool, _ wantsScanning: Bool, _ longest: Duration
  ) {
    var schedule = OpeningSchedule(isFollowed: isFollowed)
    #expect(schedule.step(wantsScanning: wantsScanning, at: now) == .open)
    let pauses = pauses(&schedule, wantsScanning: wantsScanning).compactMap { $0 }
    #expect(pauses.count == 20)
    #expect(pauses.first == .zero)
    #expect(pauses.sorted() == pauses)
    #expect(pauses.dropFirst().allSatisfy { $0 >= .milliseconds(100) })
    #expect(pauses.last == longest)
  }

  @Test func `an absent device that udev follows is not retried`() {
    var schedule = OpeningSchedule(isFollowed: true)
    #expect(pauses(&schedule, isAbsent: true).last == .some(nil))
    // The device is back, but another driver has it. The schedule retries, though rarely.
    schedule.failed("pn532_uart:/dev/x", isAbsent: false, at: now)
    #expect(schedule.step(wantsScanning: true, at: now) == .wait(OpeningSchedule.longestFollowed))
    schedule.retryAtOnce()
    #expect(schedule.step(wantsScanning: true, at: now) == .open)
  }

  @Test func `after a few failures the schedule sleeps if no tags are wanted and udev follows the device`() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in OpeningSchedule.pauses {
      #expect(schedule.step(wantsScanning: false, at: now + .seconds(9)) == .open)
      schedule.failed("pn532_uart:/dev/x", isAbsent: false, at: now)
    }
    #expect(schedule.step(wantsScanning: false, at: now + .seconds(9)) == .sleep)
    #expect(schedule.step(wantsScanning: true, at: now + .seconds(9)) == .open)
    schedule.retryAtOnce()
    #expect(schedule.step(wantsScanning: false, at: now) == .open)
    schedule.failed("pn532_uart:/dev/x", isAbsent: false, at: now)
    #expect(schedule.step(wantsScanning: false, at: now) == .open)
  }

  @Test(arguments: [(Duration.seconds(3), OpeningSchedule.Step.open), (.seconds(2), .wait(.seconds(3)))])
  func `a device is opened again at once only if it worked for long enough`(
    _ life: Duration, _ step: OpeningSchedule.Step
  ) {
    var schedule = OpeningSchedule(isFollowed: false)
    _ = pauses(&schedule)
    schedule.lost("pn532_uart:/dev/x", openedAt: now, at: now + life)
    #expect(schedule.step(wantsScanning: true, at: now + life) == step)
  }

  @Test func `the schedule does not sleep while a field may be on`() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in 0..<20 { schedule.failed("pn532_uart:/dev/x", at: now) }
    #expect(schedule.step(wantsScanning: false, at: now) == .sleep)
    #expect(
      schedule.step(wantsScanning: false, isFieldInDoubt: true, at: now) == .wait(OpeningSchedule.longestFollowed))
  }

  // MARK: Readers with a port that libnfc resets

  @Test func `resets of a port become rarer, and stop if no tags are wanted`() {
    var schedule = OpeningSchedule(isFollowed: true)
    var pauses: [Duration] = []
    for _ in 0..<8 {
      schedule.failed("acr122_usb:001:004", at: now)
      if case .wait(let pause) = schedule.step(wantsScanning: true, at: now) { pauses.append(pause) }
    }
    #expect(pauses == [1, 2, 5, 10, 30, 30, 30].map { .seconds($0) })
    // If no tags are wanted, the port is not reset.
    #expect(schedule.step(wantsScanning: false, at: now) == .sleep)
  }

  @Test func `events reset a port at most once a second`() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in 0..<10 {
      schedule.failed("acr122_usb:001:004", at: now)
      schedule.retryAtOnce()
      #expect(schedule.step(wantsScanning: true, at: now) == .wait(OpeningSchedule.resetInterval))
      #expect(schedule.step(wantsScanning: true, at: now + OpeningSchedule.resetInterval) == .open)
    }
    // The last attempt found no device to reset. Now one is plugged in.
    schedule.failed(nil, at: now)
    schedule.retryAtOnce()
    #expect(schedule.step(wantsScanning: true, at: now) == .open)
  }

  @Test(arguments: [
    "pn532_uart:/dev/ttyUSB0", "pn53x_usb:001:004", "acr122s:/dev/ttyS0", "acr122_pcsc:x", "pn532_uart:/dev/acr122_usb",
    "",
  ])
  func `other devices are not treated as if libnfc resets their port`(device: String) {
    #expect(!OpeningSchedule.resetsPort(of: device))
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in 0..<20 { schedule.failed(device, at: now) }
    #expect(schedule.step(wantsScanning: true, at: now) == .wait(OpeningSchedule.longestFollowed))
    #expect(schedule.advice(on: device) == "")
  }

  @Test func `the user is advised to unplug a reader that resets do not restart`() {
    var schedule = OpeningSchedule(isFollowed: true)
    for _ in OpeningSchedule.pausesAfterReset {
      #expect(schedule.advice(on: "acr122_usb:001:004") == "")
      schedule.failed("acr122_usb:001:004", at: now)
    }
    #expect(schedule.advice(on: "acr122_usb:001:004").contains("unplug it"))
    schedule.retryAtOnce()
    #expect(schedule.advice(on: "acr122_usb:001:004") == "")
  }
}

@Suite struct LastDeviceTests {
  private var last = LastDevice()
  private let first = "pn532_uart:/dev/ttyUSB0"
  private let second = "pn532_uart:/dev/ttyUSB1"

  @Test mutating func `a device that is opened again has its field off`() {
    #expect(last.open(first) == false)
    last.failed(fieldOf: first)
    #expect(last.leftOn == first)
    #expect(last.open(first) == false)
    #expect(last.leftOn == nil && last.known == first)
  }

  /// libnfc lists only devices that answer. If a device stops answering with its field on, libnfc may open another one.
  @Test mutating func `opening another device does not switch off the field of the first`() {
    #expect(last.open(first) == false)
    last.failed(fieldOf: first)
    #expect(last.open(second) == true)
    #expect(last.leftOn == first)
    // The second device is now the current one, no matter what happens to the first.
    #expect(last.open(second) == false)
    #expect(last.open(first) == true)
    #expect(last.leftOn == nil)
  }

  @Test mutating func `a device that was never open may have its field on`() {
    last.failed(fieldOf: first)
    #expect(last.known == first)
    #expect(last.open(first) == false)
    #expect(last.leftOn == nil)
  }

  @Test mutating func `an unplugged device has no field`() {
    _ = last.open(first)
    last.failed(fieldOf: first)
    last.areAway()
    #expect(last.leftOn == nil && last.known == nil)
    #expect(last.open(second) == false)
  }
}
