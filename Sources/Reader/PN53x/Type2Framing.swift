/// Type 2 through a PN53x. The firmware's InDataExchange knows READ and WRITE. It takes GET_VERSION for an
/// authentication with MIFARE Classic, and does not know FAST_READ and SECTOR SELECT. These commands are sent as raw
/// frames.
///
/// A tag answers some commands with four bits. 0A is an acknowledgement; any other value is a refusal.
package struct Type2Framing: ChipFraming {
  package init() {}

  package static let acknowledgement: UInt8 = 0x0A
  private static let read: UInt8 = 0x30
  private static let write: UInt8 = 0xA2
  private static let sectorSelect: [UInt8] = [0xC2, 0xFF]
  /// The codes of INCR_CNT, WRITE_SIG, LOCK_SIG and the first packet of COMPATIBILITY_WRITE (NTAG 21x, MIFARE
  /// Ultralight EV1 data sheets).
  private static let acknowledged: Set<UInt8> = [0xA0, 0xA5, 0xA9, 0xAC]
  /// The register RxMode. Bit 7 enables the check of the CRC, which a four-bit acknowledgement does not have.
  private static let receiveMode: UInt16 = 0x6303
  private static let withCRC: UInt8 = 0x80
  /// 51.2 ms, the chip's default, and 1.6 ms. The second is longer than the 1 ms within which a tag would refuse a
  /// sector.
  private static let usualTimeout: UInt8 = 0x0A
  private static let passiveTimeout: UInt8 = 0x05

  package func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    switch (command.first, command.count) {
    case (Self.read, _): return try chip.exchange(command)
    case (Self.write, _):
      guard case .bytes = try chip.exchange(command) else { return .silence }
      return .bytes([Self.acknowledgement])
    case _ where Self.isConfirmedBySilence(command): return try nameSector(command, chip)
    case _ where Self.isAcknowledged(command): return try exchangeForAcknowledgement(command, chip)
    default: return try chip.communicateThru(command)
    }
  }

  /// A tag answers these with four bits: WRITE and the like, and the second packet of COMPATIBILITY_WRITE. No other
  /// command has 16 bytes.
  package static func isAcknowledged(_ command: [UInt8]) -> Bool {
    guard let code = command.first else { return false }
    return code == write || acknowledged.contains(code) || command == sectorSelect || command.count == 16
  }

  /// The second packet of SECTOR SELECT. No other command has four bytes.
  package static func isConfirmedBySilence(_ command: [UInt8]) -> Bool {
    guard command.count == 4, let code = command.first else { return false }
    return code != read && code != write && !acknowledged.contains(code)
  }

  /// Sends a command that a tag acknowledges with four bits, such as the first packet of SECTOR SELECT.
  private func exchangeForAcknowledgement(_ command: [UInt8], _ chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    try chip.writeRegisters([(Self.receiveMode, 0)])
    let answer = try chip.communicateThru(command)
    try chip.writeRegisters([(Self.receiveMode, Self.withCRC)])
    guard case .bytes([Self.acknowledgement]) = answer else { return .silence }
    return answer
  }

  /// Sends the second packet of SECTOR SELECT. A tag confirms it by silence and refuses it with four bits.
  private func nameSector(_ command: [UInt8], _ chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    try chip.writeRegisters([(Self.receiveMode, 0)])
    try chip.setAnswerTimeout(code: Self.passiveTimeout)
    let answer = try chip.communicateThru(command)
    try chip.setAnswerTimeout(code: Self.usualTimeout)
    try chip.writeRegisters([(Self.receiveMode, Self.withCRC)])
    return answer
  }
}
