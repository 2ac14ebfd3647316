/// Pseudo-APDUs of single makers.
extension ContactlessInterface {
  /// FF 00: the chip's own commands and the peripherals of the ACR122U (ACR122U API, sections 5 and 6), or a FeliCa
  /// frame (ACR1252U reference manual, section 5.2.6).
  mutating func performVendorCommand(_ command: PseudoAPDU, on card: FoundCard) -> [UInt8] {
    switch (command.parameter1, command.parameter2) {
    case (0x00, 0x00) where model.rawFrames == .chip: return passThrough(command.data)
    case (0x00, 0x00) where model.felicaCommands == .frame: return exchangeFeliCaFrame(command.data, card)
    case (0x40...0x52, _) where model.hasChipPeripherals: return CardReaderPeripherals.answer(to: command)
    default: return refusal(StatusWord.wrongInstruction)
    }
  }

  private mutating func passThrough(_ data: [UInt8]) -> [UInt8] {
    guard data.count >= 2, data[0] == HostFrame.hostIdentifier else { return StatusWord.chipRefusal }
    switch command(Array(data[1...])) {
    case .answer(let answer): return [HostFrame.chipIdentifier, data[1] &+ 1] + answer + StatusWord.success
    case .refusal: return StatusWord.chipRefusal
    case .silence: return StatusWord.chipTimeout
    }
  }

  /// A frame with its length byte, exchanged as it is.
  private mutating func exchangeFeliCaFrame(_ frame: [UInt8], _ card: FoundCard) -> [UInt8] {
    guard case .felica(_, let modulation) = card, Int(frame.first ?? 0) == frame.count, frame.count >= 2 else {
      return refusal(StatusWord.notSupported)
    }
    return answer(of: .standard(frame, modulation)).map { $0 + StatusWord.success } ?? refusal(StatusWord.noAnswer)
  }

  /// FF 40 to FF 4A (Identiv, uTrust 37xx reference manual): REQC, Request Service, Request Response, Read and Write
  /// Without Encryption, Request System Code. The reader adds the IDm.
  mutating func performFeliCaInstruction(_ command: PseudoAPDU, _ card: FoundCard) -> [UInt8] {
    guard case .felica(let idm, let modulation) = card else { return StatusWord.notSupported }
    var frame: [UInt8]
    switch command.instruction {
    case 0x40:
      // System code, request code and time slots.
      guard command.data.count == 4 else { return StatusWord.wrongLength }
      frame = [0x00] + command.data
    case 0x42: frame = [0x02] + idm + [command.parameter1] + command.data
    case 0x44: frame = [0x04] + idm
    // P1 and P2 are the numbers of services and blocks. The data is their codes, the block list, and for 48 the blocks.
    case 0x46, 0x48:
      let services = Int(command.parameter1) * 2
      guard command.data.count >= services else { return StatusWord.wrongLength }
      frame = [command.instruction - 0x40] + idm + [command.parameter1]
      frame += command.data.prefix(services)
      frame.append(command.parameter2)
      frame += command.data.dropFirst(services)
    case 0x4A: frame = [0x0C] + idm
    default: return StatusWord.wrongInstruction
    }
    let length = UInt8(truncatingIfNeeded: frame.count + 1)
    guard let answer = self.answer(of: .standard([length] + frame, modulation)) else { return StatusWord.noAnswer }
    return answer.dropFirst() + StatusWord.success
  }

  /// FF 50 and the next ones (Identiv): RID, RALL, READ and the writes of Type 1 tags. The reader adds the UID.
  mutating func performType1Instruction(_ command: PseudoAPDU, _ card: FoundCard) -> [UInt8] {
    guard case .jewel = card else { return StatusWord.notSupported }
    let data: [UInt8]?
    do throws(PN532Failure) {
      switch command.instruction {
      case 0x50: data = try exchange([0x78])
      case 0x52: data = try exchange([0x00])
      case 0x54: data = try exchange([0x01, command.parameter2])
      case 0x56 where command.data.count == 1: data = try exchange([0x53, command.parameter2] + command.data)
      case 0x58 where command.data.count == 1: data = try exchange([0x1A, command.parameter2] + command.data)
      default: data = nil
      }
    } catch {
      return StatusWord.noAnswer
    }
    return data.map { $0 + StatusWord.success } ?? StatusWord.wrongInstruction
  }

  /// The data of the answer to a frame on the air; nil for none, or one with a wrong checksum.
  mutating func answer(of frame: RadioFrame) -> [UInt8]? {
    chip.radio.beginCommand(at: .zero)
    guard case .frame(let answer) = chip.radio.transceive(frame, for: .exchange) else { return nil }
    return answer.checkedData
  }
}

/// LED, buzzer and polling of the ACR122U (ACR122U API, section 6).
enum CardReaderPeripherals {
  private static let firmware = Array("ACR122U214".utf8)

  /// The answer to `FF 00 40`, `41`, `48`, `50`, `51` and `52`.
  static func answer(to command: PseudoAPDU) -> [UInt8] {
    switch command.parameter1 {
    // LED and buzzer: the second byte is the state of the LED.
    case 0x40: [0x90, command.parameter2 & 0x03]
    // The time until the chip's answer is missed.
    case 0x41: StatusWord.success
    // The version comes without a status word.
    case 0x48: firmware
    // The polling parameters, read and set.
    case 0x50: [0x90, 0xFF]
    case 0x51: [0x90, command.parameter2]
    // The beep at a card.
    case 0x52: StatusWord.success
    default: StatusWord.failure
    }
  }
}
