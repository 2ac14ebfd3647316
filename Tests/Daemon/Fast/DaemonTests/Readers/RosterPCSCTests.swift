import ReaderProtocol
import Settings
import Testing

@testable import Daemon

/// Which readers exist through pcscd, if the configuration names none.
@Suite struct RosterPCSCTests {
  private static let acr122 = Samples.acr122()

  /// The devices that clients see, by the number of the reader.
  private static func shown(_ roster: ReaderRoster) -> [Int: String?] { roster.readers.mapValues(\.device) }

  // MARK: With udev

  @Test func `a reader exists from its place in pcscd's list to its unplugging`() {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252(seat: "seat1"))
    #expect(roster.readers.isEmpty && roster.needsPCSCList)
    // The slot for a security module is never used.
    roster.handle(
      .pcscReaders(PCSCSamples.slots(at: 5)), expecting: PCSCSamples.appears(0, PCSCSamples.picc, seat: "seat1"))
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: [])
    #expect(roster.reader(at: "/sys/devices/b") == 0)
    // pcscd drops the reader a moment later.
    roster.handle(.device(.removed(path: "/sys/devices/b")), expecting: [.hide(0), .stop(0)])
    #expect(!roster.needsPCSCList)
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: [])
    roster.handle(.pcscReaders([]), expecting: [])
  }

  @Test func `a reader whose device udev reports later exists from then on`() {
    var roster = PCSCSamples.roster(Self.acr122)
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: [])
    roster.handle(
      .device(.added(PCSCSamples.acr1252(seat: "seat2"))),
      expecting: PCSCSamples.appears(0, PCSCSamples.picc, seat: "seat2"))
  }

  @Test func `a reader that is replugged is a new one`() {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252())
    _ = roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)))
    roster.handle(.device(.removed(path: "/sys/devices/b")), expecting: [.hide(0), .stop(0)])
    roster.handle(.device(.added(PCSCSamples.acr1252(number: 6))), expecting: [])
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 6)), expecting: PCSCSamples.appears(1, PCSCSamples.picc))
  }

  @Test func `a reader stays while pcscd gives no list, and may have gone in the next one`() {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252())
    _ = roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)))
    roster.handle(.pcscProblem(PCSCProblem(.noService)), expecting: [])
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: [])
    roster.handle(.pcscReaders([]), expecting: [.hide(0), .stop(0)])
  }

  @Test func `a contact reader and a security key do not start pcscd, and are left alone`() {
    let contact = Samples.usb(0x076B, 0x3021, "/sys/devices/c", number: 7, classes: [0x0B])
    var roster = PCSCSamples.roster(PCSCSamples.yubiKey, contact)
    #expect(!roster.needsPCSCList && roster.choices.isEmpty)
    _ = roster.handle(.device(.added(PCSCSamples.acr1252())))
    let list = [
      PCSCSamples.listed("Yubico YubiKey OTP+FIDO+CCID 00 00", at: 9, 0x1050, 0x0407),
      PCSCSamples.listed("HID Global OMNIKEY 3x21 Smart Card Reader [OMNIKEY 3x21] 01 00", at: 7, 0x076B, 0x3021),
    ]
    roster.handle(.pcscReaders(list + PCSCSamples.slots(at: 5)), expecting: PCSCSamples.appears(0, PCSCSamples.picc))
  }

  // MARK: One backend

  @Test func `a reader that both libraries can drive is pcscd's, and never libnfc's`() {
    var roster = PCSCSamples.roster(Self.acr122)
    #expect(roster.readers.isEmpty && roster.choices.values.contains(.pcsc))
    let listed = PCSCSamples.listed(PCSCSamples.acr122, at: 4, 0x072F, 0x2200)
    roster.handle(.pcscReaders([listed]), expecting: PCSCSamples.appears(0, PCSCSamples.acr122))
    roster.handle(.device(.changed(Samples.acr122(drivers: ["usbfs"]))), expecting: [])
  }

  @Test func `a change of pcscd counts for the next reader, and for all when the configuration is read`() {
    var roster = PCSCSamples.roster(Self.acr122, support: .none)
    #expect(Self.shown(roster) == [0: "acr122_usb:001:004"])
    roster.handle(.pcscd(PCSCSamples.support), expecting: [])
    #expect(!roster.needsPCSCList)
    _ = roster.handle(.device(.added(PCSCSamples.acr1252())))
    #expect(roster.needsPCSCList)
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: PCSCSamples.appears(1, PCSCSamples.picc))
    roster.handle(.configured([], .auto, PCSCSamples.support), expecting: [.hide(0), .stop(0)])
    roster.handle(.configured([], .auto, PCSCSamples.support), expecting: [])
    // And back: pcscd was removed.
    let actions = roster.handle(.configured([], .auto, .none))
    #expect(Array(actions.prefix(4)) == [.hide(1), .stop(1)] + Samples.appears(2, "acr122_usb:001:004"))
  }

  @Test func `a reader that pcscd lists is pcscd's, even if no table of a driver names it`() {
    var support = PCSCSamples.support
    support.drivers[.init(vendor: 0x072F, product: 0x2200)] = nil
    var roster = PCSCSamples.roster(Self.acr122, PCSCSamples.acr1252(), support: support)
    #expect(Self.shown(roster) == [0: "acr122_usb:001:004"])
    let list = [PCSCSamples.listed(PCSCSamples.acr122, at: 4, 0x072F, 0x2200)]
    roster.handle(.pcscReaders(list), expecting: [.hide(0), .stop(0)] + PCSCSamples.appears(1, PCSCSamples.acr122))
  }

  @Test func `with the backend libnfc no reader is pcscd's`() {
    var roster = PCSCSamples.roster(Self.acr122, PCSCSamples.acr1252(), backend: .libnfc)
    #expect(!roster.needsPCSCList)
    #expect(Self.shown(roster) == [0: "acr122_usb:001:004"])
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: [])
  }

  // MARK: The seat

  @Test func `a driver that tells no place still shows the seat of its only device`() {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252(seat: "seat1"))
    let identity = PCSCReader.Identity(vendor: 0x072F, product: 0x223B)
    let slot = PCSCReader(name: PCSCSamples.picc, identity: identity)
    roster.handle(.pcscReaders([slot]), expecting: PCSCSamples.appears(0, PCSCSamples.picc, seat: "seat1"))
    // A second one of the same model. The first one keeps its device, so the second one has the other.
    _ = roster.handle(.device(.added(PCSCSamples.acr1252("/sys/devices/c", number: 6, seat: "seat2"))))
    let other = PCSCReader(name: "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 02 00", identity: identity)
    roster.handle(.pcscReaders([slot, other]), expecting: PCSCSamples.appears(1, other.name, seat: "seat2"))
  }

  @Test func `two alike that pcscd cannot tell apart are on the first seat`() {
    var roster = PCSCSamples.roster(
      PCSCSamples.acr1252(seat: "seat1"), PCSCSamples.acr1252("/sys/devices/c", number: 6, seat: "seat2"))
    let slots = ["00", "02"].map {
      PCSCReader(
        name: "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] \($0) 00",
        identity: .init(vendor: 0x072F, product: 0x223B))
    }
    roster.handle(
      .pcscReaders(slots), expecting: PCSCSamples.appears(0, slots[0].name) + PCSCSamples.appears(1, slots[1].name))
    #expect(roster.awaited.isEmpty)
  }

  @Test func `a pcscd that runs elsewhere may have readers that udev does not know`() {
    var support = PCSCSamples.support
    support.isElsewhere = true
    var roster = PCSCSamples.roster(support: support)
    #expect(roster.needsPCSCList)
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: PCSCSamples.appears(0, PCSCSamples.picc))
  }

  @Test func `a reader of such a pcscd that udev does know goes with its device`() {
    var support = PCSCSamples.support
    support.isElsewhere = true
    var roster = PCSCSamples.roster(PCSCSamples.acr1252(seat: "seat1"), support: support)
    let list = PCSCSamples.slots(at: 5)
    roster.handle(.pcscReaders(list), expecting: PCSCSamples.appears(0, PCSCSamples.picc, seat: "seat1"))
    roster.handle(.device(.removed(path: "/sys/devices/b")), expecting: [.hide(0), .stop(0)])
    roster.handle(.pcscReaders(list), expecting: [])
    roster.handle(.pcscReaders([]), expecting: [])
    // Now a reader of this name is another one.
    roster.handle(.pcscReaders(list), expecting: PCSCSamples.appears(1, PCSCSamples.picc))
  }

  // MARK: Without udev

  @Test func `without udev the readers of pcscd's list come before those that libnfc finds`() {
    var roster = PCSCSamples.roster(hasUdev: false)
    #expect(roster.needsPCSCList && roster.listing == .everything)
    // It is not known yet which program has the ACR122U.
    roster.handle(.listed(["acr122_usb:001:004", "pn532_uart:/dev/ttyUSB0"]), expecting: [])
    let list = [PCSCSamples.listed(PCSCSamples.acr122, at: 4, 0x072F, 0x2200)]
    roster.handle(
      .pcscReaders(list),
      expecting: Samples.appears(0, "pn532_uart:/dev/ttyUSB0") + PCSCSamples.appears(1, PCSCSamples.acr122))
  }

  @Test func `without udev libnfc finds no later reader if pcscd does`() {
    var roster = PCSCSamples.roster(hasUdev: false)
    roster.handle(.listed([]), expecting: [])
    roster.handle(.pcscReaders([]), expecting: [])
    roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)), expecting: PCSCSamples.appears(0, PCSCSamples.picc))
  }

  @Test(arguments: [ReaderRoster.Event.pcscProblem(PCSCProblem(.refused)), .waited])
  func `without udev and without a list the readers are those that libnfc finds`(event: ReaderRoster.Event) {
    var roster = PCSCSamples.roster(hasUdev: false)
    roster.handle(.listed([]), expecting: [])
    roster.handle(event, expecting: [.start(0, device: nil)])
    // The list comes after all.
    roster.handle(
      .pcscReaders(PCSCSamples.slots(at: 5)), expecting: [.stop(0)] + PCSCSamples.appears(1, PCSCSamples.picc))
  }

  @Test func `readers that libnfc would use through pcscd are left to pcscd`() {
    var roster = PCSCSamples.roster(support: .none, hasUdev: false)
    let found = ["acr122_pcsc:ACS ACR122U 00 00", "pcsc:ACS ACR122U 00 00"]
    roster.handle(.listed(found), expecting: [.start(0, device: nil)])
  }
}

