import DeviceEvents
import Names

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

  /// Whether it is out of the way now, as far as `device` tells, which udev has just spoken of. Permissions are not in it, and are what
  /// udev gives: the reader is tried.
  func isGone(from device: Device) -> Bool {
    switch self {
    case .kernelDriver(let driver): device.usb?.drivers.contains(driver) != true
    case .program: device.usb?.drivers.contains(Self.claimedByProgram) != true
    case .permission: true
    }
  }

  /// What is in the way and what to do about it.
  ///
  /// - Parameter hasSystemd: whether systemd is the system's manager.
  /// - Returns: words that follow the reader's name.
  func reason(hasSystemd: Bool) -> String {
    switch self {
    case .kernelDriver(let driver):
      "it is taken by the kernel module \(driver): \(ReaderRemedy.unloading(driver)), and blacklist it in /etc/modprobe.d"
    case .program(isPCSCD: true):
      "it is taken by another program, probably pcscd: \(hasSystemd ? ReaderRemedy.stoppingPCSCD : "end that"), "
        + "or keep pcscd from this reader"
    case .program(isPCSCD: false): "it is taken by another program: end that"
    case .permission(let node):
      "no permission for \(node): \(ReaderRemedy.applyingUdevRules) gives it to the group \(ReaderRemedy.owner); "
        + "a tagrouted that runs as another user has to be in the group that libnfc's rule names, plugdev"
    }
  }
}
