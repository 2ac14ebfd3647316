/// An ISO/IEC 15693 chip, with the memory layout and the commands of its data sheet.
package struct SimulatedType5Model: Sendable, Hashable {
  /// The name on the control line.
  package let name: String
  /// The bytes of a block: 4 to 32.
  package let blockSize: Int
  /// The number of blocks. Those from 256 on need the extended commands.
  package let blockCount: Int
  /// The manufacturer (ISO/IEC 7816-6) in the second byte of the UID: 02 ST, 04 NXP, 07 TI, 08 Fujitsu.
  package let manufacturer: UInt8
  /// Whether the chip reads several blocks with one command.
  package var readsMultiple = true
  /// Whether the chip has the extended commands, whose block numbers have two bytes.
  package var hasExtendedCommands = false
  /// Whether a write or lock without the option flag is refused.
  package var needsOption = false
  /// Whether the chip stays silent after an unknown command instead of answering with an error.
  package var isSilentAtUnknownCommands = false

  /// A chip. Fails if a block does not have 4 to 32 bytes, or there are no blocks or more than 65,536.
  package init(
    _ name: String, blockSize: Int, blockCount: Int, manufacturer: UInt8 = 0x04
  ) throws(SimulatorError) {
    guard (4...32).contains(blockSize), (1...0x1_0000).contains(blockCount) else {
      throw SimulatorError("\(blockCount) blocks of \(blockSize) bytes are not a memory of ISO/IEC 15693")
    }
    self.init(checked: name, blockSize, blockCount, manufacturer)
    hasExtendedCommands = blockCount > 0x100
  }

  private init(
    checked name: String, _ blockSize: Int, _ blockCount: Int, _ manufacturer: UInt8,
    _ change: (inout SimulatedType5Model) -> Void = { _ in }
  ) {
    (self.name, self.blockSize, self.blockCount) = (name, blockSize, blockCount)
    self.manufacturer = manufacturer
    change(&self)
  }

  /// NXP ICODE SLIX: 28 blocks of 4 bytes.
  package static let slix = SimulatedType5Model(checked: "slix", 4, 28, 0x04) { $0.isSilentAtUnknownCommands = true }
  /// NXP ICODE SLIX2: 80 blocks of 4 bytes. The counter in the last one is not modelled.
  package static let slix2 = SimulatedType5Model(checked: "slix2", 4, 80, 0x04) { $0.isSilentAtUnknownCommands = true }
  /// TI Tag-it HF-I Plus: 64 blocks of 4 bytes. Writes need the option flag.
  package static let tagItPlus = SimulatedType5Model(checked: "tag-it-plus", 4, 64, 0x07) { $0.needsOption = true }
  /// ST ST25DV04K: 128 blocks of 4 bytes.
  package static let st25DV04K = SimulatedType5Model(checked: "st25dv04k", 4, 128, 0x02) {
    $0.hasExtendedCommands = true
  }
  /// ST ST25DV64K: 2,048 blocks of 4 bytes.
  package static let st25DV64K = SimulatedType5Model(checked: "st25dv64k", 4, 2048, 0x02) {
    $0.hasExtendedCommands = true
  }
  /// Fujitsu MB89R118C: 250 blocks of 8 bytes.
  package static let mb89R118 = SimulatedType5Model(checked: "mb89r118", 8, 250, 0x08)
  /// Fujitsu MB89R112: 256 blocks of 32 bytes.
  package static let mb89R112 = SimulatedType5Model(checked: "mb89r112", 32, 256, 0x08) { $0.readsMultiple = false }

  /// All models, the smallest memory first.
  package static let all: [SimulatedType5Model] = [
    .slix, .tagItPlus, .slix2, .st25DV04K, .mb89R118, .st25DV64K, .mb89R112,
  ]

  /// The bytes of the whole memory.
  package var byteCount: Int { blockSize * blockCount }
}
