import Names

/// The device that a device string means: a connection string of libnfc, or a name of pcscd.
enum ReaderAddress: Hashable, Sendable {
  /// The device with this file: `pn532_uart:/dev/ttyUSB0`.
  case file(String)
  /// A USB reader: the driver, then optionally bus and device number. `pn53x_usb` is any reader of this driver.
  case usb([String])
  /// A reader that pcscd names, with or without its numbers: `pcsc:ACS ACR122U PICC Interface`. udev reports its device,
  /// but only pcscd's list says which device that is.
  case pcsc(String)
  /// A device that udev does not report.
  case other

  init(_ device: String) {
    if let name = Names.PCSC.readerName(inDevice: device) {
      self = .pcsc(name)
      return
    }
    let parts = device.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    if parts.count > 1, parts[1].hasPrefix("/") {
      self = .file(parts[1])
    } else if let driver = parts.first, USBReaderModel.drivers.contains(driver) {
      self = .usb(parts)
    } else {
      self = .other
    }
  }

  var isUSB: Bool { if case .usb = self { true } else { false } }

  /// Whether udev reports the device: a USB device, or a file in /dev of a followed kind. Any other path, such as a
  /// pseudo-terminal or a user's link, may appear without an event.
  var isUdevs: Bool {
    switch self {
    case .file(let path):
      ["/dev/tty", "/dev/serial/", "/dev/spidev", "/dev/i2c-"].contains { path.hasPrefix($0) }
    case .usb: true
    case .pcsc, .other: false
    }
  }

  /// `resolve` follows the links of a path, as realpath(3) does.
  func means(_ device: Device, resolve: (String) -> String?) -> Bool {
    switch self {
    case .file(let path):
      guard let node = device.node else { return false }
      return node == path || device.links.contains(path) || resolve(path) == node
    case .usb(let parts):
      guard let name = USBReaderModel.connectionString(of: device) else { return false }
      return name.split(separator: ":").starts(with: parts) { $0 == $1 }
    case .pcsc, .other: return false
    }
  }
}

/// Connection strings that stay valid after a replug, for a system without udev.
///
/// libnfc names a USB reader by its bus and device number: `pn53x_usb:001:004`. The device number changes with each
/// replug and after a suspend. The name of the driver alone opens the first reader of that driver (pn53x_usb_open and
/// acr122_usb_open in libnfc 1.8.0). So the driver's name is used if the driver has found exactly one reader.
enum LastingDevice {
  private static let driversThatNumber: Set<String> = ["acr122_usb", "pn53x_usb"]

  /// The same readers in the same order, with lasting names if possible. `devices` are the connection strings that
  /// libnfc has found.
  static func names(of devices: [String]) -> [String] {
    let drivers = devices.map { String($0.prefix { $0 != ":" }) }
    return zip(devices, drivers).map { device, driver in
      driversThatNumber.contains(driver) && drivers.count { $0 == driver } == 1 ? driver : device
    }
  }
}
