/// Connection strings that a reader keeps when it is plugged in anew, for where no udev tells that it was.
///
/// libnfc names a USB reader by bus and device number, `pn53x_usb:001:004`, and the device number is another one after each
/// plugging in or resuming. The driver's name alone opens the first reader of that driver (pn53x_usb_open and
/// acr122_usb_open in libnfc 1.8.0), so where a driver has found one reader, its name is what lasts. Of two readers of one
/// driver neither has a name that lasts.
enum LastingDevice {
  private static let driversThatNumber: Set<String> = ["acr122_usb", "pn53x_usb"]

  /// - Parameter devices: what libnfc found.
  /// - Returns: the same readers in the same order, by names that last where there are such.
  static func names(of devices: [String]) -> [String] {
    let drivers = devices.map { String($0.prefix { $0 != ":" }) }
    return zip(devices, drivers).map { device, driver in
      driversThatNumber.contains(driver) && drivers.count { $0 == driver } == 1 ? driver : device
    }
  }
}
