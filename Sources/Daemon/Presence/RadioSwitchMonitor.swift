package import EventLoop
import Glibc

/// Follows the switches of the machine's radios at `/dev/rfkill`.
///
/// The device is only read, without blocking. The kernel reports each existing switch when the device is opened, and
/// each change after that. If there is no such device, or a read fails, airplane mode is unknown.
package actor RadioSwitchMonitor {
  /// The event loop that runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The number of events to read before the loop may run other work.
  private static let mostAtOnce = 256

  private let loop: EventLoop
  private let path: String
  private let changed: @Sendable (Fact) -> Void
  private var switches = RadioSwitches()
  private var device: FileDescriptor?
  private var watch: DescriptorWatch?
  private var reported = Fact.unknown

  /// Follows the device at `path`. Reports changes of "every radio is off" on the loop, which runs this actor.
  package init(_ path: String, on loop: EventLoop, changed: @escaping @Sendable (Fact) -> Void) {
    self.path = path
    self.loop = loop
    self.changed = changed
  }

  /// Starts to follow, and reports the current state at once. Throws if the device cannot be opened or watched.
  package func start() throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
    let device = FileDescriptor(owning: descriptor)
    self.device = device
    receive()
    watch = try DescriptorWatch(device, on: loop) { [weak self] in self?.assumeIsolated { $0.receive() } }
  }

  /// Stops following.
  package func stop() {
    watch?.cancel()
    watch = nil
    device = nil
  }

  private func receive() {
    guard let device else { return }
    var buffer = [UInt8](repeating: 0, count: RadioSwitches.eventSize)
    for _ in 0..<Self.mostAtOnce {
      let count = read(device.rawValue, &buffer, buffer.count)
      if count < 0, errno == EAGAIN || errno == EINTR { break }
      guard count > 0 else {
        stop()
        return report(.unknown)
      }
      switches.handle(Array(buffer.prefix(count)))
    }
    report(Fact(switches.isAirplaneMode))
  }

  private func report(_ fact: Fact) {
    guard fact != reported else { return }
    reported = fact
    changed(fact)
  }
}
