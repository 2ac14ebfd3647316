import DeviceEvents
import EventLoop
import Glibc
import Journal
import ReaderLink

/// What udev says, and what keeps a reader from being opened.
extension DaemonService {
  /// The kinds of devices behind which libnfc finds readers: USB, serial lines, SPI and I2C.
  private static let subsystems = ["i2c-dev", "spidev", "tty", "usb"]

  /// Begins to listen to udev, where it runs.
  ///
  /// - Returns: the devices of the machine; nil where nobody tells of them.
  func watchDevices() -> [Device]? {
    guard runtimeFiles.udevRuns else {
      log(.notice, "udev does not run: a USB reader is found when this starts, or as the first one later")
      return nil
    }
    do throws(SystemError) {
      let monitor = try DeviceMonitor(subsystems: Self.subsystems, on: loop) { [weak self] event in
        self?.assumeIsolated { $0.follow(event) }
      }
      let devices = try monitor.assumeIsolated { monitor in
        Result { () throws(SystemError) in try monitor.start() }
      }.get()
      deviceMonitor = monitor
      return devices
    } catch {
      log(.warning, "\(error): a USB reader is found when this starts, or as the first one later")
      return nil
    }
  }

  private func follow(_ event: DeviceEvent) {
    guard !isStopped else { return }
    if case .removed(let path) = event, let id = roster.reader(at: path), let unit = units[id] {
      // What lies on the next one that is plugged in there is new.
      keep(KnownTags(), on: unit.place)
    }
    perform(roster.handle(.device(event)))
    // What is in the way may be something else than a moment ago, and the process, which sees none of it, would not say
    // the same failure again.
    guard let device = event.device, let id = roster.reader(at: device.path), let unit = units[id],
      let reported = unit.reported
    else { return }
    let before = roster.readers[id]?.obstacle
    var obstacle = obstacle(to: id)
    // The claim of a program may be the one of our own process, which is trying again.
    if case .program = obstacle, before != obstacle { obstacle = nil }
    handle(.reader(id, .phase(explained(reported, of: id, by: obstacle), reached: unit.reached)))
  }

  /// What a process says of its device, with what udev knows about the reason.
  func explained(_ reported: ReaderPhase, of id: Int) -> ReaderPhase {
    explained(reported, of: id, by: obstacle(to: id))
  }

  private func explained(_ reported: ReaderPhase, of id: Int, by obstacle: ReaderObstacle?) -> ReaderPhase {
    if reported.isOpen || reported == .released { return reported }
    perform(roster.handle(.failed(id, obstacle)))
    // libnfc does not tell a USB reader that is not there from one that cannot be opened; udev does.
    if case .failed = reported, state.readers[id]?.isAway == true { return .absent(reason: "it is not plugged in") }
    return obstacle.map { .failed(reason: $0.reason(hasSystemd: directories.hasSystemd)) } ?? reported
  }

  /// What is in the way of a reader that is plugged in, where that can be seen.
  private func obstacle(to id: Int) -> ReaderObstacle? {
    guard let path = roster.readers[id]?.path,
      let device = deviceMonitor?.assumeIsolated({ $0.device(at: path) })
    else { return nil }
    let mayOpen = device.node.map { access($0, R_OK | W_OK) == 0 || errno == ENOENT } ?? true
    return ReaderObstacle(device, pcscdRuns: runtimeFiles.pcscdRuns, mayOpen: mayOpen)
  }
}
