/// Type 1 through a PN53x. The firmware knows RID, RALL and the commands for single bytes. It adds the UID, and removes
/// the address from an answer. The commands for blocks of eight bytes have to bypass it.
///
/// A Type 1 tag expects each byte of a command as a separate frame, and CRC_B at the end. The first frame has seven
/// bits, the others have no parity. No chip command sends such frames, but the host can, through the registers of the
/// contactless interface unit. The nfcpy project found this method, and that it works on a PN532 and a PN533. It takes
/// three commands to the chip. A write takes one more each time that the tag is not done yet.
package struct Type1Framing: ChipFraming {
  package init() {}

  /// Registers of the contactless interface unit (UM0701-02, 8.2.5; PN512 data sheet, 9).
  private enum Register {
    static let manualReceive: UInt16 = 0x630D
    static let command: UInt16 = 0x6331
    static let fifoData: UInt16 = 0x6339
    static let fifoLevel: UInt16 = 0x633A
    static let bitFraming: UInt16 = 0x633D
  }

  private enum Value {
    static let transmit: UInt8 = 0x04
    static let noChange: UInt8 = 0x07
    static let receive: UInt8 = 0x08
    static let flush: UInt8 = 0x80
    static let shortFrame: UInt8 = 0x07
    static let wholeBytes: UInt8 = 0x00
    static let withParity: UInt8 = 0x20
    static let withoutParity: UInt8 = 0x30
  }

  /// Block number, eight bytes, CRC.
  private static let answerSize = 11
  /// Nine bits per byte, because the unit treats parity bits as data here.
  private static let levelOfAnswer = (answerSize * 9 + 7) / 8
  /// The most checks for the answer to a write. A tag erases and writes for about 7 ms, and each check takes the line
  /// at least 1 ms.
  private static let looks = 16

  package func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    switch (command.first, command.count) {
    case (0x78, _), (0x00, _): return try chip.exchange([command[0]])
    case (0x01, 3...): return Self.prepend(command[1], to: try chip.exchange(Array(command[..<2])))
    case (0x53, 3...), (0x1A, 3...): return Self.prepend(command[1], to: try chip.exchange(Array(command[..<3])))
    case (0x02, _): return try Self.exchangeBlock(command, isWrite: false, chip)
    case (0x54, _), (0x1B, _): return try Self.exchangeBlock(command, isWrite: true, chip)
    // RSEG: its answer is longer than the unit can hold.
    default: return .silence
    }
  }

  private static func prepend(_ address: UInt8, to answer: ChipAnswer) -> ChipAnswer {
    guard case .bytes(let bytes) = answer else { return answer }
    return .bytes([address] + bytes)
  }

  private static func exchangeBlock(
    _ command: [UInt8], isWrite: Bool, _ chip: some Chip
  ) throws(ChipFailure) -> ChipAnswer {
    try chip.writeRegisters(transmission(of: command + checksum(command)))
    if isWrite {
      for _ in 0..<looks where try chip.readRegisters([Register.fifoLevel]).first ?? 0 >= levelOfAnswer { break }
    }
    try chip.writeRegisters([(Register.manualReceive, Value.withParity)])
    let addresses = [Register.fifoLevel] + [UInt16](repeating: Register.fifoData, count: levelOfAnswer)
    let values = try chip.readRegisters(addresses)
    guard let level = values.first, Int(level) == levelOfAnswer, let answer = withoutParity(values.dropFirst()),
      checksum(answer.dropLast(2)) == Array(answer.suffix(2))
    else { return .silence }
    return .bytes(Array(answer.dropLast(2)))
  }

  private static func transmission(of bytes: [UInt8]) -> [(UInt16, UInt8)] {
    var writes: [(UInt16, UInt8)] = [(Register.fifoLevel, Value.flush)]
    for (index, byte) in bytes.enumerated() {
      writes.append((Register.fifoData, byte))
      if index == 0 { writes.append((Register.bitFraming, Value.shortFrame)) }
      writes.append((Register.command, Value.transmit))
      if index == 0 {
        writes += [(Register.bitFraming, Value.wholeBytes), (Register.manualReceive, Value.withoutParity)]
      } else {
        writes.append((Register.command, Value.noChange))
      }
    }
    return writes + [(Register.command, Value.receive)]
  }

  /// Nil if a parity bit is wrong.
  private static func withoutParity(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    let bits = bytes.flatMap { byte in (0..<8).map { byte >> UInt8($0) & 1 } }
    var result: [UInt8] = []
    for start in stride(from: 0, through: bits.count - 9, by: 9) {
      let nine = bits[start..<start + 9]
      // Odd parity.
      guard nine.reduce(0, +) & 1 == 1 else { return nil }
      result.append(nine.prefix(8).reversed().reduce(0) { $0 << 1 | $1 })
    }
    return result
  }

  /// CRC_B of ISO/IEC 14443-3, annex B, low byte first.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var register: UInt16 = 0xFFFF
    for byte in bytes {
      register ^= UInt16(byte)
      for _ in 0..<8 { register = register & 1 != 0 ? register >> 1 ^ 0x8408 : register >> 1 }
    }
    return [UInt8(truncatingIfNeeded: ~register), UInt8(truncatingIfNeeded: ~register >> 8)]
  }
}
