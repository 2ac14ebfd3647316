/// A MIFARE Classic chip, with the memory layout from its data sheet.
package struct MIFAREClassicModel: Sendable, Hashable {
  /// The name on the control line: `mini`, `classic1k`, `classic4k`.
  package let name: String
  /// The number of sectors. The first 32 have 4 blocks each, the others 16.
  package let sectorCount: Int
  /// Select acknowledge.
  let sak: UInt8
  /// The low byte of the answer to request, for a UID of four bytes. The high byte is zero.
  let atqa: UInt8

  /// MF1ICS20: 5 sectors, 320 bytes.
  package static let mini = MIFAREClassicModel(name: "mini", sectorCount: 5, sak: 0x09, atqa: 0x04)
  /// MF1S50: 16 sectors, 1 KiB.
  package static let classic1K = MIFAREClassicModel(name: "classic1k", sectorCount: 16, sak: 0x08, atqa: 0x04)
  /// MF1S70: 40 sectors, 4 KiB.
  package static let classic4K = MIFAREClassicModel(name: "classic4k", sectorCount: 40, sak: 0x18, atqa: 0x02)

  /// All models.
  package static let all: [MIFAREClassicModel] = [.mini, .classic1K, .classic4K]

  /// The number of blocks, including those with keys.
  var blockCount: Int { Self.firstBlock(of: sectorCount) }

  static func firstBlock(of sector: Int) -> Int { sector < 32 ? sector * 4 : 128 + (sector - 32) * 16 }

  static func sector(of block: Int) -> Int { block < 128 ? block / 4 : 32 + (block - 128) / 16 }

  static func trailer(of sector: Int) -> Int { firstBlock(of: sector + 1) - 1 }
}