/// Readers that the configuration names as `pcsc:NAME`.
@Suite struct NamedPCSCReaderTests {
  private static let model = "pcsc:ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC]"
  private static let (first, second) = ("\(model) 00 00", "\(model) 02 00")

  private static func name(_ device: String) -> String { String(device.dropFirst(5)) }

  private static func two() -> [PCSCReader] {
    [PCSCSamples.listed(name(first), at: 5), PCSCSamples.listed(name(second), at: 6)]
  }

  private static let plugged = [
    PCSCSamples.acr1252(seat: "seat1"), PCSCSamples.acr1252("/sys/devices/c", number: 6, seat: "seat2"),
  ]

  @Test(arguments: [model, first]) func `a named reader stays, and its process waits for it`(device: String) {
    var roster = ReaderRoster(configured: [device], support: PCSCSamples.support, hasUdev: true)
    _ = roster.handle(.device(.present([Self.plugged[0]])))
    roster.handle(.start, expecting: Samples.appears(0, device))
    #expect(roster.listing == .nothing && roster.needsPCSCList)
    // The list only tells the seat.
    let list = PCSCSamples.slots(at: 5)
    roster.handle(.pcscReaders(list), expecting: [.move(0, seat: "seat1"), .look(0)])
    roster.handle(.pcscReaders([]), expecting: [.look(0)])
    roster.handle(.device(.removed(path: "/sys/devices/b")), expecting: [])
    #expect(roster.readers.count == 1)
    // Only the readers of the list that no configuration names are missed.
    #expect(roster.awaited.isEmpty)
  }

