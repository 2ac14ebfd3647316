import ReaderProtocol

/// Whether pcscd can be used, and which USB devices it can drive.
///
/// The daemon finds this out without a connection. A connection starts pcscd, which then takes every smart card reader
/// of the machine, also those that other programs use without it.
struct PCSCSupport: Hashable, Sendable {
  /// Why no reader can be used through pcscd; nil if it can.
  var obstacle: PCSCObstacle?
  /// The USB devices of the installed drivers, with the name of each.
  var drivers: [PCSCReader.Identity: String] = [:]
  /// Whether the environment names pcscd's socket. That pcscd may run elsewhere, and see other devices.
  var isElsewhere = false

  /// pcscd is not installed.
  static let none = PCSCSupport(obstacle: .noService)

  func driverName(of usb: Device.USB) -> String? { drivers[PCSCReader.Identity(usb)] }
}

extension PCSCReader.Identity {
  init(_ usb: Device.USB) { self.init(vendor: usb.vendor, product: usb.product) }
}
