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

  /// A state without switches.
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
