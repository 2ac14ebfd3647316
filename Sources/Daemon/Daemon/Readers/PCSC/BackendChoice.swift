import Settings

/// Which library drives a USB reader, so that it is never two. Pure.
///
/// The daemon chooses when the reader is plugged in, and again when it reads the configuration. At other times, a program
/// may be using the reader.
///
/// | Backend | pcscd can be used and has a driver | libnfc has a driver | neither |
/// |---|---|---|---|
/// | `auto` | `pcsc`, also if libnfc has a driver | `libnfc` | `nobody` |
/// | `libnfc` | the reader is ignored, unless libnfc has a driver | `libnfc` | ignored |
/// | `pcsc` | `pcsc` | `nobody` | `nobody` |
enum BackendChoice: Hashable, Sendable {
  case libnfc
  case pcsc
  /// No program can drive the reader. It is shown with the reason.
  case nobody(PCSCObstacle)

  /// The choice for a device; nil if it is no contactless reader, or if the administrator does not want it.
  init?(_ device: Device, _ backend: DaemonConfiguration.Backend, _ support: PCSCSupport) {
    guard let usb = device.usb else { return nil }
    let hasLibnfc = USBReaderModel.connectionString(of: device) != nil
    let driverName = support.driverName(of: usb)
    // A Touchatag has the numbers of a contact reader, and the same name in pcscd.
    let isPCSCReader = ContactlessReaders.isReader(usb, driverName: driverName)
    guard hasLibnfc || isPCSCReader else { return nil }
    let hasPCSC = support.obstacle == nil && driverName != nil && isPCSCReader
    switch backend {
    case .auto where hasPCSC, .pcsc where hasPCSC: self = .pcsc
    case .auto where hasLibnfc, .libnfc where hasLibnfc: self = .libnfc
    case .auto, .pcsc: self = .nobody(support.obstacle ?? .noDriver(hasOthers: !support.drivers.isEmpty))
    case .libnfc: return nil
    }
  }
}
