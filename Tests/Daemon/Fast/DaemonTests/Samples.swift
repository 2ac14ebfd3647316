import Bus
import NDEF
import Names
import ReaderProtocol
import Settings
import Testing

@testable import Daemon

struct ManualClock {
  private(set) var now = SuspendingClock.now

  mutating func advance(_ duration: Duration) { now = now.advanced(by: duration) }
}

enum Samples {
  static let alice = LoginSessionKey(id: "2", uid: 1000)
  static let bob = LoginSessionKey(id: "5", uid: 1001)
  static let reader: ObjectPath = "/org/tagroute/Tagroute1/readers/0"

  static func properties(
    _ key: LoginSessionKey = alice, seat: String = "seat0", active: Bool = true, locked: Bool = false
  ) -> [String: Value] {
    [
      "Id": .string(key.id ?? ""), "User": .structure([.uint32(key.uid), .objectPath("/u")]),
      "Seat": .structure([.string(seat), .objectPath("/s")]), "Type": .string("wayland"), "Class": .string("user"),
      "Remote": .boolean(false), "Active": .boolean(active), "State": .string("active"),
      "LockedHint": .boolean(locked),
    ]
  }

  static func agent(_ sender: String = ":1.7", of session: LoginSessionKey = alice) -> Agent {
    Agent(sender: sender, path: "/agent", session: session)
  }

  static func tap(_ id: String, of session: LoginSessionKey = alice) -> DetectedTap {
    DetectedTap(
      read: TagRead(
        id: id, time: 1, reader: reader.string, technology: "type-2", uid: [4, 1, 2, 3],
        bytes: [0xD1, 0x01, 0x01, 0x55, 0x00]),
      session: session)
  }

  static func report(_ content: TagReport.Content, number: UInt64 = 1) -> TagReport {
    TagReport(placement: Placement(number: number, technology: .type2, uid: [4, 1, 2, 3]), content: content)
  }

  /// The phase of a reader that is open and idle.
  static let ready = ReaderPhase.ready(name: "PN532", device: "pn532_uart:/dev/x")

  /// What a reader of libnfc looks for by default. No chip that libnfc drives can read Type 5.
  static let libnfcTechnologies = TagType.readable.filter { $0 != .type5 }

  /// An ACR122U, plugged into bus 1.
  static func acr122(
    _ path: String = "/sys/devices/a", number: Int = 4, seat: String? = nil, drivers: [String] = []
  ) -> Device {
    usb(0x072F, 0x2200, path, number: number, seat: seat, drivers: drivers)
  }

  /// A USB device on bus 1.
  static func usb(
    _ vendor: UInt16, _ product: UInt16, _ path: String = "/sys/devices/a", number: Int = 4, seat: String? = nil,
    drivers: [String] = [], classes: [UInt8] = [], productName: String = ""
  ) -> Device {
    Device(
      path: path, subsystem: "usb", node: "/dev/bus/usb/001/004", seat: seat,
      usb: .init(
        vendor: vendor, product: product, bus: 1, number: number, drivers: drivers, interfaceClasses: classes,
        productName: productName))
  }

  static func appears(_ reader: Int, _ device: String, seat: String = "seat0") -> [ReaderRoster.Action] {
    [.start(reader, device: device), .show(reader, device: device, seat: seat)]
  }

  /// "http://www.example.com" as a URI record.
  static let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x01] + Array("example.com".utf8)
  /// The same record inside a Smart Poster.
  static let smartPoster: [UInt8] = [0xD1, 0x02, UInt8(message.count), 0x53, 0x70] + message
}

extension ReaderRoster {
  /// A roster without pcscd after its start. `devices` are plugged in.
  static func started(_ configured: [String], _ devices: Device..., hasUdev: Bool = true) -> ReaderRoster {
    var roster = ReaderRoster(configured: configured, hasUdev: hasUdev)
    if hasUdev { _ = roster.handle(.device(.present(devices))) }
    _ = roster.handle(.start)
    return roster
  }

  mutating func handle(
    _ event: Event, expecting expected: [Action], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let actions = handle(event)
    #expect(actions == expected, sourceLocation: sourceLocation)
  }
}

/// USB readers, drivers of pcscd and lists of pcscd for tests.
enum PCSCSamples {
  static let drivers: [PCSCReader.Identity: String] = [
    .init(vendor: 0x072F, product: 0x2200): "ACS ACR122U PICC Interface",
    .init(vendor: 0x072F, product: 0x223B): "ACS ACR1252 Dual Reader",
    .init(vendor: 0x1050, product: 0x0407): "Yubico YubiKey OTP+FIDO+CCID",
    .init(vendor: 0x076B, product: 0x3021): "HID Global OMNIKEY 3x21 Smart Card Reader",
  ]

  /// pcscd is installed, with these drivers.
  static let support = PCSCSupport(obstacle: nil, drivers: drivers)

  static func acr1252(_ path: String = "/sys/devices/b", number: Int = 5, seat: String? = nil) -> Device {
    Samples.usb(0x072F, 0x223B, path, number: number, seat: seat, classes: [0x0B])
  }

  static let yubiKey = Samples.usb(0x1050, 0x0407, "/sys/devices/y", number: 9, classes: [0x03, 0x0B])

  static let picc = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00"
  static let sam = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00"
  static let acr122 = "ACS ACR122U PICC Interface 02 00"

  /// A reader of pcscd's list with its place, on bus 1.
  static func listed(_ name: String, at number: Int, _ vendor: UInt16 = 0x072F, _ product: UInt16 = 0x223B)
    -> PCSCReader
  {
    PCSCReader(
      name: name, identity: .init(vendor: vendor, product: product), place: .init(bus: 1, number: number))
  }

  /// The two readers that an ACR1252U is.
  static func slots(at number: Int) -> [PCSCReader] { [listed(picc, at: number), listed(sam, at: number)] }

  /// A roster of a system with udev, with these devices, after its start.
  static func roster(
    _ devices: Device..., configured: [String] = [], backend: DaemonConfiguration.Backend = .auto,
    support: PCSCSupport = support, hasUdev: Bool = true
  ) -> ReaderRoster {
    var roster = ReaderRoster(configured: configured, backend: backend, support: support, hasUdev: hasUdev)
    if hasUdev { _ = roster.handle(.device(.present(devices))) }
    _ = roster.handle(.start)
    return roster
  }

  static func appears(_ id: Int, _ name: String, seat: String = "seat0") -> [ReaderRoster.Action] {
    [.start(id, device: "pcsc:\(name)"), .show(id, device: "pcsc:\(name)", seat: seat)]
  }
}