  @Test func `a named reader need not be a contactless one`() {
    var roster = PCSCSamples.roster(PCSCSamples.yubiKey, configured: ["pcsc:Yubico YubiKey OTP+FIDO+CCID"])
    let key = PCSCSamples.listed("Yubico YubiKey OTP+FIDO+CCID 00 00", at: 9, 0x1050, 0x0407)
    roster.handle(.pcscReaders([key]), expecting: [.look(0)])
    #expect(roster.readers[0]?.path == "/sys/devices/y")
  }

  @Test func `a name without numbers means one reader, and later another`() {
    var roster = PCSCSamples.roster(Self.plugged[0], Self.plugged[1], configured: [Self.model])
    let list = Self.two()
    // The process gets the name of the one that gave the reader its seat.
    roster.handle(.pcscReaders(list), expecting: [.move(0, seat: "seat1"), .restart(0, device: Self.first)])
    roster.handle(.pcscReaders(list.reversed()), expecting: [])
    roster.handle(.pcscReaders([list[1]]), expecting: [.move(0, seat: "seat2"), .restart(0, device: Self.model)])
    roster.handle(.pcscReaders([]), expecting: [.look(0)])
    // After a restart of pcscd it has other numbers.
    roster.handle(.pcscReaders([list[0]]), expecting: [.move(0, seat: "seat1"), .look(0)])
  }

