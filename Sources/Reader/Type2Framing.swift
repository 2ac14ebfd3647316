/// Type 2 through a PN53x. The firmware knows READ and WRITE; to its InDataExchange GET_VERSION is an authentication with MIFARE
/// Classic, and FAST_READ and SECTOR SELECT are nothing, so that these go as they are.
///
/// A tag answers some commands with four bits, an acknowledgement: 0A; what else it answers with them is a refusal.
struct Type2Framing: ChipFraming {
  private static let acknowledgement: UInt8 = 0x0A
  private static let read: UInt8 = 0x30
  private static let write: UInt8 = 0xA2
  private static let sectorSelect: [UInt8] = [0xC2, 0xFF]
  /// The first packet of COMPATIBILITY_WRITE, INCR_CNT, WRITE_SIG and LOCK_SIG (NTAG 21x, MIFARE Ultralight EV1 data sheets).
  private static let acknowledged: Set<UInt8> = [0xA0, 0xA5, 0xA9, 0xAC]
  /// RxMode: bit 7 is the checking of the CRC, which the four bits of an acknowledgement do not have.
  private static let receiveMode: UInt16 = 0x6303
  private static let withCRC: UInt8 = 0x80
  /// 51.2 ms, with which the chip starts, and 1.6 ms: longer than the 1 ms within which a tag would refuse a sector.
  private static let usualTimeout: UInt8 = 0x0A
  private static let passiveTimeout: UInt8 = 0x05

  func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    switch (command.first, command.count) {
    case (Self.read, _): return try chip.exchange(command)
    case (Self.write, _):
      guard case .bytes = try chip.exchange(command) else { return .silence }
      return .bytes([Self.acknowledgement])
    case (0xC2, _) where command == Self.sectorSelect: return try exchangeForAcknowledgement(command, chip)
    case (let code?, _) where Self.acknowledged.contains(code): return try exchangeForAcknowledgement(command, chip)
    case (_, 4): return try nameSector(command, chip)
    // The second packet of COMPATIBILITY_WRITE: nothing else has 16 bytes.
    case (_, 16): return try exchangeForAcknowledgement(command, chip)
    default: return try chip.communicateThru(command)
    }
  }

  /// A command that a tag acknowledges with four bits, like the first packet of SECTOR SELECT.
  private func exchangeForAcknowledgement(_ command: [UInt8], _ chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    try chip.writeRegisters([(Self.receiveMode, 0)])
    let answer = try chip.communicateThru(command)
    try chip.writeRegisters([(Self.receiveMode, Self.withCRC)])
    guard case .bytes([Self.acknowledgement]) = answer else { return .silence }
    return answer
  }

  /// The second packet, which a tag confirms by silence and refuses with four bits.
  private func nameSector(_ command: [UInt8], _ chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    try chip.writeRegisters([(Self.receiveMode, 0)])
    try chip.setAnswerTimeout(code: Self.passiveTimeout)
    let answer = try chip.communicateThru(command)
    try chip.setAnswerTimeout(code: Self.usualTimeout)
    try chip.writeRegisters([(Self.receiveMode, Self.withCRC)])
    return answer
  }
}
