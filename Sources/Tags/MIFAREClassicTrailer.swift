/// A sector's trailer: key A, access bits, general purpose byte, key B (MF1S50YYX_V1 data sheet, section 8.7).
struct MIFAREClassicTrailer: Equatable {
  /// C1, C2 and C3 of the three groups of data blocks and of the trailer, C1 the highest of three bits.
  private let conditions: [UInt8]
  /// Says of a sector with NDEF which version it is formatted for, and who may read and write (AN1304, section 6.1).
  let generalPurpose: UInt8
  /// Key B as it was read: zeros where it is hidden.
  let readableKeyB: [UInt8]

  /// Nil where the access bits, which are there twice, contradict each other, or bytes are missing.
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

  /// In sector 0: whether the directory has a second part, in sector 16: its version, the two lowest bits, is 2 (AN10787, section 3.3).
  var hasSecondPart: Bool { generalPurpose & 0x03 == 0b10 }

  /// Whether everybody may write the data blocks: with key A, and by what the sector says of itself.
  var letsEverybodyWrite: Bool {
    conditions[0..<3].allSatisfy { $0 == 0b000 } && generalPurpose & 0x03 == 0
  }

  /// Whether nobody can write the data blocks, and nobody can ever change that.
  var isLocked: Bool {
    conditions[0..<3].allSatisfy { [0b010, 0b101, 0b111].contains($0) } && accessBitsWriter == nil
  }

  /// Which key lets the access bits be written; nil for neither.
  var accessBitsWriter: MIFAREClassicKey.Slot? {
    switch conditions[3] {
    case 0b001: .a
    case 0b011, 0b101: .b
    default: nil
    }
  }

  /// A trailer for ever: the data blocks can be read with either key, nothing can be written, and neither can this.
  ///
  /// It has to be written whole, keys included; they must be the ones that the sector has.
  ///
  /// - Parameters:
  ///   - keyA: the sector's key A.
  ///   - keyB: the sector's key B.
  ///   - generalPurpose: what the sector says of itself from now on.
  /// - Returns: 16 bytes.
  static func locked(keyA: [UInt8], keyB: [UInt8], generalPurpose: UInt8) -> [UInt8] {
    // 010 for the data, 110 for the trailer.
    keyA + [0x07, 0x8F, 0x0F, generalPurpose] + keyB
  }
}
