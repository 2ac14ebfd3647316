import PN53x
import Tags

/// The PN532 in an ACR122U, reached through the reader's pseudo-APDU for it (ACR122U API 2.04, 4.2).
///
/// The reader answers with the chip's answer. If the chip did not answer the reader, the status word is 63 xx.
final class PassThroughChip<Connection: CardConnection>: Chip {
  private static var toChip: UInt8 { 0xD4 }
  private static var fromChip: UInt8 { 0xD5 }
  /// The reader has selected one tag, as the chip's first target.
  private static var target: UInt8 { 0x01 }
  /// Errors that a missing or damaged answer of the tag causes (UM0701-02, 7.1). libnfc's table (`pn53x_transceive`) is
  /// the same.
  private static var tagErrors: Set<UInt8> {
    [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0A, 0x0B, 0x12, 0x13, 0x23, 0x25, 0x2A, 0x2C, 0x2E]
  }
  private static var wrongKey: UInt8 { 0x14 }

  private(set) var link: CardLink<Connection>
  /// Nil if the last command reached the reader.
  private(set) var error: TagChannelError?

  init(_ link: CardLink<Connection>) { self.link = link }

  func exchange(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer {
    try sendToTag([ChipCommand.exchange, Self.target] + command)
  }

  func communicateThru(_ frame: [UInt8]) throws(ChipFailure) -> ChipAnswer {
    try sendToTag([ChipCommand.communicateThru] + frame)
  }

  func setAnswerTimeout(code: UInt8) throws(ChipFailure) {
    _ = try send([ChipCommand.configureRF, 0x02, 0x00, 0x0B, code])
  }

  func readRegisters(_ addresses: [UInt16]) throws(ChipFailure) -> [UInt8] {
    let answer = try send([ChipCommand.readRegister] + addresses.flatMap(\.bytes))
    guard case .bytes(let values) = answer, values.count == addresses.count else { return [] }
    return values
  }

  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(ChipFailure) {
    _ = try send([ChipCommand.writeRegister] + writes.flatMap { $0.address.bytes + [$0.value] })
  }

  /// The first byte of the answer is its status: six bits of error number.
  private func sendToTag(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer {
    guard case .bytes(let bytes) = try send(command) else { return .silence }
    switch (bytes.first ?? 0x01) & 0x3F {
    case 0x00: return .bytes(Array(bytes.dropFirst()))
    case Self.wrongKey: return .wrongKey
    case let number where Self.tagErrors.contains(number): return .silence
    case let number: return .refused(Int32(number))
    }
  }

  /// Returns the answer without the two bytes that name the command. A pseudo-APDU takes at most 255 bytes.
  private func send(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer {
    let frame = [Self.toChip] + command
    guard frame.count <= PseudoAPDU.mostData else { return .silence }
    let answer: CardAnswer
    do throws(TagChannelError) {
      answer = try link.ask(PseudoAPDU(0x00, data: frame))
    } catch {
      self.error = error
      throw ChipFailure(reason: error.reason)
    }
    guard answer.status.isSuccess, answer.data.count >= 2, answer.data[0] == Self.fromChip,
      answer.data[1] == command.first.map({ $0 &+ 1 })
    else { return .silence }
    return .bytes(Array(answer.data.dropFirst(2)))
  }
}

extension UInt16 {
  /// The high byte first.
  fileprivate var bytes: [UInt8] { [UInt8(truncatingIfNeeded: self >> 8), UInt8(truncatingIfNeeded: self)] }
}

/// UM0701-02, 7.
private enum ChipCommand {
  static let readRegister: UInt8 = 0x06
  static let writeRegister: UInt8 = 0x08
  static let configureRF: UInt8 = 0x32
  static let exchange: UInt8 = 0x40
  static let communicateThru: UInt8 = 0x42
}

extension CardLink {
  mutating func exchange(
    _ command: [UInt8], with framing: some ChipFraming
  ) throws(TagChannelError) -> [UInt8] {
    let chip = PassThroughChip(self)
    defer { self = chip.link }
    let answer: ChipAnswer
    do throws(ChipFailure) {
      answer = try framing.exchange(command, with: chip)
    } catch {
      throw chip.error ?? TagChannelError(.readerGone, error.reason)
    }
    switch answer {
    case .bytes(let bytes): return bytes
    case .silence, .wrongKey: throw TagChannelError(.noAnswer, "the tag does not answer")
    case .refused(let number):
      throw TagChannelError(.transmission, "the tag gave no valid answer (PN532 error \(number))")
    }
  }
}