  @Test func `of two names for one reader the exact one gets it`() {
    var roster = PCSCSamples.roster(Self.plugged[0], Self.plugged[1], configured: [Self.model, Self.first])
    #expect(roster.readers.mapValues(\.device) == [0: Self.first, 1: Self.model])
    let refusal = ReaderRoster.Action.refuse(
      1, reason: "\(Self.first) is the same device: name each device once in Devices")
    let list = Self.two()
    roster.handle(.pcscReaders([list[0]]), expecting: [.stop(1), refusal, .move(0, seat: "seat1"), .look(0)])
    roster.handle(.pcscReaders([]), expecting: [.look(0)])
    // A second one is there, so the name without numbers means that one.
    roster.handle(.pcscReaders(list), expecting: [.look(0), .move(1, seat: "seat2"), .start(1, device: Self.second)])
  }

  @Test func `a device that libnfc has is refused to pcscd`() {
    var roster = PCSCSamples.roster(
      Samples.acr122(seat: "seat3"), configured: ["acr122_usb", "pcsc:ACS ACR122U PICC Interface"])
    let refusal = ReaderRoster.Action.refuse(
      1, reason: "acr122_usb is the same device: name each device once in Devices")
    let list = [PCSCSamples.listed(PCSCSamples.acr122, at: 4, 0x072F, 0x2200)]
    roster.handle(.pcscReaders(list), expecting: [.stop(1), refusal])
    // And the other way round.
    roster = PCSCSamples.roster(configured: ["pcsc:\(PCSCSamples.acr122)", "acr122_usb"])
    _ = roster.handle(.pcscReaders(list))
    let actions = roster.handle(.device(.added(Samples.acr122(seat: "seat3"))))
    #expect(actions.count { if case .refuse = $0 { true } else { false } } == 1)
    #expect(roster.readers.values.count { $0.path == "/sys/devices/a" } == 1)
  }

  @Test func `both slots of a device may be named`() {
    var roster = PCSCSamples.roster(
      Self.plugged[0], configured: ["pcsc:\(PCSCSamples.picc)", "pcsc:\(PCSCSamples.sam)"])
    _ = roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)))
    #expect(roster.readers.values.allSatisfy { !$0.isRefused && $0.path == "/sys/devices/b" && $0.seat == "seat1" })
  }

  @Test func `a reader that is named from now on, or no longer, keeps its process`() {
    var roster = PCSCSamples.roster(Self.plugged[0])
    _ = roster.handle(.pcscReaders(PCSCSamples.slots(at: 5)))
    let device = "pcsc:\(PCSCSamples.picc)"
    roster.handle(.configured([device], .auto, PCSCSamples.support), expecting: [])
    #expect(roster.readers[0]?.stays == true)
    roster.handle(.configured([], .auto, PCSCSamples.support), expecting: [])
    #expect(roster.readers[0]?.stays == false)
    roster.handle(.device(.removed(path: "/sys/devices/b")), expecting: [.hide(0), .stop(0)])
  }
}
