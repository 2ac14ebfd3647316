/// The memory configuration block of a FeliCa Lite-S (FeliCa Lite-S User's Manual, "MC block").
struct LiteMemoryConfiguration: Sendable {
  static let block = 0x88
  /// All blocks are writable, and the system code 12FC is answered (SYS_OP).
  static let ofNewNDEFTag: [UInt8] = [0xFF, 0xFF, 0xFF, 0x01, 0x07] + [UInt8](repeating: 0, count: 11)

  let bytes: [UInt8]

  /// The last bit of MC_SP_REG_ALL_RW: whether access rights may still be removed. The other bits stand for the first
  /// 14 blocks and REG.
  private var isOpen: Bool { bytes[1] & 0x80 != 0 }
  /// MC_ALL: whether the system blocks, and bytes 2 to 5 of this block, are writable.
  private var isSystemOpen: Bool { bytes[2] == 0xFF }

  /// Whether everyone may write the block, without a key and without a MAC.
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

  /// The block after a write. Writes can only remove rights.
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
