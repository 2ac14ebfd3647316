/// The switches of the machine's radios, put together from what `/dev/rfkill` says (linux/rfkill.h), and whether they make
/// airplane mode: at least one switch, and all of them blocked, by software or by hardware.
///
/// Pure. Readers of ours have no switch of their own, so the others say what the user wants.
public struct RadioSwitches: Sendable, Hashable {
  /// What to read at a time: one event. Those of newer kernels are longer (9 bytes since Linux 5.11), and the kernel leaves out
  /// what does not fit; what these 8 bytes mean stays.
  public static let eventSize = 8
  /// More switches than this nobody has.
  static let limit = 256

  private var isBlocked: [UInt32: Bool] = [:]

  /// No switch is known.
  public init() {}

  /// Takes in what one read gave.
  ///
  /// The event is packed, in the machine's byte order: index (4 bytes), type, operation (0 added, 1 removed, 2 changed, 3
  /// changed all), soft block, hard block; what follows is of no interest. Less than 8 bytes are no event.
  ///
  /// - Parameter bytes: what was read.
  public mutating func handle(_ bytes: [UInt8]) {
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
  public var isAirplaneMode: Bool { !isBlocked.isEmpty && isBlocked.values.allSatisfy(\.self) }

  private static let isLittleEndian = UInt16(littleEndian: 1) == 1
}
