import DeviceEvents

/// What keeps a USB reader that is plugged in from being opened, and what a person can do about it.
enum ReaderObstacle: Hashable, Sendable {
  /// A driver of the kernel has it.
  case kernelDriver(String)
  /// Another program has it: probably pcscd, where that can be reached. Its socket is there with socket activation whether
  /// or not it runs, and the kernel does not say whose a claim is.
  case program(isPCSCD: Bool)
  /// Its node may not be opened.
  case permission(node: String)

  /// The name that the kernel gives a program's claim on an interface.
  private static let claimedByProgram = "usbfs"

  /// What stands in the way of a reader that could not be opened.
  ///
  /// - Parameters:
  ///   - device: the reader.
  ///   - pcscdRuns: whether the PC/SC daemon runs, or would if somebody asked for it.
  ///   - mayOpen: whether its node may be opened, as far as permissions go.
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

  /// Whether it is out of the way now. Where that is not seen in `device`, the reader is tried again anyway in a while.
  func isGone(from device: Device) -> Bool {
    switch self {
    case .kernelDriver(let driver): device.usb?.drivers.contains(driver) != true
    case .program: device.usb?.drivers.contains(Self.claimedByProgram) != true
    case .permission: false
    }
  }

  /// What is in the way and what to do about it, in words that follow the reader's name.
  var reason: String {
    switch self {
    case .kernelDriver(let driver):
      "it is taken by the kernel module \(driver): modprobe -r \(driver), and blacklist it in /etc/modprobe.d"
    case .program(isPCSCD: true):
      "it is taken by another program, probably pcscd: systemctl disable --now pcscd.socket pcscd.service, or keep pcscd from this reader"
    case .program(isPCSCD: false): "it is taken by another program: end that"
    case .permission(let node):
      "no permission for \(node): a udev rule must give it to the group plugdev, as libnfc's does when it is plugged in, and "
        + "the user that tagrouted runs as must be in that group"
    }
  }
}
