import ReaderProtocol
import Settings

@testable import Daemon

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

  /// The actions with which a reader of pcscd appears.
  static func appears(_ id: Int, _ name: String, seat: String = "seat0") -> [ReaderRoster.Action] {
    [.start(id, device: "pcsc:\(name)"), .show(id, device: "pcsc:\(name)", seat: seat)]
  }
}
