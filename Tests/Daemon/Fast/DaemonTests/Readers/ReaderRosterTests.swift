import Testing

@testable import Daemon

@Suite struct ReaderRosterTests {
  private static let tty = Device(
    path: "/sys/devices/tty/ttyUSB0", subsystem: "tty", node: "/dev/ttyUSB0", links: ["/dev/serial/by-id/usb-x"],
    seat: "seat1")

  // MARK: USB readers

  @Test func `a USB reader exists from plugging in to unplugging`() {
    var roster = ReaderRoster(configured: [], hasUdev: true)
    let (first, second) = (Samples.acr122(seat: "seat1"), Samples.acr122("/sys/devices/b", number: 7))
    let mouse = Device(
      path: "/sys/devices/m", subsystem: "usb", node: nil,
      usb: .init(vendor: 0x046D, product: 0xC077, bus: 1, number: 9))
    roster.handle(
      .device(.present([mouse, first])), expecting: Samples.appears(0, "acr122_usb:001:004", seat: "seat1"))
    roster.handle(.start, expecting: [])
    roster.handle(.device(.added(second)), expecting: Samples.appears(1, "acr122_usb:001:007"))
    roster.handle(.device(.removed(path: first.path)), expecting: [.hide(0), .stop(0)])
    roster.handle(.device(.removed(path: first.path)), expecting: [])
    roster.handle(.device(.removed(path: mouse.path)), expecting: [])
    #expect(roster.readers.keys.sorted() == [1])
  }

  @Test(
    arguments: [
      // The roster has not received the event of the unplugging.
      (.added(Samples.acr122(number: 5)), [.hide(0), .stop(0)] + Samples.appears(1, "acr122_usb:001:005")),
      (.added(Samples.acr122()), [.look(0)]), (.changed(Samples.acr122()), []),
      (.changed(Samples.acr122(seat: "seat2")), [.move(0, seat: "seat2")]),
    ] as [(DeviceEvent, [ReaderRoster.Action])])
  func `a plugged-in device is a new reader, is looked at again, or moves`(
    event: DeviceEvent, actions: [ReaderRoster.Action]
  ) {
    var roster = ReaderRoster.started([], Samples.acr122())
    roster.handle(.device(event), expecting: actions)
  }

  @Test func `after lost events the readers are those that are present`() {
    var roster = ReaderRoster.started([], Samples.acr122(), Samples.acr122("/sys/devices/b", number: 7))
    let third = Samples.acr122("/sys/devices/c", number: 8)
    roster.handle(
      .device(.present([Samples.acr122(), third])),
      expecting: [.hide(1), .stop(1)] + Samples.appears(2, "acr122_usb:001:008"))
  }

  @Test(arguments: [(ReaderObstacle.kernelDriver("pn533_usb"), "pn533_usb"), (.program(isPCSCD: true), "usbfs")])
  func `a reader that becomes free is tried at once, and only once`(obstacle: ReaderObstacle, driver: String) {
    var roster = ReaderRoster.started([], Samples.acr122(drivers: [driver]))
    roster.handle(.failed(0, obstacle), expecting: [])
    roster.handle(.device(.changed(Samples.acr122(drivers: [driver]))), expecting: [])
    roster.handle(.device(.changed(Samples.acr122())), expecting: [.look(0)])
    // The reader process claims the device, fails and releases it. That is no reason to try again.
    roster.handle(.device(.changed(Samples.acr122(drivers: ["usbfs"]))), expecting: [])
    roster.handle(.failed(0, nil), expecting: [])
    roster.handle(.device(.changed(Samples.acr122())), expecting: [])
  }

  @Test func `a reader without permission is tried again at the next udev event`() {
    var roster = ReaderRoster.started([], Samples.acr122())
    roster.handle(.failed(0, .permission(node: "/dev/bus/usb/001/004")), expecting: [])
    roster.handle(.device(.changed(Samples.acr122())), expecting: [.look(0)])
    roster.handle(.device(.changed(Samples.acr122())), expecting: [])
  }

  @Test func `the number of readers is limited`() {
    var roster = ReaderRoster(configured: [], hasUdev: true)
    let devices = (1...40).map { Samples.acr122("/sys/devices/\($0)", number: $0) }
    let actions = devices.flatMap { roster.handle(.device(.added($0))) }
    #expect(roster.readers.count == ReaderRoster.most)
    #expect(actions.count { if case .log = $0 { true } else { false } } == 1)
    // One of the readers that were left out takes a place that becomes free. This is not logged again.
    roster.handle(
      .device(.removed(path: "/sys/devices/3")),
      expecting: [.hide(2), .stop(2)] + Samples.appears(16, "acr122_usb:001:017"))
    for number in 18...40 { _ = roster.handle(.device(.removed(path: "/sys/devices/\(number)"))) }
    roster.handle(.device(.removed(path: "/sys/devices/4")), expecting: [.hide(3), .stop(3)])
    #expect(roster.handle(.device(.added(Samples.acr122("/sys/devices/99", number: 99)))).count == 2)
  }

