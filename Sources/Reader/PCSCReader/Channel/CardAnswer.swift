import Tags

/// The answer to an APDU: data, and a status word behind them (ISO/IEC 7816-4, 5.1).
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

  /// The data and the status word.
  var bytes: [UInt8] { data + [status.high, status.low] }
}

/// The last two bytes of an answer (ISO/IEC 7816-4, 5.1.3; for pseudo-APDUs PC/SC part 3, 3.2.2.1).
struct StatusWord: Sendable, Hashable, CustomStringConvertible {
  let high: UInt8
  let low: UInt8

  /// SW1 and SW2.
  init(_ high: UInt8, _ low: UInt8) {
    self.high = high
    self.low = low
  }

  static let success = StatusWord(0x90, 0x00)
  /// There were fewer bytes than requested.
  static let endOfData = StatusWord(0x62, 0x82)
  /// The word of ACS's readers for every failure. Some cards have it for a wrong password (ISO/IEC 7816-4, VERIFY).
  static let anyFailure = StatusWord(0x63, 0x00)

  var isSuccess: Bool { self == .success }

  /// How many bytes GET RESPONSE can get, 1 to 256; nil if there are none.
  var remaining: Int? { high == 0x61 ? (low == 0 ? 256 : Int(low)) : nil }

  /// The Le that the command should have had; nil if that was not the error.
  var rightLength: UInt8? { high == 0x6C ? low : nil }

  /// Whether the instruction or the class is unknown. The reader then did not send anything to the tag.
  var isUnknownCommand: Bool { (high == 0x6D || high == 0x6E) && low == 0 }

  /// Two hexadecimal bytes: "6A 82".
  var description: String { Self.hexadecimal(high) + " " + Self.hexadecimal(low) }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  /// The error for a pseudo-APDU with this status word.
  ///
  /// A word other than 90 00 does not tell if the tag refuses the command, was removed, or cannot be reached: ACS answers
  /// 63 00 to each of them. Only an unknown command is certain to have left the tag as it was.
  var error: TagChannelError {
    isUnknownCommand
      ? TagChannelError(.unsupported, "the reader does not know this command (status \(self))")
      : TagChannelError(.noAnswer, "the tag does not answer (status \(self))")
  }
}
