/// A device of the machine, as udev knows it at one moment.
public struct Device: Sendable, Hashable {
  /// Who made a USB device, and where it is plugged in now.
  public struct USB: Sendable, Hashable {
    /// `idVendor` of the device descriptor (USB 2.0, 9.6.1).
    public let vendor: UInt16
    /// `idProduct` of the device descriptor.
    public let product: UInt16
    /// The number of the bus.
    public let bus: Int
    /// The device's number on its bus, another one after each plugging in.
    public let number: Int
    /// The kernel drivers that its interfaces are bound to, sorted, each once. `usbfs` stands for a program that has claimed
    /// an interface.
    public let drivers: [String]

    /// - Parameters:
    ///   - vendor: `idVendor`.
    ///   - product: `idProduct`.
    ///   - bus: the number of the bus.
    ///   - number: the device's number on its bus.
    ///   - drivers: the kernel drivers that its interfaces are bound to.
    public init(vendor: UInt16, product: UInt16, bus: Int, number: Int, drivers: [String] = []) {
      self.vendor = vendor
      self.product = product
      self.bus = bus
      self.number = number
      self.drivers = drivers
    }
  }

  /// Its folder below /sys/devices, which tells it from every other one as long as it is there.
  public let path: String
  /// `usb`, `tty`, ….
  public let subsystem: String
  /// The file that opens it, `/dev/ttyUSB0`; nil where there is none.
  public let node: String?
  /// Links to the node that udev keeps, `/dev/serial/by-id/…`, sorted.
  public let links: [String]
  /// The seat that udev gives it, or the nearest device that it hangs on; nil where it gives none, which means seat0
  /// (sd-login(3)).
  public let seat: String?
  /// Nil for anything but a USB device.
  public let usb: USB?

  /// - Parameters:
  ///   - path: its folder below /sys/devices.
  ///   - subsystem: `usb`, `tty`, ….
  ///   - node: the file that opens it.
  ///   - links: links to the node that udev keeps.
  ///   - seat: the seat that udev gives it.
  ///   - usb: what it is on the USB.
  public init(
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

/// What happens to the devices of the machine.
public enum DeviceEvent: Sendable, Hashable {
  /// These are there and no others: events were lost.
  case present([Device])
  /// It was plugged in, and udev is done with it: its permissions and its seat are set.
  case added(Device)
  /// It is there still and something about it is different, a driver or the seat.
  case changed(Device)
  /// The device with this path is away.
  case removed(path: String)

  /// The one device that is told of, where it is there.
  public var device: Device? {
    switch self {
    case .added(let device), .changed(let device): device
    case .present, .removed: nil
    }
  }
}
