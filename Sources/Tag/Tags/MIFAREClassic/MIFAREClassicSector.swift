/// A sector of a MIFARE Classic: blocks of 16 bytes. The last block is the trailer with keys and access bits
/// (MF1S50YYX_V1 and MF1S70YYX_V1 data sheets, section 8.6).
struct MIFAREClassicSector: Hashable {
  static let blockSize = 16

  /// 0 to 39.
  let number: Int

  var firstBlock: Int { number < 32 ? number * 4 : 128 + (number - 32) * 16 }
  /// The number of blocks without the trailer. The first block of sector 0 is the manufacturer block.
  var dataBlockCount: Int { number < 32 ? 3 : 15 }
  var trailerBlock: Int { firstBlock + dataBlockCount }
  /// The number of data bytes.
  var dataSize: Int { dataBlockCount * Self.blockSize }

  /// The number of sectors of a tag with this select acknowledge (AN10833, section 3). If it is unknown, the maximum: a
  /// smaller tag refuses to open the sectors that it does not have.
  static func count(sak: UInt8?) -> Int {
    guard let sak else { return 40 }
    if sak & 0x10 != 0 { return 40 }
    return sak & 0x01 != 0 ? 5 : 16
  }
}

/// A public key, and whether it is tried as key A or key B.
struct MIFAREClassicKey: Hashable {
  enum Slot: UInt8 {
    case a = 0x60
    case b = 0x61
  }

  let bytes: [UInt8]
  let slot: Slot

  /// Key A of the sectors that hold the application directory (AN10787, section 3.3).
  static let directory = MIFAREClassicKey(bytes: [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5], slot: .a)
  /// Key A of the sectors that hold NDEF (AN1304, section 6.2).
  static let ndef = MIFAREClassicKey(bytes: [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7], slot: .a)

  /// Public values of key B: the factory default, and the keys that formatting programs use.
  static let knownB: [MIFAREClassicKey] = [
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7], [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5],
    [0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5], [0x89, 0xEC, 0xA9, 0x7F, 0x8C, 0x2A],
  ].map { MIFAREClassicKey(bytes: $0, slot: .b) }
}

/// The MIFARE application directory (AN10787): the application of each sector.
enum MIFAREApplicationDirectory {
  /// The NFC Forum's application identifier, low byte first.
  private static let ndef: [UInt8] = [0x03, 0xE1]
  /// The sector of the second part. Only a 4K tag has it.
  static let secondSector = MIFAREClassicSector(number: 16)

  /// The sectors that hold NDEF; nil if the checksum is wrong. `bytes` are the checksum, the info byte and two bytes
  /// for each sector. `first` is the number of the first sector.
  static func ndefSectors(_ bytes: [UInt8], from first: Int) -> [MIFAREClassicSector]? {
    guard let checksum = bytes.first, checksum == self.checksum(bytes.dropFirst()) else { return nil }
    let applications = stride(from: 2, to: bytes.count - 1, by: 2).map { Array(bytes[$0...$0 + 1]) }
    return applications.enumerated().filter { $0.element == ndef }.map {
      MIFAREClassicSector(number: first + $0.offset)
    }
  }

  /// CRC-8, polynomial 1D, start value C7 (AN10787, section 3.7).
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    var register: UInt8 = 0xC7
    for byte in bytes {
      register ^= byte
      for _ in 0..<8 { register = register & 0x80 != 0 ? register << 1 ^ 0x1D : register << 1 }
    }
    return register
  }
}