  @Test func `every reader model of libnfc has the name of its driver`() {
    for model in USBReaderModel.all {
      let device = Device(
        path: "/x", subsystem: "usb", node: nil,
        usb: .init(vendor: model.vendor, product: model.product, bus: 12, number: 123))
      #expect(USBReaderModel.connectionString(of: device) == "\(model.driver):012:123")
    }
    #expect(USBReaderModel.all.count == 9)
  }

  @Test(arguments: [(0x054C, 0x02E1), (0x072F, 0x0102), (0x072F, 0x0103)] as [(UInt16, UInt16)])
  func `a reader that libnfc cannot open is not one of libnfc`(_ vendor: UInt16, _ product: UInt16) {
    let device = Device(
      path: "/x", subsystem: "usb", node: nil, usb: .init(vendor: vendor, product: product, bus: 1, number: 4))
    #expect(USBReaderModel.connectionString(of: device) == nil)
  }

  // MARK: Configured readers

  @Test(arguments: [
    ("pn532_uart:/dev/ttyUSB0", true), ("pn532_uart:/dev/serial/by-id/usb-x:115200", true), ("pn532_uart:/link", false),
  ])
  func `a configured reader stays, and looks when its device appears or disappears`(device: String, isUdevs: Bool) {
    var roster = ReaderRoster(configured: [device], hasUdev: true) { $0 == "/link" ? "/dev/ttyUSB0" : nil }
    roster.handle(.device(.present([Samples.acr122()])), expecting: [])
    let away: [ReaderRoster.Action] = isUdevs ? [.away(0, true)] : []
    roster.handle(.start, expecting: Samples.appears(0, device) + away)
    #expect(roster.listing == .nothing)
    let here: [ReaderRoster.Action] = isUdevs ? [.away(0, false)] : []
    roster.handle(.device(.added(Self.tty)), expecting: [.move(0, seat: "seat1")] + here + [.look(0)])
    // Now the roster knows that udev reports this device, also if the configuration names it `/link`.
    roster.handle(.device(.removed(path: Self.tty.path)), expecting: [.away(0, true), .look(0)])
    roster.handle(.device(.added(Self.tty)), expecting: [.away(0, false), .look(0)])
    #expect(roster.readers.count == 1)
  }

  @Test func `a driver name means one reader of the driver, and later the next one`() {
    var roster = ReaderRoster(configured: ["acr122_usb"], hasUdev: true)
    let (first, second) = (Samples.acr122(), Samples.acr122("/sys/devices/b", number: 7))
    _ = roster.handle(.device(.present([second, first])))
    // The process opens the device that gave the reader its seat, not the first one that libnfc would find.
    roster.handle(
      .start, expecting: [.start(0, device: "acr122_usb:001:004"), .show(0, device: "acr122_usb", seat: "seat0")])
    #expect(roster.reader(at: first.path) == 0)
    roster.handle(
      .device(.removed(path: first.path)), expecting: [.restart(0, device: "acr122_usb:001:007"), .away(0, false)])
    #expect(roster.reader(at: second.path) == 0)
    roster.handle(.device(.removed(path: second.path)), expecting: [.away(0, true), .look(0)])
    roster.handle(.device(.added(second)), expecting: [.away(0, false), .look(0)])
    #expect(roster.readers.count == 1)
  }

  @Test func `a driver name waits for a reader and then means that one`() {
    var roster = ReaderRoster(configured: ["acr122_usb"], hasUdev: true)
    #expect(roster.handle(.start).first == .start(0, device: "acr122_usb"))
    roster.handle(
      .device(.added(Samples.acr122(seat: "seat1"))),
      expecting: [.move(0, seat: "seat1"), .restart(0, device: "acr122_usb:001:004"), .away(0, false)])
  }

  // MARK: Two names of one device

  private static let byID = "pn532_uart:/dev/serial/by-id/usb-x"

  private static func refusal(_ id: Int, _ other: String) -> ReaderRoster.Action {
    .refuse(id, reason: "\(other) is the same device: name each device once in Devices")
  }

