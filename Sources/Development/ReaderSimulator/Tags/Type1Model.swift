/// An NFC Forum Type 1 chip, with the memory layout from its data sheet.
package struct Type1Model: Sendable, Hashable {
  /// The name on the control line: `topaz96`, `topaz512`.
  package let name: String
  /// HR0 and HR1. The low digit of HR0 is 1 if the memory is static.
  package let headerROM: [UInt8]
  /// The number of blocks of eight bytes, including those without data.
  package let blockCount: Int
  /// The control TLVs after the capability container, in the factory state.
  let controlBlocks: [UInt8]

  /// Topaz, BCM20203T96: 120 bytes, 92 of them for TLVs.
  package static let topaz96 = Type1Model(name: "topaz96", headerROM: [0x11, 0x48], blockCount: 15, controlBlocks: [])
  /// Topaz 512, BCM20203T512: 512 bytes, 476 of them for TLVs. 48 lock bits begin at byte 122. The two bytes before
  /// them are reserved.
  package static let topaz512 = Type1Model(
    name: "topaz512", headerROM: [0x12, 0x4C], blockCount: 64,
    controlBlocks: [0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03])

  /// All models.
  package static let all: [Type1Model] = [.topaz96, .topaz512]

  /// Whether the chip knows the commands for segments and blocks.
  var isDynamic: Bool { headerROM[0] & 0x0F != 0x01 }

  /// The capability container: NMN, VNo, TMS and RWA (Type 1 Tag Operation Specification 1.1, section 6.1.4).
  var container: [UInt8] { [0xE1, 0x10, UInt8(truncatingIfNeeded: blockCount - 1), 0x00] }

  /// The addresses of data, without the container and blocks D, E and F.
  var dataAddresses: [Int] { Array(12..<104) + (isDynamic ? Array(128..<blockCount * 8) : []) }

  /// The length of the longest message, in bytes.
  package var capacity: Int {
    let room = dataAddresses.count - controlBlocks.count
    return max(min(room - 2, 0xFE), room - 4)
  }
}
