import ReaderProtocol
import Testing

@Suite struct ReaderTimingTests {
  /// The slowest command of each driver in milliseconds, from libnfc 1.8.0. Each step waits for up to 700 ms. With an
  /// ACR122U there are three steps and four seconds, and with `pn53x_usb` there are four steps and one second.
  static let devices: [(String?, Int)] = [
    ("pn532_uart:/dev/ttyUSB0", 1400), ("pn53x_usb:001:004", 3800), ("pn53x_usb", 3800), ("acr122_usb:001:004", 6100),
    ("acr122_usb", 6100), ("arygon:/dev/ttyS0", 1400), (nil, 6100),
    // Not a command, but the longest time between two looks at the link: another thread makes the calls.
    ("pcsc:ACS ACR122U PICC Interface 00 00", 1000),
  ]

  /// If a promise were shorter than libnfc's command, the daemon would kill a working process.
  @Test(arguments: devices)
  func `a promise covers the slowest command of the driver and is limited`(device: String?, slowest: Int) {
    let timing = ReaderTiming(device: device)
    #expect(timing.command >= .milliseconds(slowest))
    // Before the command there may be a heartbeat that is 400 ms old and a sleep of 200 ms.
    #expect(timing.promise >= .milliseconds(slowest + 600))
    // The daemon cuts a longer promise.
    #expect(timing.promise + ReaderTiming.longestPause <= ReaderTiming.longestPromise)
    #expect(timing.opening <= ReaderTiming.longestPromise)
    #expect(timing.obedience > timing.command)
    #expect(timing.command + timing.closing < ReaderTiming.stop)
  }

  @Test func `the time limits depend on the driver`() {
    let acr122 = ReaderTiming(device: "acr122_usb:001:004")
    #expect(ReaderTiming(device: nil) == acr122)
    #expect(ReaderTiming(device: "acr122s:/dev/ttyS0") == ReaderTiming(device: "pn532_uart:/dev/ttyS0"))
    #expect(ReaderTiming(device: "pn532_uart:/dev/ttyS0").promise == .seconds(2))
    let pcsc = ReaderTiming(device: "pcsc:ACS ACR122U PICC Interface 00 00")
    #expect([pcsc.command, pcsc.opening, pcsc.closing] == [.seconds(1), .seconds(5), .seconds(2)])
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
