import ReaderLink
import Testing

@Suite struct ReaderTimingTests {
  static let devices: [String?] = [
    "pn532_uart:/dev/ttyUSB0", "pn53x_usb:001:004", "pn53x_usb", "acr122_usb:001:004", "acr122_usb",
    "arygon:/dev/ttyS0", nil,
  ]

  /// If a promise were shorter than libnfc's command, the daemon would kill a working process.
  @Test(arguments: devices) func `a promise covers the slowest command of the driver and is limited`(device: String?) {
    let timing = ReaderTiming(device: device)
    #expect(timing.promise >= ReaderTiming.beatInterval + ReaderTiming.shortSleep + timing.command)
    #expect(timing.command >= ReaderTiming.longestWait * 2)
    // The daemon cuts a longer promise.
    #expect(timing.promise + ReaderTiming.longestPause <= ReaderTiming.longestPromise)
    #expect(timing.opening <= ReaderTiming.longestPromise)
    #expect(timing.obedience > timing.command)
    #expect(timing.command + timing.closing < ReaderTiming.stop)
  }

  @Test func `the time limits depend on the driver`() {
    let acr122 = ReaderTiming(device: "acr122_usb:001:004")
    // Two seconds for an answer in two parts, and two to cancel a failed command.
    #expect(acr122.command >= .seconds(4) + ReaderTiming.longestWait * 2)
    #expect(ReaderTiming(device: nil) == acr122)
    #expect(ReaderTiming(device: "acr122s:/dev/ttyS0") == ReaderTiming(device: "pn532_uart:/dev/ttyS0"))
    #expect(ReaderTiming(device: "pn532_uart:/dev/ttyS0").promise == .seconds(2))
  }

  @Test func `the alarm after a signal comes later than any promise`() {
    #expect(Duration.seconds(ReaderTiming.secondsAfterSignal) > ReaderTiming.longestPromise)
    #expect(Duration.seconds(ReaderTiming.secondsAfterSignal) > ReaderTiming.stop)
    // Whole seconds, at least the promise, and a moment more because the machine may be busy.
    #expect(ReaderTiming.secondsUntilAlarm(.seconds(6)) == 7)
    #expect(ReaderTiming.secondsUntilAlarm(.seconds(12)) == 13)
    #expect(ReaderTiming.secondsUntilAlarm(ReaderTiming(device: "acr122_usb").promise) == 8)
    #expect(ReaderTiming.secondsUntilAlarm(.milliseconds(1600)) == 2)
    #expect(ReaderTiming.secondsUntilAlarm(.milliseconds(1601)) == 3)
  }
}
