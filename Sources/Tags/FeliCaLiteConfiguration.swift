/// The memory configuration block of a FeliCa Lite or Lite-S (FeliCa Lite-S User's Manual, "MC block"): which of its blocks
/// may be written, and by whom. No part of the Type 3 specification, but what makes a tag read-only for good.
struct FeliCaLiteConfiguration {
  static let block = 0x88
  /// Bits of MC_SP_REG_ALL_RW: one for each of the 14 blocks, then REG, then these bits themselves.
  private static let ownBit = 15
  private static let blockCount = 14

  /// As it was read.
  private let bytes: [UInt8]

  /// - Parameter bytes: 16 bytes.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// By the IC code, the second byte of PMm: RC-S965, RC-S966 and RC-S967.
  static func belongs(to tag: FeliCaActivation) -> Bool { tag.pmm.count == 8 && (0xF0...0xF2).contains(tag.pmm[1]) }

  /// Whether the card lets anybody write all of these blocks.
  func letsWrite(_ blocks: ClosedRange<Int>) -> Bool {
    // Those of the second and third field are free for the taking where the bit is not set: with a key, with a MAC.
    let (writable, withKey, withMAC) = (bits(at: 0), bits(at: 8), bits(at: 10))
    return blocks.allSatisfy { $0 < Self.blockCount && (writable & ~withKey & ~withMAC) >> $0 & 1 == 1 }
  }

  /// The block with these blocks made read-only, which the card never takes back; nil where it is so already, or cannot be
  /// any more.
  func locking(_ blocks: ClosedRange<Int>) -> [UInt8]? {
    let writable = bits(at: 0)
    let mask = blocks.filter { $0 < Self.blockCount }.reduce(0) { $0 | 1 << $1 }
    guard writable & mask != 0, writable >> Self.ownBit & 1 == 1 else { return nil }
    let locked = writable & ~mask
    return [UInt8(truncatingIfNeeded: locked), UInt8(truncatingIfNeeded: locked >> 8)] + bytes.dropFirst(2)
  }

  private func bits(at index: Int) -> Int { Int(bytes[index]) | Int(bytes[index + 1]) << 8 }
}
