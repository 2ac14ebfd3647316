import ReaderModels
import Tags

/// Type 4: APDUs as they are. Some drivers split an answer as with contact cards of the protocol T=0: `61 xx` says that
/// there is more, `6C xx` that Le was wrong (ISO/IEC 7816-3, 12.2.1).
extension CardLink {
  private static var mostParts: Int { 64 }
  private static var mostData: Int { 65_536 }
  /// SELECT, READ BINARY and UPDATE BINARY.
  private static var fileInstructions: Set<UInt8> { [0xA4, 0xB0, 0xB1, 0xD6, 0xD7] }

  /// Returns the whole answer, with its status word. Fails if the reader reports a failed exchange in a status word.
  mutating func exchangeType4(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    var answer = try transmit(command)
    if let length = answer.status.rightLength, let corrected = Self.with(length, command) {
      answer = try transmit(corrected)
    }
    var data = answer.data
    var status = answer.status
    var parts = 0
    let responseClass = Self.responseClass(command.first ?? 0)
    while let remaining = status.remaining, parts < Self.mostParts {
      let part = try transmit([responseClass, 0xC0, 0x00, 0x00, UInt8(truncatingIfNeeded: remaining)])
      // The card does not know the command: what it has said until now is its answer.
      guard !part.status.isUnknownCommand, data.count + part.data.count <= Self.mostData else { break }
      data += part.data
      status = part.status
      parts += 1
      if part.data.isEmpty { break }
    }
    if data.isEmpty, isFailure(status, of: command) { throw status.error }
    return CardAnswer(data: data, status: status).bytes
  }

  /// Whether the status word is the reader's, for an exchange that failed. No card answers a command for files with 63 00
  /// (ISO/IEC 7816-4, 11.2 and 11.3). To other commands, such as VERIFY, the word may be the card's.
  private func isFailure(_ status: StatusWord, of command: [UInt8]) -> Bool {
    guard model.hasOneFailureWord, status == .anyFailure, command.count >= 2 else { return false }
    return command[0] & 0x80 == 0 && Self.fileInstructions.contains(command[1])
  }

  /// The class of GET RESPONSE: that of the command, without the bits for secure messaging and chaining (ISO/IEC 7816-4,
  /// 5.1.1). The class of a maker's command does not apply.
  private static func responseClass(_ byte: UInt8) -> UInt8 {
    if byte & 0xE0 == 0 { return byte & 0x03 }
    return byte & 0xC0 == 0x40 ? byte & 0x4F : 0x00
  }

  /// The command with another Le; nil if it is not a short one that has a place for Le.
  private static func with(_ length: UInt8, _ command: [UInt8]) -> [UInt8]? {
    guard command.count >= 4 else { return nil }
    return switch command.count {
    case 4: command + [length]
    case 5: Array(command.dropLast()) + [length]
    case let count where command[4] != 0 && count == 5 + Int(command[4]): command + [length]
    case let count where command[4] != 0 && count == 6 + Int(command[4]): Array(command.dropLast()) + [length]
    default: nil
    }
  }
}
