/// The memory configuration block of a FeliCa Lite-S (FeliCa Lite-S User's Manual, "MC block").
struct LiteMemoryConfiguration: Sendable {
  static let block = 0x88
  /// All may be written, and 12FC is answered (SYS_OP).
  static let ofNewNDEFTag: [UInt8] = [0xFF, 0xFF, 0xFF, 0x01, 0x07] + [UInt8](repeating: 0, count: 11)

  let bytes: [UInt8]

  /// MC_SP_REG_ALL_RW: a bit for each of the first 14 blocks and REG, and one for what may only be taken away.
  private var isOpen: Bool { bytes[1] & 0x80 != 0 }
  /// MC_ALL: whether the blocks of the system, and bytes 2 to 5 of this one, may be written.
  private var isSystemOpen: Bool { bytes[2] == 0xFF }

  /// Whether everybody may write the block, without a key and without a MAC.
  func mayWrite(_ block: Int) -> Bool {
    switch block {
    case 0...14:
      let bits = { (index: Int) in (Int(bytes[index]) | Int(bytes[index + 1]) << 8) >> block & 1 }
      return bits(0) == 1 && bits(8) == 0 && bits(10) == 0
    case 0x80: return true
    case Self.block: return isOpen || isSystemOpen
    case 0x82, 0x84, 0x86, 0x87: return isSystemOpen
    default: return false
    }
  }

  /// What becomes of it when it is written: rights are only ever taken away.
  func updated(_ data: [UInt8]) -> LiteMemoryConfiguration {
    LiteMemoryConfiguration(
      bytes: (0..<16).map { index in
        switch index {
        case 0...1: isOpen ? bytes[index] & data[index] : bytes[index]
        case 2...5: isSystemOpen ? data[index] : bytes[index]
        case 6...12: isOpen ? bytes[index] | data[index] : bytes[index]
        default: 0
        }
      })
  }
}
