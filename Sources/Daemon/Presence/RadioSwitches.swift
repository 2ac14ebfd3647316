package import EventLoop
import Glibc

/// The switches of the machine's radios, built from the events of `/dev/rfkill` (linux/rfkill.h). Airplane mode is on
/// if there is at least one switch and all are blocked, by software or by hardware.
///
/// Pure. Our readers have no switch, so the others show the user's intention.
package struct RadioSwitches: Sendable, Hashable {
  /// The size of a read: one event. Events of newer kernels are longer (9 bytes since Linux 5.11). The kernel drops the
  /// bytes that do not fit, and these 8 bytes keep their meaning.
  package static let eventSize = 8
  /// More switches than any machine has.
  static let limit = 256

  private var isBlocked: [UInt32: Bool] = [:]

  package init() {}

  /// Processes the bytes of one read.
  ///
  /// The event is packed, in the machine's byte order: index (4 bytes), type, operation (0 added, 1 removed, 2 changed,
  /// 3 changed all), soft block, hard block. Further bytes are ignored. Fewer than 8 bytes are not an event.
  package mutating func handle(_ bytes: [UInt8]) {
    guard bytes.count >= Self.eventSize else { return }
    var index: UInt32 = 0
    for (place, byte) in bytes.prefix(4).enumerated() {
      index |= UInt32(byte) << (8 * UInt32(Self.isLittleEndian ? place : 3 - place))
    }
    let blocked = bytes[6] != 0 || bytes[7] != 0
    switch bytes[5] {
    case 0 where isBlocked.count < Self.limit: isBlocked[index] = blocked
    case 1: isBlocked[index] = nil
    case 2 where isBlocked[index] != nil: isBlocked[index] = blocked
    default: break
    }
  }

  /// Whether every radio is off.
  package var isAirplaneMode: Bool { !isBlocked.isEmpty && isBlocked.values.allSatisfy(\.self) }

  private static let isLittleEndian = UInt16(littleEndian: 1) == 1
}

/// Follows the switches of the machine's radios at `/dev/rfkill`.
///
/// The device is only read, without blocking. The kernel reports each existing switch when the device is opened, and
/// each change after that. If there is no such device, or a read fails, airplane mode is unknown.
package actor RadioSwitchMonitor {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The number of events to read before the loop may run other work.
  private static let mostAtOnce = 256

  private let loop: EventLoop
  private let path: String
  private let changed: @Sendable (Fact) -> Void
  private var switches = RadioSwitches()
  private var device: FileDescriptor?
  private var watch: DescriptorWatch?
  private var announced = Fact.unknown

  /// Reports changes of "every radio is off" on the loop, which runs this actor.
  package init(_ path: String, on loop: EventLoop, changed: @escaping @Sendable (Fact) -> Void) {
    self.path = path
    self.loop = loop
    self.changed = changed
  }

  /// Reports the current state at once. Throws if the device cannot be opened or watched.
  package func start() throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
    let device = FileDescriptor(owning: descriptor)
    self.device = device
    receive()
    watch = try DescriptorWatch(device, on: loop) { [weak self] in self?.assumeIsolated { $0.receive() } }
  }

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
        return announce(.unknown)
      }
      switches.handle(Array(buffer.prefix(count)))
    }
    announce(Fact(switches.isAirplaneMode))
  }

  private func announce(_ fact: Fact) {
    guard fact != announced else { return }
    announced = fact
    changed(fact)
  }
}
