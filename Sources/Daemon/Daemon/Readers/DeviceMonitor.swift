import CUdev
package import EventLoop
import Glibc

/// Reports, from udev's messages, which devices are present, and each device that is plugged in, changes or is removed.
///
/// It sleeps between events. The loop owns it and calls its handler.
package actor DeviceMonitor {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The number of events that are handled before other work on the loop may run.
  private static let mostAtOnce = 64

  private nonisolated let loop: EventLoop
  private let subsystems: [String]
  private let udev: Udev
  private let handler: @Sendable (DeviceEvent) -> Void
  private var watch: DescriptorWatch?

  /// Reports devices of these subsystems, such as `usb` or `tty`, on the loop after `start()`. Throws if the udev
  /// monitor cannot be opened.
  package init(
    subsystems: [String], on loop: EventLoop, handler: @escaping @Sendable (DeviceEvent) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.subsystems = subsystems
    self.handler = handler
    udev = try Udev(subsystems: subsystems)
  }

  /// Starts listening, and only then lists the present devices, so that none is missed in between. Throws if the udev
  /// monitor cannot be started.
  package func start() throws(SystemError) -> [Device] {
    let descriptor = try udev.listen()
    watch = try DescriptorWatch(descriptor, on: loop) { [weak self] in self?.assumeIsolated { $0.receive() } }
    return devices()
  }

  /// The handler is not called after this.
  package func stop() {
    watch?.cancel()
    watch = nil
  }

  /// Nil if the device is not present.
  package func device(at path: String) -> Device? {
    guard let device = udev_device_new_from_syspath(udev.context, path) else { return nil }
    defer { udev_device_unref(device) }
    return Device(device, udev.context)
  }

  private func devices() -> [Device] {
    guard let enumeration = udev_enumerate_new(udev.context) else { return [] }
    defer { udev_enumerate_unref(enumeration) }
    for subsystem in subsystems { udev_enumerate_add_match_subsystem(enumeration, subsystem) }
    guard udev_enumerate_scan_devices(enumeration) >= 0 else { return [] }
    return Device.names(udev_enumerate_get_list_entry(enumeration)).compactMap { path in
      guard let device = udev_device_new_from_syspath(udev.context, path) else { return nil }
      defer { udev_device_unref(device) }
      // An interface is part of a device that is also in the list.
      return Device.owner(ofInterface: device) == nil ? Device(device, udev.context) : nil
    }
  }

  private func receive() {
    for _ in 0..<Self.mostAtOnce {
      errno = 0
      guard let device = udev_monitor_receive_device(udev.monitor) else {
        // The queue overflowed, so events are lost.
        if errno == ENOBUFS { handler(.present(devices())) }
        return
      }
      defer { udev_device_unref(device) }
      if let event = event(device) { handler(event) }
    }
  }

  private func event(_ device: OpaquePointer) -> DeviceEvent? {
    let action = Device.text(udev_device_get_action(device))
    if Device.text(udev_device_get_devtype(device)) == "usb_interface" {
      // The device sends its own message when it is added or removed. From an interface, only a driver that binds or
      // unbinds matters.
      guard action == "bind" || action == "unbind", let owner = Device.owner(ofInterface: device) else { return nil }
      return Device.text(udev_device_get_syspath(owner)).flatMap { self.device(at: $0) }.map { .changed($0) }
    }
    if action == "remove" { return Device.text(udev_device_get_syspath(device)).map { .removed(path: $0) } }
    return Device(device, udev.context).map { action == "add" ? .added($0) : .changed($0) }
  }
}

/// libudev's context and its monitor of udev's own messages, freed with this object.
private final class Udev {
  let context: OpaquePointer
  let monitor: OpaquePointer

  init(subsystems: [String]) throws(SystemError) {
    guard let context = udev_new() else { throw SystemError("open libudev") }
    // "udev": the messages that udev sends after its rules have run, not the earlier ones of the kernel.
    guard let monitor = udev_monitor_new_from_netlink(context, "udev") else {
      let error = SystemError("listen to udev")
      udev_unref(context)
      throw error
    }
    self.context = context
    self.monitor = monitor
    for subsystem in subsystems { udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil) }
  }

  /// Returns a descriptor that becomes ready when a message arrives.
  func listen() throws(SystemError) -> FileDescriptor {
    guard udev_monitor_enable_receiving(monitor) >= 0 else { throw SystemError("listen to udev") }
    // libudev closes its own descriptor, so return a duplicate.
    let copy = fcntl(udev_monitor_get_fd(monitor), F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError("listen to udev") }
    return FileDescriptor(owning: copy)
  }

  deinit {
    udev_monitor_unref(monitor)
    udev_unref(context)
  }
}

/// A device of the machine, as udev knows it at one moment.
package struct Device: Sendable, Hashable {
  /// The maker and the current position of a USB device.
  package struct USB: Sendable, Hashable {
    /// `idVendor` of the device descriptor (USB 2.0, 9.6.1).
    package let vendor: UInt16
    /// `idProduct` of the device descriptor.
    package let product: UInt16
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
  /// For example `usb` or `tty`.
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

  /// Nil unless a device was added or changed.
  package var device: Device? {
    switch self {
    case .added(let device), .changed(let device): device
    case .present, .removed: nil
    }
  }
}

/// None of these functions keeps or releases `device`.
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

  /// Of a libudev list.
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

  /// As logind decides it.
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
