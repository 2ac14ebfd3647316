/// What the chip can look for (UM0701-02, 7.3.5): the raw value is its code in InListPassiveTarget.
enum Modulation: UInt8, CaseIterable {
  case typeA = 0x00
  case felica212 = 0x01
  case felica424 = 0x02
  case typeB = 0x03
  /// NFC Forum Type 1. Such a tag answers the request of Type A, too, but no anticollision: the chip then finds no target of
  /// Type A, and this look finds the tag right after, the field on or off in between.
  case jewel = 0x04

  /// Whether the chip tells two such tags from each other.
  var mayBeTwo: Bool { self == .typeA || self == .typeB }

  var isFeliCa: Bool { self == .felica212 || self == .felica424 }

  /// What the chip sends to find a target: an application family of all for Type B, and for FeliCa a poll of every system
  /// that asks for its code, in one time slot.
  var initiatorData: [UInt8] {
    switch self {
    case .typeA, .jewel: []
    case .typeB: [0x00]
    case .felica212, .felica424: Self.poll(for: 0xFFFF)
    }
  }

  /// What polls FeliCa cards for a system (JIS X 6319-4): FF as either byte stands for any.
  static func poll(for system: UInt16) -> [UInt8] {
    [0x00, UInt8(truncatingIfNeeded: system >> 8), UInt8(truncatingIfNeeded: system), 0x01, 0x00]
  }
}
