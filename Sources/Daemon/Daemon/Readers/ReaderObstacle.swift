import Names

/// The reason why a plugged-in USB reader cannot be opened, and a remedy.
enum ReaderObstacle: Hashable, Sendable {
  case kernelDriver(String)
  /// Another program has it: probably pcscd, if pcscd can be reached. With socket activation, pcscd's socket exists
  /// even if pcscd does not run. The kernel does not report which program has claimed a device.
  case program(isPCSCD: Bool)
  case permission(node: String)

  /// The kernel's name for a program's claim on an interface.
  private static let claimedByProgram = "usbfs"

  /// The kernel's drivers for NFC readers. Another driver, such as that of a keyboard, may have a different interface of
  /// a reader and does not disturb.
  private static let readerModules: Set<String> = ["nfcmrvl_usb", "pn533_usb", "port100"]

  /// Nil if no module of the kernel keeps pcscd from the reader.
  static func module(holding usb: Device.USB) -> String? { usb.drivers.first(where: readerModules.contains) }

  /// Why a reader could not be opened; nil if the daemon sees no obstacle.
  ///
  /// `pcscdRuns` is also true if the PC/SC daemon would be started on demand. `mayOpen`: the permissions of the
  /// reader's node allow opening it.
  init?(_ device: Device, pcscdRuns: Bool, mayOpen: Bool) {
    guard let usb = device.usb else { return nil }
    if let driver = usb.drivers.first(where: { $0 != Self.claimedByProgram }) {
      self = .kernelDriver(driver)
    } else if usb.drivers.contains(Self.claimedByProgram) {
      self = .program(isPCSCD: pcscdRuns)
    } else if let node = device.node, !mayOpen {
      self = .permission(node: node)
    } else {
      return nil
    }
  }

  /// Whether the obstacle is gone, according to `device` from the latest event of udev. `device` does not show
  /// permissions, but udev may just have set them. So the reader is tried again.
  func isGone(from device: Device) -> Bool {
    switch self {
    case .kernelDriver(let driver): device.usb?.drivers.contains(driver) != true
    case .program: device.usb?.drivers.contains(Self.claimedByProgram) != true
    case .permission: true
    }
  }

  /// The obstacle and the remedy, a text that follows the reader's name.
  func reason(hasSystemd: Bool) -> String {
    switch self {
    case .kernelDriver(let driver):
      "it is taken by the kernel module \(driver): \(ReaderRemedy.unloading(driver)), and blacklist it in /etc/modprobe.d"
    case .program(isPCSCD: true):
      "it is taken by another program, probably pcscd: \(hasSystemd ? ReaderRemedy.stoppingPCSCD : "stop that program"), "
        + "or use the reader through pcscd, with Backend=auto and an empty Devices= in tagroute.conf"
    case .program(isPCSCD: false): "it is taken by another program: stop that program"
    case .permission(let node):
      "no permission for \(node): \(ReaderRemedy.applyingUdevRules) gives it to the group \(ReaderRemedy.owner); "
        + "if tagrouted runs as another user, add that user to plugdev, the group of libnfc's rule"
    }
  }
}
