import CUdev

/// Reads a device's properties from libudev. None of these functions keeps or releases `device`.
extension Device {
  init?(_ device: OpaquePointer, _ context: OpaquePointer) {
    guard let path = Self.text(udev_device_get_syspath(device)),
      let subsystem = Self.text(udev_device_get_subsystem(device))
    else { return nil }
    self.init(
      path: path, subsystem: subsystem, node: Self.text(udev_device_get_devnode(device)), links: Self.links(device),
      seat: Self.seat(device), usb: Self.usb(device, context))
  }

  /// The device that a USB interface is part of. A change of the interface is a change of that device.
  static func owner(ofInterface device: OpaquePointer) -> OpaquePointer? {
    guard text(udev_device_get_devtype(device)) == "usb_interface" else { return nil }
    return udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device")
  }

  static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    pointer.flatMap { String(validatingCString: $0) }
  }

  /// The names in a libudev list.
  static func names(_ first: OpaquePointer?) -> [String] {
    var names: [String] = []
    var entry = first
    while let present = entry {
      if let name = text(udev_list_entry_get_name(present)) { names.append(name) }
      entry = udev_list_entry_get_next(present)
    }
    return names
  }

  private static func links(_ device: OpaquePointer) -> [String] {
    names(udev_device_get_devlinks_list_entry(device)).sorted()
  }

  /// The seat of the device, or of the nearest parent that has one. systemd's rules copy `ID_SEAT` from a hub to the
  /// devices that are plugged into it. They do so only if the property is not set by hand and the rules have run, so
  /// this function asks the parents too.
  private static func seat(_ device: OpaquePointer) -> String? {
    var present: OpaquePointer? = device
    while let device = present {
      if let seat = text(udev_device_get_property_value(device, "ID_SEAT")), isSeat(seat) { return seat }
      present = udev_device_get_parent(device)
    }
    return nil
  }

  /// Whether logind accepts the name as a seat.
  private static func isSeat(_ name: String) -> Bool {
    name.hasPrefix("seat") && name.utf8.count < 256
      && name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains($0))
      }
  }

  /// The most bytes of a product name: a string descriptor holds 126 UTF-16 units (USB 2.0, 9.6.7).
  private static let mostBytesOfName = 128

  private static func usb(_ device: OpaquePointer, _ context: OpaquePointer) -> USB? {
    guard text(udev_device_get_devtype(device)) == "usb_device",
      let vendor = integer(device, "idVendor", radix: 16).flatMap(UInt16.init(exactly:)),
      let product = integer(device, "idProduct", radix: 16).flatMap(UInt16.init(exactly:)),
      let bus = integer(device, "busnum", radix: 10), let number = integer(device, "devnum", radix: 10)
    else { return nil }
    let interfaces = interfaces(of: device, context)
    return USB(
      vendor: vendor, product: product, bus: bus, number: number, drivers: interfaces.drivers,
      interfaceClasses: interfaces.classes, productName: productName(device))
  }

  private static func integer(_ device: OpaquePointer, _ attribute: String, radix: Int) -> Int? {
    text(udev_device_get_sysattr_value(device, attribute)).flatMap { Int($0, radix: radix) }
  }

  /// The device chooses this text, so a hostile device can send anything.
  private static func productName(_ device: OpaquePointer) -> String {
    guard let name = text(udev_device_get_sysattr_value(device, "product")), name.utf8.count <= mostBytesOfName,
      name.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return "" }
    return name
  }

  private static func interfaces(
    of device: OpaquePointer, _ context: OpaquePointer
  ) -> (drivers: [String], classes: [UInt8]) {
    guard let enumeration = udev_enumerate_new(context) else { return ([], []) }
    defer { udev_enumerate_unref(enumeration) }
    udev_enumerate_add_match_parent(enumeration, device)
    udev_enumerate_add_match_subsystem(enumeration, "usb")
    guard udev_enumerate_scan_devices(enumeration) >= 0 else { return ([], []) }
    var drivers: Set<String> = []
    var classes: Set<UInt8> = []
    for path in names(udev_enumerate_get_list_entry(enumeration)) {
      guard let child = udev_device_new_from_syspath(context, path) else { continue }
      defer { udev_device_unref(child) }
      // The devices that are plugged into a hub are below it too.
      guard let owner = owner(ofInterface: child),
        text(udev_device_get_syspath(owner)) == text(udev_device_get_syspath(device))
      else { continue }
      if let driver = text(udev_device_get_driver(child)) { drivers.insert(driver) }
      if let code = integer(child, "bInterfaceClass", radix: 16).flatMap(UInt8.init(exactly:)) { classes.insert(code) }
    }
    return (drivers.sorted(), classes.sorted())
  }
}