  @Test(arguments: [true, false]) func `a second name of the same file is refused`(hasUdev: Bool) {
    let names = ["pn532_uart:/dev/ttyUSB0", Self.byID]
    var roster = ReaderRoster(configured: names, hasUdev: hasUdev) {
      $0 == "/dev/serial/by-id/usb-x" ? "/dev/ttyUSB0" : $0
    }
    if hasUdev { _ = roster.handle(.device(.present([Self.tty]))) }
    let seat = hasUdev ? "seat1" : "seat0"
    roster.handle(
      .start,
      expecting: [
        .start(0, device: names[0]), .show(0, device: names[0], seat: seat), .show(1, device: names[1], seat: seat),
        Self.refusal(1, names[0]),
      ])
    if hasUdev { #expect(roster.reader(at: Self.tty.path) == 0) }
  }

  @Test func `a second name is refused when its device appears`() {
    let names = ["pn532_uart:/dev/ttyUSB0", Self.byID]
    var roster = ReaderRoster(configured: names, hasUdev: true) { _ in nil }
    #expect(roster.handle(.start).contains(.start(1, device: names[1])))
    let actions = roster.handle(.device(.added(Self.tty)))
    #expect(actions.prefix(2) == [.stop(1), Self.refusal(1, names[0])])
    #expect(actions.last == .look(0))
    roster.handle(.device(.removed(path: Self.tty.path)), expecting: [.away(0, true), .look(0)])
    roster.handle(.device(.added(Self.tty)), expecting: [.away(0, false), .look(0)])
  }

  @Test func `a driver name takes a device that has no other name, or waits`() {
    var roster = ReaderRoster(configured: ["acr122_usb", "acr122_usb:001:004"], hasUdev: true)
    _ = roster.handle(.device(.present([Samples.acr122()])))
    roster.handle(
      .start,
      expecting: [
        .start(0, device: "acr122_usb:001:004"), .show(0, device: "acr122_usb:001:004", seat: "seat0"),
        .show(1, device: "acr122_usb", seat: "seat0"), Self.refusal(1, "acr122_usb:001:004"),
      ])
    let actions = roster.handle(.device(.added(Samples.acr122("/sys/devices/b", number: 7))))
    #expect(actions.first == .start(1, device: "acr122_usb:001:007"))
  }

  @Test func `a waiting driver name is refused when another name takes the only device`() {
    var roster = ReaderRoster(configured: ["acr122_usb", "acr122_usb:001:004"], hasUdev: true)
    _ = roster.handle(.start)
    roster.handle(
      .device(.added(Samples.acr122())),
      expecting: [.stop(1), Self.refusal(1, "acr122_usb:001:004"), .away(0, false), .look(0)])
    // It gets the next device.
    roster.handle(
      .device(.added(Samples.acr122("/sys/devices/b", number: 7, seat: "seat1"))),
      expecting: [.move(1, seat: "seat1"), .start(1, device: "acr122_usb:001:007"), .away(1, false)])
  }

  // MARK: Readers that libnfc names

  @Test func `with udev, libnfc adds the readers that its configuration names`() {
    var roster = ReaderRoster.started([], Samples.acr122())
    #expect(roster.listing == .named)
    roster.handle(
      .listed(["pn532_uart:/dev/ttyS0", "acr122_usb", "pn53x_usb:001:002"]),
      expecting: [
        .start(1, device: "pn532_uart:/dev/ttyS0"), .show(1, device: "pn532_uart:/dev/ttyS0", seat: "seat0"),
        .away(1, true),
      ])
    var none = ReaderRoster.started([])
    #expect(none.handle(.listed([])) == [])
  }

  @Test func `without udev the readers are those that libnfc finds`() {
    var roster = ReaderRoster(configured: [], hasUdev: false)
    #expect(roster.listing == .everything)
    roster.handle(.start, expecting: [])
    roster.handle(.listed(["acr122_usb:001:004"]), expecting: Samples.appears(0, "acr122_usb"))
    roster.handle(.opened(0, device: "acr122_usb:001:005"), expecting: [])
    // No reader is known to be away.
    var configured = ReaderRoster(configured: ["pn53x_usb"], hasUdev: false)
    #expect(!configured.handle(.start).contains(.away(0, true)))
  }

  @Test func `if there is neither udev nor a reader, the first one that appears is used`() {
    var roster = ReaderRoster(configured: [], hasUdev: false)
    roster.handle(.listed([]), expecting: [.start(0, device: nil)])
    roster.handle(.opened(0, device: "a:1"), expecting: [.show(0, device: "a:1", seat: "seat0")])
    roster.handle(.opened(0, device: "a:1"), expecting: [])
    roster.handle(.opened(0, device: "a:2"), expecting: [.hide(0), .stop(0), .start(0, device: nil)])
    roster.handle(.opened(0, device: "a:2"), expecting: [.show(0, device: "a:2", seat: "seat0")])
  }
}

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

@Suite struct LastingDeviceTests {
  @Test(arguments: [
    ([], []), (["pn53x_usb:001:004"], ["pn53x_usb"]),
    (["acr122_usb:001:004", "pn53x_usb:001:005"], ["acr122_usb", "pn53x_usb"]),
    (["pn53x_usb:001:004", "pn53x_usb:001:005"], ["pn53x_usb:001:004", "pn53x_usb:001:005"]),
    (["pn532_uart:/dev/ttyUSB0", "pn53x_usb:001:004"], ["pn532_uart:/dev/ttyUSB0", "pn53x_usb"]),
    (["pn532_spi:/dev/spidev0.0:500000"], ["pn532_spi:/dev/spidev0.0:500000"]),
  ])
  func `the only reader of a USB driver is named after the driver`(_ found: [String], _ names: [String]) {
    #expect(LastingDevice.names(of: found) == names)
  }
}
