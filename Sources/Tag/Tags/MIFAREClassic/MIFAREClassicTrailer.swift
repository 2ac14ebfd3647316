/// A sector's trailer: key A, access bits, general purpose byte, key B (MF1S50YYX_V1 data sheet, section 8.7).
struct MIFAREClassicTrailer: Equatable {
  /// C1, C2 and C3 for the three groups of data blocks and for the trailer. C1 is the highest of three bits.
  private let conditions: [UInt8]
  /// In an NDEF sector, the mapping version and the read and write access (AN1304, section 6.1).
  let generalPurpose: UInt8
  /// Key B as read from the tag: zeros if it is hidden.
  let readableKeyB: [UInt8]

  /// Nil if bytes are missing, or if the two copies of the access bits contradict each other.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 16 else { return nil }
    let (c1, c2, c3) = (bytes[7] >> 4, bytes[8] & 0x0F, bytes[8] >> 4)
    guard bytes[6] == ~(c2 << 4 | c1), bytes[7] & 0x0F == ~c3 & 0x0F else { return nil }
    conditions = (0..<4).map { group in
      (c1 >> UInt8(group) & 1) << 2 | (c2 >> UInt8(group) & 1) << 1 | (c3 >> UInt8(group) & 1)
    }
    generalPurpose = bytes[9]
    readableKeyB = Array(bytes[10..<16])
  }

  /// Only for sector 0: whether the directory has a second part, in sector 16. Its version, the two lowest bits, is
  /// then 2 (AN10787, section 3.3).
  var hasSecondPart: Bool { generalPurpose & 0x03 == 0b10 }

  /// Whether anyone may write the data blocks: key A permits it, and so does the general purpose byte.
  var letsEverybodyWrite: Bool {
    areDataOpen && generalPurpose & 0x03 == 0
  }

  /// Whether both keys may read and write the data blocks.
  var areDataOpen: Bool { conditions[0..<3].allSatisfy { $0 == 0b000 } }

  /// Whether the data blocks are permanently read-only.
  var isLocked: Bool {
    conditions[0..<3].allSatisfy { [0b010, 0b101, 0b111].contains($0) } && accessBitsWriter == nil
  }

  /// The key that permits writing the access bits; nil if neither does.
  var accessBitsWriter: MIFAREClassicKey.Slot? {
    switch conditions[3] {
    case 0b001: .a
    case 0b011, 0b101: .b
    default: nil
    }
  }

  /// A trailer that is permanently read-only. Both keys can read the data blocks, and neither can write them.
  ///
  /// A trailer can only be written as a whole, keys included. The keys must be the ones that the sector has.
  static func locked(keyA: [UInt8], keyB: [UInt8], generalPurpose: UInt8) -> [UInt8] {
    // Access bits 010 for the data, 110 for the trailer.
    keyA + [0x07, 0x8F, 0x0F, generalPurpose] + keyB
  }
}
