public import EventLoop
import Glibc
public import ScanGate

/// Follows the switches of the machine's radios at `/dev/rfkill`.
///
/// It is read only, and asked without waiting: the kernel tells of each switch that there is when the device is opened, and of
/// each change from then on. Where there is no such device, or what is read is none, airplane mode is unknown.
public actor RadioSwitchMonitor {
  /// The loop that owns this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Events that are taken in before something else may run.
  private static let mostAtOnce = 256

  private let loop: EventLoop
  private let path: String
  private let changed: @Sendable (Fact) -> Void
  private var switches = RadioSwitches()
  private var device: FileDescriptor?
  private var watch: DescriptorWatch?
  private var told = Fact.unknown

  /// - Parameters:
  ///   - path: the device.
  ///   - loop: the loop that owns this actor.
  ///   - changed: called on the loop with whether every radio is off, when that changes.
  public init(_ path: String, on loop: EventLoop, changed: @escaping @Sendable (Fact) -> Void) {
    self.path = path
    self.loop = loop
    self.changed = changed
  }

  /// Begins to follow, and says at once what is so.
  ///
  /// - Throws: `SystemError` where the device cannot be opened or watched.
  public func start() throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
    let device = FileDescriptor(owning: descriptor)
    self.device = device
    receive()
    watch = try DescriptorWatch(device, on: loop) { [weak self] in self?.assumeIsolated { $0.receive() } }
  }

  /// Ends the following.
  public func stop() {
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
        return tell(.unknown)
      }
      switches.handle(Array(buffer.prefix(count)))
    }
    tell(Fact(switches.isAirplaneMode))
  }

  private func tell(_ fact: Fact) {
    guard fact != told else { return }
    told = fact
    changed(fact)
  }
}
