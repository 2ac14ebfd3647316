/// The modulations that the chip can look for (UM0701-02, 7.3.5). The raw value is the code in InListPassiveTarget.
enum Modulation: UInt8, CaseIterable {
  case typeA = 0x00
  case felica212 = 0x01
  case felica424 = 0x02
  case typeB = 0x03
  /// NFC Forum Type 1. Such a tag also answers the request of Type A, but no anticollision, so the chip finds no target
  /// of Type A. A look with this modulation right after that finds the tag, whether or not the field was off in
  /// between.
  case jewel = 0x04

  /// The chip can tell two such tags apart.
  var mayBeTwo: Bool { self == .typeA || self == .typeB }

  var isFeliCa: Bool { self == .felica212 || self == .felica424 }

  /// Sent to find a target. For Type B it means all application families. For FeliCa it polls every system, requests
  /// the system code, and uses one time slot.
  var initiatorData: [UInt8] {
    switch self {
    case .typeA, .jewel: []
    case .typeB: [0x00]
    case .felica212, .felica424: Self.poll(for: 0xFFFF)
    }
  }

  /// For FeliCa cards (JIS X 6319-4). FF in either byte matches any value.
  static func poll(for system: UInt16) -> [UInt8] {
    [0x00, UInt8(truncatingIfNeeded: system >> 8), UInt8(truncatingIfNeeded: system), 0x01, 0x00]
  }
}
