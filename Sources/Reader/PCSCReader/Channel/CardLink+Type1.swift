import PN53x
import ReaderModels
import Tags

/// Type 1 on a reader with one instruction for each command (Identiv, uTrust 3700 F reference manual). The reader adds
/// the UID. Its answers begin with the data; the address in front, which `TagChannel` has, is added here.
extension CardLink {
  mutating func exchangeType1(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if model.type1 == .pn532 { return try exchange(command, with: Type1Framing()) }
    guard model.type1 == .identiv, let request = Type1Request(command) else {
      throw TagChannelError(.unsupported, "this reader does not pass on this command of Type 1")
    }
    let data = try fetch(request.apdu)
    guard let size = request.answerSize else { return data }
    if data.count == size { return [request.operand] + data }
    guard data.count == size + 1, data.first == request.operand else {
      throw TagChannelError(.transmission, "the answer has \(data.count) bytes instead of \(size)")
    }
    return data
  }
}

/// A command of a Type 1 tag as a pseudo-APDU.
struct Type1Request {
  let apdu: PseudoAPDU
  /// The address, block or segment.
  let operand: UInt8
  /// The bytes of data in the answer; nil for an answer without an address.
  let answerSize: Int?

  /// Code, block, data and UID.
  private static let mostBytes = 14

  /// Nil if there is no such pseudo-APDU. The command has the form of `TagChannel`: code, address, data, UID.
  init?(_ command: [UInt8]) {
    guard let code = command.first, command.count <= Self.mostBytes else { return nil }
    operand = command.count > 1 ? command[1] : 0
    let byte = Array(command.dropFirst(2).prefix(1))
    let block = Array(command.dropFirst(2).prefix(8))
    switch (code, command.count) {
    case (0x78, _): (apdu, answerSize) = (PseudoAPDU(0x50, expected: 0), nil)
    case (0x00, _): (apdu, answerSize) = (PseudoAPDU(0x52, expected: 0), nil)
    case (0x01, 2...): (apdu, answerSize) = (PseudoAPDU(0x54, 0, operand, expected: 0), 1)
    case (0x53, 3...): (apdu, answerSize) = (PseudoAPDU(0x56, 0, operand, data: byte), 1)
    case (0x1A, 3...): (apdu, answerSize) = (PseudoAPDU(0x58, 0, operand, data: byte), 1)
    case (0x10, 2...): (apdu, answerSize) = (PseudoAPDU(0x5A, 0, operand, expected: 0), 128)
    case (0x02, 2...): (apdu, answerSize) = (PseudoAPDU(0x5C, 0, operand, expected: 0), 8)
    case (0x54, 10...): (apdu, answerSize) = (PseudoAPDU(0x5E, 0, operand, data: block), 8)
    case (0x1B, 10...): (apdu, answerSize) = (PseudoAPDU(0x60, 0, operand, data: block), 8)
    default: return nil
    }
  }
}
