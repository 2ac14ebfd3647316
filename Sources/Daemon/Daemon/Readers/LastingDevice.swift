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
