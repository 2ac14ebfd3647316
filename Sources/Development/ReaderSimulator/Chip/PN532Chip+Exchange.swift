/// Commands that exchange data with a tag (UM0701-02, sections 7.3.8 and 7.3.9).
extension PN532Chip {
  /// The most bytes of data in an answer, after the status byte.
  static let maximumAnswerData = 262
  /// The longest extended APDU, in bytes. A longer command is an error of the host.
  private static let maximumOutgoing = 65_544

  mutating func inDataExchange(_ data: [UInt8]) throws(PN532Failure) -> Outcome {
    guard let number = data.first else { return .refuse }
    let index = try targetIndex(number & 0x07)
    let payload = Array(data.dropFirst())
    if payload.isEmpty && outgoing.isEmpty && !targets[index].incoming.isEmpty { return nextAnswer(index) }
    targets[index].incoming = []
    guard outgoing.count + payload.count <= Self.maximumOutgoing else {
      outgoing = []
      throw PN532Failure(PN532Status.wrongContext)
    }
    if number & PN532Status.moreInformation != 0 {
      // The real chip passes each piece on at once. Here the pieces wait for the last one, which makes no difference to
      // a tag.
      outgoing += payload
      return .answer([PN532Status.success])
    }
    let command = outgoing + payload
    outgoing = []
    try select(index)
    if targets[index].blocks != nil {
      targets[index].incoming = try exchangeBlocks(command, index)
      return nextAnswer(index)
    }
    switch targets[index].identity {
    case .typeA: return try exchangeMIFARE(command)
    case .typeB: throw PN532Failure(PN532Status.wrongContext)
    case .felica: return .answer([PN532Status.success] + (try read(command)))
    case .jewel(let uid): return .answer([PN532Status.success] + (try exchangeJewel(command, uid)))
    }
  }

  /// Exchanges a raw frame. The registers decide whether it has a CRC.
  mutating func inCommunicateThru(_ data: [UInt8]) throws(PN532Failure) -> Outcome {
    guard !data.isEmpty else { return .refuse }
    let lastBits = registers.transmitLastBits
    let modulation = registers.modulation
    let frame =
      registers.appendsCRC && lastBits == 0
      ? RadioFrame.standard(data, modulation) : RadioFrame(modulation: modulation, bytes: data, lastBits: lastBits)
    switch radio.transceiveRepeatedly(frame) {
    case .silence: throw PN532Failure(PN532Status.timeout)
    case .collision: throw PN532Failure(PN532Status.bitCollision)
    case .frame(let answer):
      registers.receiveLastBits = answer.lastBits
      guard registers.checksCRC else { return .answer([PN532Status.success] + answer.bytes) }
      guard let data = answer.checkedData else { throw PN532Failure(PN532Status.crcError) }
      return .answer([PN532Status.success] + data)
    }
  }

  private mutating func exchangeBlocks(_ command: [UInt8], _ index: Int) throws(PN532Failure) -> [UInt8] {
    guard var blocks = targets[index].blocks else { throw PN532Failure(PN532Status.wrongContext) }
    defer { targets[index].blocks = blocks }
    return try blocks.transceive(command, over: &radio)
  }

  private mutating func nextAnswer(_ index: Int) -> Outcome {
    let piece = targets[index].incoming.prefix(Self.maximumAnswerData)
    targets[index].incoming.removeFirst(piece.count)
    let status = targets[index].incoming.isEmpty ? PN532Status.success : PN532Status.moreInformation
    return .answer([status] + piece)
  }

  /// The firmware knows the commands of MIFARE Classic and Ultralight. It answers all others with an error frame.
  private mutating func exchangeMIFARE(_ command: [UInt8]) throws(PN532Failure) -> Outcome {
    switch (command.first, command.count) {
    case (0x30, 2): return .answer([PN532Status.success] + (try read(command)))
    case (0xA2, 6): try write(command)
    case (0xA0, 18), (0xC0, 6), (0xC1, 6), (0xC2, 6):
      try write(Array(command[0..<2]))
      try write(Array(command[2...]))
    case (0xB0, 2): try write(command)
    case (0x60, 12), (0x61, 12): try authenticate(command)
    default: return .refuse
    }
    return .answer([PN532Status.success])
  }

  /// Sends key and UID as they are, since the simulated tag has no cipher (see `SimulatedClassic`).
  private mutating func authenticate(_ command: [UInt8]) throws(PN532Failure) {
    for frame in [Array(command[0..<2]), Array(command[2...])] {
      guard case .frame(let answer) = radio.transceive(.standard(frame), for: .exchange), answer.checkedData?.count == 4
      else { throw PN532Failure(PN532Status.authenticationError) }
    }
  }

  private mutating func read(_ command: [UInt8]) throws(PN532Failure) -> [UInt8] {
    switch radio.transceiveRepeatedly(.standard(command, registers.modulation)) {
    case .silence: throw PN532Failure(PN532Status.timeout)
    case .collision: throw PN532Failure(PN532Status.bitCollision)
    case .frame(let answer):
      guard answer.lastBits == 0 else { throw PN532Failure(PN532Status.protocolError) }
      guard let data = answer.checkedData else { throw PN532Failure(PN532Status.crcError) }
      return data
    }
  }

  private mutating func write(_ command: [UInt8]) throws(PN532Failure) {
    switch radio.transceiveRepeatedly(.standard(command)) {
    case .silence: throw PN532Failure(PN532Status.timeout)
    case .collision: throw PN532Failure(PN532Status.bitCollision)
    case .frame(let answer):
      guard answer == .acknowledgement(0xA) else { throw PN532Failure(PN532Status.protocolError) }
    }
  }
}
