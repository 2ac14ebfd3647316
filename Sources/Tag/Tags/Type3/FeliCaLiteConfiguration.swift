/// The memory configuration block of a FeliCa Lite or Lite-S (FeliCa Lite-S User's Manual, "MC block"): which blocks
/// may be written, and with which protection. The Type 3 specification does not define it, but it makes a tag read-only
/// for good.
struct FeliCaLiteConfiguration {
  static let block = 0x88
  /// Bits of MC_SP_REG_ALL_RW: 14 bits for the blocks, then one for REG, then this one for these bits themselves.
  private static let ownBit = 15
  private static let blockCount = 14

  /// The 16 bytes of the block as read from the card.
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Identifies the card by its IC code, the second byte of PMm: RC-S965, RC-S966 and RC-S967.
  static func belongs(to tag: FeliCaActivation) -> Bool { tag.pmm.count == 8 && (0xF0...0xF2).contains(tag.pmm[1]) }

  /// Whether anyone may write all of these blocks.
  func letsWrite(_ blocks: ClosedRange<Int>) -> Bool {
    // A set bit in the second field requires a key, one in the third a MAC. If neither is set, anyone may write.
    let (writable, withKey, withMAC) = (bits(at: 0), bits(at: 8), bits(at: 10))
    return blocks.allSatisfy { $0 < Self.blockCount && (writable & ~withKey & ~withMAC) >> $0 & 1 == 1 }
  }

  /// The configuration block that makes these blocks read-only, which is permanent. Nil if they are read-only already,
  /// or if the configuration cannot be changed any more.
  func locking(_ blocks: ClosedRange<Int>) -> [UInt8]? {
    let writable = bits(at: 0)
    let mask = blocks.filter { $0 < Self.blockCount }.reduce(0) { $0 | 1 << $1 }
    guard writable & mask != 0, writable >> Self.ownBit & 1 == 1 else { return nil }
    let locked = writable & ~mask
    return [UInt8(truncatingIfNeeded: locked), UInt8(truncatingIfNeeded: locked >> 8)] + bytes.dropFirst(2)
  }

  private func bits(at index: Int) -> Int { Int(bytes[index]) | Int(bytes[index + 1]) << 8 }
}
