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
