/// Type 2 through a PN53x. The firmware knows READ and WRITE; to its InDataExchange GET_VERSION is an authentication with MIFARE
/// Classic, and FAST_READ and SECTOR SELECT are nothing, so that these go as they are.
struct Type2Framing: ChipFraming {
  private static let acknowledgement: UInt8 = 0x0A
  private static let read: UInt8 = 0x30
  private static let write: UInt8 = 0xA2
  private static let sectorSelect: [UInt8] = [0xC2, 0xFF]
  /// RxMode: bit 7 is the checking of the CRC, which the four bits of an acknowledgement do not have.
  private static let receiveMode: UInt16 = 0x6303
  private static let withCRC: UInt8 = 0x80
  /// 51.2 ms, with which the chip starts, and 1.6 ms: longer than the 1 ms within which a tag would refuse a sector.
  private static let usualTimeout: UInt8 = 0x0A
  private static let passiveTimeout: UInt8 = 0x05

  func exchange(_ command: [UInt8], with device: Device) throws(Device.Failure) -> Device.Answer {
    switch (command.first, command.count) {
    case (Self.read, _): return try device.exchange(command)
    case (Self.write, _):
      guard case .bytes = try device.exchange(command) else { return .refused(Device.transmissionError) }
      return .bytes([Self.acknowledgement])
    case (0xC2, _) where command == Self.sectorSelect: return try selectSector(command, device)
    case (_, 4): return try nameSector(command, device)
    default: return try device.communicateThru(command)
    }
  }

  /// The first packet of SECTOR SELECT, which a tag acknowledges with four bits.
  private func selectSector(_ command: [UInt8], _ device: Device) throws(Device.Failure) -> Device.Answer {
    try device.writeRegister(Self.receiveMode, 0)
    let answer = try device.communicateThru(command)
    try device.writeRegister(Self.receiveMode, Self.withCRC)
    guard case .bytes([Self.acknowledgement]) = answer else { return .refused(Device.transmissionError) }
    return answer
  }

  /// The second packet, which a tag confirms by silence and refuses with four bits.
  private func nameSector(_ command: [UInt8], _ device: Device) throws(Device.Failure) -> Device.Answer {
    try device.writeRegister(Self.receiveMode, 0)
    try device.setAnswerTimeout(code: Self.passiveTimeout)
    let answer = try device.communicateThru(command)
    try device.setAnswerTimeout(code: Self.usualTimeout)
    try device.writeRegister(Self.receiveMode, Self.withCRC)
    return answer
  }
}
