import Names
import Tags

/// A command to the reader in the form of an APDU of class FF (PC/SC part 3, 3.2.2.1, and makers' manuals).
///
/// Only this module makes such commands. They write to tags, load keys and configure readers, so a client's command of
/// this class is refused before it leaves.
struct PseudoAPDU {
  static let classByte: UInt8 = 0xFF
  /// Bytes in a short APDU.
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

  /// UID, IDm or PUPI.
  static let identifier = PseudoAPDU(0xCA, expected: 0)
  /// The answer to select of a Type A card. For a FeliCa card, some readers return its PMm; for others, they report an
  /// error.
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

  /// PC/SC 2.01, without a length byte.
  static func authenticateInOldForm(_ block: UInt8, slot: UInt8, number: UInt8) -> [UInt8] {
    [classByte, 0x88, 0x00, block, slot, number]
  }

  private static func split(_ block: Int) -> (UInt8, UInt8) {
    (UInt8(truncatingIfNeeded: block >> 8), UInt8(truncatingIfNeeded: block))
  }
}

/// Data, and a status word behind them (ISO/IEC 7816-4, 5.1).
struct CardAnswer: Sendable, Hashable {
  /// The data of the longest answer to an extended APDU, and the status word.
  static let mostBytes = 65_538

  let data: [UInt8]
  let status: StatusWord

  /// Nil if the bytes are fewer than a status word, or more than the longest answer.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes.count <= Self.mostBytes else { return nil }
    data = Array(bytes.dropLast(2))
    status = StatusWord(bytes[bytes.count - 2], bytes[bytes.count - 1])
  }

  init(data: [UInt8], status: StatusWord) {
    self.data = data
    self.status = status
  }

  /// With the status word.
  var bytes: [UInt8] { data + [status.high, status.low] }
}

/// The last two bytes of an answer (ISO/IEC 7816-4, 5.1.3; for pseudo-APDUs PC/SC part 3, 3.2.2.1).
struct StatusWord: Sendable, Hashable, CustomStringConvertible {
  let high: UInt8
  let low: UInt8

  init(_ high: UInt8, _ low: UInt8) {
    self.high = high
    self.low = low
  }

  static let success = StatusWord(0x90, 0x00)
  /// Fewer bytes than requested.
  static let endOfData = StatusWord(0x62, 0x82)
  /// The word of ACS's readers for every failure. Some cards have it for a wrong password (ISO/IEC 7816-4, VERIFY).
  static let anyFailure = StatusWord(0x63, 0x00)

  var isSuccess: Bool { self == .success }

  /// By GET RESPONSE, 1 to 256; nil if there are none.
  var remaining: Int? { high == 0x61 ? (low == 0 ? 256 : Int(low)) : nil }

  /// The correct Le; nil if Le was not the error.
  var rightLength: UInt8? { high == 0x6C ? low : nil }

  /// The instruction or the class is unknown. The reader then sent no command to the tag.
  var isUnknownCommand: Bool { (high == 0x6D || high == 0x6E) && low == 0 }

  /// For example "6A 82".
  var description: String { Hexadecimal.text(high) + " " + Hexadecimal.text(low) }

  /// For a pseudo-APDU.
  ///
  /// A word other than 90 00 does not tell if the tag refuses the command, was removed, or cannot be reached: ACS
  /// answers 63 00 to each of them. Only an unknown command is certain to have left the tag as it was.
  var error: TagChannelError {
    isUnknownCommand
      ? TagChannelError(.unsupported, "the reader does not know this command (status \(self))")
      : TagChannelError(.noAnswer, "the tag does not answer (status \(self))")
  }
}
