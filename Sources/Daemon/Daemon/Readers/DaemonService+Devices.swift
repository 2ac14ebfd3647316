import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol

/// Events of udev, and the obstacles to opening a reader.
extension DaemonService {
  /// The kinds of devices behind which libnfc finds readers: USB, serial lines, SPI and I2C.
  private static let subsystems = ["i2c-dev", "spidev", "tty", "usb"]
  private static let withoutUdev =
    "tagrouted looks for USB readers when it starts, and later only if it has found none"

  /// Starts to listen to udev, if it runs. Returns the present devices; nil if udev does not report them.
  func watchDevices() -> [Device]? {
    // The control socket of systemd-udevd exists while it runs.
    guard runtimeFileExists("udev/control") else {
      log(.notice, "udev does not run: \(Self.withoutUdev)")
      return nil
    }
    do throws(SystemError) {
      let monitor = try DeviceMonitor(subsystems: Self.subsystems, on: loop) { [weak self] event in
        self?.assumeIsolated { $0.receive(event) }
      }
      let devices = try monitor.assumeIsolated { monitor in
        Result { () throws(SystemError) in try monitor.start() }
      }.get()
      deviceMonitor = monitor
      return devices
    } catch {
      log(.warning, "\(error): \(Self.withoutUdev)")
      return nil
    }
  }

  private func receive(_ event: DeviceEvent) {
    guard !isStopped else { return }
    if case .removed(let path) = event, let id = roster.reader(at: path), let unit = units[id] {
      // Forget the known tags: a tag on the next reader in this port is a new one.
      keep(KnownTags(), on: unit.place)
    }
    preparePCSC(for: event)
    perform(roster.handle(.device(event)))
    // The obstacle may have changed. The process cannot see it, and does not report the same failure again. So update
    // the reason here.
    guard let device = event.device, let id = roster.reader(at: device.path), let unit = units[id],
      let reported = unit.reported
    else { return }
    let before = roster.readers[id]?.obstacle
    var obstacle = obstacle(to: id)
    // The claim may come from the daemon's own reader process, which is trying again.
    if case .program = obstacle, before != obstacle { obstacle = nil }
    handle(.reader(id, .phase(explained(reported, of: id, by: obstacle), reached: unit.reached)))
  }

  /// Adds the reason that udev knows to the phase that a process has reported.
  func explained(_ reported: ReaderPhase, of id: Int) -> ReaderPhase {
    explained(reported, of: id, by: obstacle(to: id))
  }

  private func explained(_ reported: ReaderPhase, of id: Int, by obstacle: ReaderObstacle?) -> ReaderPhase {
    if reported.isOpen || reported == .released { return reported }
    perform(roster.handle(.failed(id, obstacle)))
    // libnfc cannot distinguish an unplugged USB reader from one that it may not open. udev can.
    if case .failed = reported, state.readers[id]?.isAway == true { return .absent(reason: "it is not plugged in") }
    return obstacle.map { .failed(reason: $0.reason(hasSystemd: directories.hasSystemd)) } ?? reported
  }

  /// The obstacle to opening a reader that is plugged in; nil if the daemon sees none.
  private func obstacle(to id: Int) -> ReaderObstacle? {
    // pcscd opens the device of such a reader, and its process reports the obstacle.
    guard roster.readers[id]?.isPCSC == false else { return nil }
    guard let path = roster.readers[id]?.path,
      let device = deviceMonitor?.assumeIsolated({ $0.device(at: path) })
    else { return nil }
    let mayOpen = device.node.map { access($0, R_OK | W_OK) == 0 || errno == ENOENT } ?? true
    // If pcscd runs, or systemd starts it on demand, its socket for clients exists.
    return ReaderObstacle(device, pcscdRuns: runtimeFileExists(Names.PCSC.socket), mayOpen: mayOpen)
  }

  private func runtimeFileExists(_ name: String) -> Bool { access("\(directories.runtime)/\(name)", F_OK) == 0 }
}

/// The reason why a plugged-in USB reader cannot be opened, and a remedy.
enum ReaderObstacle: Hashable, Sendable {
  /// A driver of the kernel has it.
  case kernelDriver(String)
  /// Another program has it: probably pcscd, if pcscd can be reached. With socket activation, pcscd's socket exists
  /// even if pcscd does not run. The kernel does not report which program has claimed a device.
  case program(isPCSCD: Bool)
  /// The daemon has no permission for its device node.
  case permission(node: String)

  /// The kernel's name for a program's claim on an interface.
  private static let claimedByProgram = "usbfs"

  /// The kernel's drivers for NFC readers. Another driver, such as that of a keyboard, may have a different interface of
  /// a reader and does not disturb.
  private static let readerModules: Set<String> = ["nfcmrvl_usb", "pn533_usb", "port100"]

  /// The module of the kernel that keeps pcscd from a reader; nil if none does.
  static func module(holding usb: Device.USB) -> String? { usb.drivers.first(where: readerModules.contains) }

  /// Finds the obstacle to a reader that could not be opened; nil if there is none to see.
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
