/// A command to the reader in the form of an APDU of class FF (PC/SC part 3, 3.2.2.1, and makers' manuals).
///
/// Only this module makes such commands. They write to tags, load keys and configure readers, so a client's command of
/// this class is refused before it leaves.
struct PseudoAPDU {
  static let classByte: UInt8 = 0xFF
  /// The most data bytes in a short APDU.
  static let mostData = 255

  private let header: [UInt8]
  /// At most `mostData` bytes.
  private let data: [UInt8]
  /// Le: the number of expected bytes, 0 for 256; nil for a command without this byte.
  var expected: UInt8?

  init(_ instruction: UInt8, _ p1: UInt8 = 0, _ p2: UInt8 = 0, data: [UInt8] = [], expected: UInt8? = nil) {
    header = [Self.classByte, instruction, p1, p2]
    self.data = data
    self.expected = expected
  }

  var bytes: [UInt8] {
    let body = data.isEmpty ? [] : [UInt8(truncatingIfNeeded: data.count)] + data
    return header + body + (expected.map { [$0] } ?? [])
  }

  /// The UID, IDm or PUPI.
  static let identifier = PseudoAPDU(0xCA, expected: 0)
  /// The answer to select of a Type A card. For other cards, readers report an error.
  static let answerToSelect = PseudoAPDU(0xCA, 0x01, expected: 0)

  /// READ BINARY from a page or block. `count` is the number of bytes, 0 for all that the reader returns at once.
  static func read(_ block: Int, _ count: UInt8) -> PseudoAPDU {
    let (high, low) = split(block)
    return PseudoAPDU(0xB0, high, low, expected: count)
  }

  /// UPDATE BINARY of a page or block.
  static func update(_ block: Int, _ data: [UInt8]) -> PseudoAPDU {
    let (high, low) = split(block)
    return PseudoAPDU(0xD6, high, low, data: data)
  }

  /// LOAD KEYS. Bit 5 of `structure` makes the reader keep the key without power.
  static func loadKey(_ key: [UInt8], _ number: UInt8, structure: UInt8) -> PseudoAPDU {
    PseudoAPDU(0x82, structure, number, data: key)
  }

  /// GENERAL AUTHENTICATE. `slot` is 60 for key A, 61 for key B.
  static func authenticate(_ block: UInt8, slot: UInt8, number: UInt8) -> PseudoAPDU {
    PseudoAPDU(0x86, data: [0x01, 0x00, block, slot, number])
  }

  /// AUTHENTICATE of PC/SC 2.01, which has no length byte.
  static func authenticateInOldForm(_ block: UInt8, slot: UInt8, number: UInt8) -> [UInt8] {
    [classByte, 0x88, 0x00, block, slot, number]
  }

  private static func split(_ block: Int) -> (UInt8, UInt8) {
    (UInt8(truncatingIfNeeded: block >> 8), UInt8(truncatingIfNeeded: block))
  }
}
