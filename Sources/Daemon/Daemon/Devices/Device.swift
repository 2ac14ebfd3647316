/// A device of the machine, as udev knows it at one moment.
package struct Device: Sendable, Hashable {
  /// The maker and the current position of a USB device.
  package struct USB: Sendable, Hashable {
    /// `idVendor` of the device descriptor (USB 2.0, 9.6.1).
    package let vendor: UInt16
    /// `idProduct` of the device descriptor.
    package let product: UInt16
    /// The number of the bus.
    package let bus: Int
    /// The device's number on its bus. It changes each time the device is plugged in.
    package let number: Int
    /// The kernel drivers that its interfaces are bound to, sorted, each once. `usbfs` means that a program has claimed
    /// an interface.
    package let drivers: [String]
    /// `bInterfaceClass` of its interfaces (USB 2.0, 9.6.5), sorted, each once. Empty until the kernel has created them.
    package let interfaceClasses: [UInt8]
    /// `iProduct`, the device's own text. Empty if it has none, or one that is long or not printable.
    package let productName: String

    /// Creates USB properties. `vendor` is `idVendor`, `product` is `idProduct`, and `number` is that of the device on its bus.
    package init(
      vendor: UInt16, product: UInt16, bus: Int, number: Int, drivers: [String] = [], interfaceClasses: [UInt8] = [],
      productName: String = ""
    ) {
      self.vendor = vendor
      self.product = product
      self.bus = bus
      self.number = number
      self.drivers = drivers
      self.interfaceClasses = interfaceClasses
      self.productName = productName
    }
  }

  /// Its folder below /sys/devices. No other device has the same one while this one is present.
  package let path: String
  /// `usb`, `tty`, ….
  package let subsystem: String
  /// The device file, for example `/dev/ttyUSB0`; nil if there is none.
  package let node: String?
  /// The links to the device file that udev keeps, `/dev/serial/by-id/…`, sorted.
  package let links: [String]
  /// The seat that udev assigns to the device or to its nearest parent with a seat; nil if there is none, which means
  /// seat0 (sd-login(3)).
  package let seat: String?
  /// Nil unless it is a USB device.
  package let usb: USB?

  /// Creates a device. Its path is the folder below /sys/devices. The seat is the one that udev assigns.
  package init(
    path: String, subsystem: String, node: String?, links: [String] = [], seat: String? = nil, usb: USB? = nil
  ) {
    self.path = path
    self.subsystem = subsystem
    self.node = node
    self.links = links
    self.seat = seat
    self.usb = usb
  }
}

/// A change of the devices of the machine.
package enum DeviceEvent: Sendable, Hashable {
  /// Events were lost. Exactly these devices are present.
  case present([Device])
  /// The device was plugged in, and udev has finished with it: its permissions and its seat are set.
  case added(Device)
  /// The device is still present, and one of its properties has changed, a driver or the seat.
  case changed(Device)
  /// The device with this path was removed.
  case removed(path: String)

  /// The device of `added` or `changed`, else nil.
  package var device: Device? {
    switch self {
    case .added(let device), .changed(let device): device
    case .present, .removed: nil
    }
  }
}
