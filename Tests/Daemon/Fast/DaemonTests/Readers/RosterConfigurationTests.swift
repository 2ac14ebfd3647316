import Testing

@testable import Daemon

/// Which readers appear, disappear and stay when the configuration names other devices.
@Suite struct RosterConfigurationTests {
  private static let first = Samples.acr122()
  private static let second = Samples.acr122("/sys/devices/b", number: 7)

  /// The readers as clients see them: the device of each number.
  private static func shown(_ roster: ReaderRoster) -> [Int: String?] { roster.readers.mapValues(\.device) }

  @Test func `a reader that is named before and after stays untouched`() {
    var roster = ReaderRoster.started(["pn532_uart:/dev/a", "pn532_uart:/dev/b"], hasUdev: false)
    roster.handle(
      .configured(["pn532_uart:/dev/b", "pn532_uart:/dev/c"]),
      expecting: [.hide(0), .stop(0)] + Samples.appears(2, "pn532_uart:/dev/c"))
    #expect(Self.shown(roster) == [1: "pn532_uart:/dev/b", 2: "pn532_uart:/dev/c"])
    roster.handle(.configured(["pn532_uart:/dev/b", "pn532_uart:/dev/c"]), expecting: [])
    // A different order alone causes no action.
    roster.handle(.configured(["pn532_uart:/dev/c", "pn532_uart:/dev/b"]), expecting: [])
  }

  @Test func `a found reader that is named now stays, and the others go`() {
    var roster = ReaderRoster.started([], Self.first, Self.second)
    roster.handle(.configured(["acr122_usb:001:004"]), expecting: [.hide(1), .stop(1)])
    // Now it is a configured reader: it stays when it is unplugged.
    roster.handle(.device(.removed(path: Self.first.path)), expecting: [.away(0, true), .look(0)])
    #expect(Self.shown(roster) == [0: "acr122_usb:001:004"])
  }

  @Test func `if no reader is named any more, the plugged-in readers appear`() {
    var roster = ReaderRoster.started(["acr122_usb:001:004", "pn532_uart:/dev/a"], Self.first, Self.second)
    #expect(roster.listing == .nothing)
    roster.handle(.configured([]), expecting: [.hide(1), .stop(1)] + Samples.appears(2, "acr122_usb:001:007"))
    #expect(roster.listing == .named)
    roster.handle(.device(.removed(path: Self.first.path)), expecting: [.hide(0), .stop(0)])
    let other = "pn532_uart:/dev/a"
    roster.handle(.listed([other]), expecting: Samples.appears(3, other))
  }

  @Test func `a device that another name held becomes free`() {
    // A driver name first, then also the exact name. As at a start, the exact name takes the device.
    var roster = ReaderRoster.started(["acr122_usb"], Self.first)
    let started = ReaderRoster.Action.start(1, device: "acr122_usb:001:004")
    let actions = roster.handle(.configured(["acr122_usb", "acr122_usb:001:004"]))
    #expect(actions.prefix(2) == [.hide(0), .stop(0)])
    #expect(actions.contains(started))
    var fresh = ReaderRoster.started(["acr122_usb", "acr122_usb:001:004"], Self.first)
    #expect(Set(roster.readers.values) == Set(fresh.readers.values))
    // Two names of one file: the second is refused until the first is gone.
    roster = ReaderRoster.started(["pn532_uart:/dev/a", "pn532_i2c:/dev/a"], hasUdev: false)
    #expect(roster.readers[1]?.isRefused == true)
    #expect(roster.handle(.configured(["pn532_i2c:/dev/a"])).contains(.start(2, device: "pn532_i2c:/dev/a")))
    fresh = ReaderRoster.started(["pn532_i2c:/dev/a"], hasUdev: false)
    #expect(Set(roster.readers.values) == Set(fresh.readers.values))
  }

  @Test func `a reader that takes any device goes once devices are named`() {
    var roster = ReaderRoster.started([], hasUdev: false)
    roster.handle(.listed([]), expecting: [.start(0, device: nil)])
    var other = roster
    roster.handle(.configured(["pn532_uart:/dev/a"]), expecting: [.stop(0)] + Samples.appears(1, "pn532_uart:/dev/a"))
    // The daemon ignores a list from libnfc that it requested before the change.
    roster.handle(.listed(["pn53x_usb:001:009"]), expecting: [])
    _ = other.handle(.opened(0, device: "pn532_uart:/dev/a"))
    #expect(
      other.handle(.configured(["pn532_uart:/dev/a"])) == [.hide(0), .stop(0)] + Samples.appears(1, "pn532_uart:/dev/a")
    )
  }
}
