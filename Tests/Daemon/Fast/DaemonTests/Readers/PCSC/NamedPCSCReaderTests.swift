import ReaderProtocol
import Settings
import Testing

@testable import Daemon

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
