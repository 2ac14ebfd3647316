/// Jewel and Topaz targets, which are NFC Forum Type 1 (UM0701-02, sections 7.3.5 and 7.3.8).
extension PN532Chip {
  private static let readIdentification: UInt8 = 0x78

  /// Fills `targets` with the tag that answers RID after a request.
  mutating func listJewel() {
    guard let atqa = requestJewel(), let answer = identifyJewel() else { return }
    // SENS_RES (high byte first) and four bytes of the UID.
    let uid = Array(answer.suffix(4))
    add(Target(identity: .jewel(uid: uid), description: atqa.reversed() + uid))
  }

  mutating func selectJewel(_ uid: [UInt8]) throws(PN532Failure) {
    guard requestJewel() != nil, let answer = identifyJewel(), Array(answer.suffix(4)) == uid else {
      throw PN532Failure(PN532Status.targetGone)
    }
  }

  private mutating func requestJewel() -> [UInt8]? {
    guard case .frame(let atqa) = radio.transceive(.short(RadioInterface.reqa), for: .activation) else { return nil }
    return atqa.bytes
  }

  private mutating func identifyJewel() -> [UInt8]? {
    let command: [UInt8] = [Self.readIdentification, 0, 0, 0, 0, 0, 0]
    guard case .frame(let frame) = radio.transceive(.standard(command, .jewel), for: .activation),
      let answer = frame.checkedData, answer.count == 6
    else { return nil }
    return answer
  }

  /// The firmware adds the UID and the CRC, and removes the address from an answer. It ignores any further bytes from
  /// the host.
  mutating func exchangeJewel(_ command: [UInt8], _ uid: [UInt8]) throws(PN532Failure) -> [UInt8] {
    switch (command.first, command.count) {
    case (Self.readIdentification, _): return try transceiveJewel([Self.readIdentification, 0, 0, 0, 0, 0, 0])
    // RALL.
    case (0x00, _): return try transceiveJewel([0x00, 0, 0] + uid)
    // READ.
    case (0x01, 2...): return Array(try transceiveJewel([0x01, command[1], 0] + uid).dropFirst())
    // WRITE-E and WRITE-NE.
    case (0x53, 3...), (0x1A, 3...): return Array(try transceiveJewel(command[..<3] + uid).dropFirst())
    // Of RSEG, the firmware supports only the first segment. It fails at the commands for blocks of eight bytes.
    case (0x10, 2...) where command[1] == 0:
      return Array(try transceiveJewel([0x10] + [UInt8](repeating: 0, count: 9) + uid).dropFirst())
    default: throw PN532Failure(PN532Status.timeout)
    }
  }

  private mutating func transceiveJewel(_ command: [UInt8]) throws(PN532Failure) -> [UInt8] {
    switch radio.transceiveRepeatedly(.standard(command, .jewel)) {
    case .silence: throw PN532Failure(PN532Status.timeout)
    case .collision: throw PN532Failure(PN532Status.bitCollision)
    case .frame(let answer):
      guard let data = answer.checkedData else { throw PN532Failure(PN532Status.crcError) }
      return data
    }
  }
}
