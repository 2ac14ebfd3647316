/// The pseudo-APDUs that most readers know (PC/SC part 3, section 3.2.2).
extension ContactlessInterface {
  private static let pageSize = 4
  private static let blockSize = 16

  /// The answer to a command of class FF, with its status word.
  mutating func perform(_ bytes: [UInt8], on card: FoundCard) -> [UInt8] {
    guard let command = ReaderAPDU(bytes) else { return ResponseStatus.wrongLength }
    switch command.instruction {
    case 0x00: return performVendorCommand(command, on: card)
    case 0xCA: return getData(command, card)
    case 0xB0: return readBinary(command, card)
    case 0xD6: return updateBinary(command, card)
    case 0x82: return loadKey(command)
    case 0x86, 0x88: return authenticate(command, bytes, card)
    case 0xC2 where model.rawFrames == .transparent: return performTransparent(command)
    case 0x40...0x4A where model.felicaCommands == .instructions: return performFeliCaInstruction(command, card)
    case 0x50...0x58 where model.hasType1Commands: return performType1Instruction(command, card)
    default: return model.hasOneFailure ? ResponseStatus.failure : ResponseStatus.wrongInstruction
    }
  }

  /// FF CA: the identifier, or the answer to select.
  private func getData(_ command: ReaderAPDU, _ card: FoundCard) -> [UInt8] {
    switch (command.parameter1, command.parameter2, card) {
    case (0x00, 0x00, _): return limited(card.identifier(by: model), to: command.expectedLength)
    case (0x01, 0x00, .typeA(_, _, let ats?)) where model.tellsAnswerToSelect:
      return limited(ats, to: command.expectedLength)
    // Seen on an ACR1251U and an RC-S300.
    case (0x01, 0x00, .felica(_, let pmm, _)) where model.tellsAnswerToSelect:
      return limited(pmm, to: command.expectedLength)
    default: return ResponseStatus.notSupported
    }
  }

  /// Part 3, section 3.2.2.1.3: the reader returns the right length if the client asked for fewer bytes than there are.
  private func limited(_ bytes: [UInt8], to expected: Int?) -> [UInt8] {
    let expected = expected ?? 0
    if expected == 0 || expected == bytes.count { return bytes + ResponseStatus.success }
    return expected < bytes.count ? ResponseStatus.rightLength(bytes.count) : bytes + ResponseStatus.fewerBytes
  }

  /// FF B0: pages of a Type 2 tag, or blocks of a MIFARE Classic.
  private mutating func readBinary(_ command: ReaderAPDU, _ card: FoundCard) -> [UInt8] {
    if case .vicinity(_, let blockSize) = card { return readVicinity(command, blockSize) }
    guard case .typeA(_, _, nil) = card else { return refusal(ResponseStatus.notSupported) }
    let asked = command.expectedLength ?? 0
    let count = asked == 0 ? Self.blockSize : asked
    let most = card.isClassic ? max(Self.blockSize, model.longestRead) : model.longestRead
    guard count <= most else { return lengthError(most) }
    guard card.isClassic || command.address <= model.lastPage else { return refusal(ResponseStatus.notFound) }
    var bytes: [UInt8] = []
    // One READ returns a block, or four pages.
    while bytes.count < count {
      let unit = card.isClassic ? Self.blockSize : Self.pageSize
      let address = command.address + bytes.count / unit
      guard address <= 0xFF else { return refusal(ResponseStatus.notFound) }
      do throws(PN532Failure) {
        bytes += try exchange([0x30, UInt8(truncatingIfNeeded: address)])
      } catch {
        return failure(error, of: card)
      }
    }
    return bytes.prefix(count) + ResponseStatus.success
  }

  /// FF D6: one page of a Type 2 tag, or one block of a MIFARE Classic.
  private mutating func updateBinary(_ command: ReaderAPDU, _ card: FoundCard) -> [UInt8] {
    if case .vicinity(_, let blockSize) = card { return updateVicinity(command, blockSize) }
    guard case .typeA(_, _, nil) = card else { return refusal(ResponseStatus.notSupported) }
    guard command.data.count == (card.isClassic ? Self.blockSize : Self.pageSize) else {
      return lengthError(card.isClassic ? Self.blockSize : Self.pageSize)
    }
    guard command.address <= (card.isClassic ? 0xFF : model.lastPage) else { return refusal(ResponseStatus.notFound) }
    do throws(PN532Failure) {
      _ = try exchange([card.isClassic ? 0xA0 : 0xA2, command.parameter2] + command.data)
      return ResponseStatus.success
    } catch {
      return failure(error, of: card)
    }
  }

  /// FF 82: a key of six bytes into a slot of the reader.
  private mutating func loadKey(_ command: ReaderAPDU) -> [UInt8] {
    guard model.hasClassic else { return refusal(ResponseStatus.notSupported) }
    guard command.data.count == 6 else { return refusal(ResponseStatus.wrongLength) }
    keys[command.parameter2] = command.data
    return ResponseStatus.success
  }

  /// FF 86, with the block, the key's kind and its slot in the data; or the older FF 88, with them as parameters.
  private mutating func authenticate(_ command: ReaderAPDU, _ bytes: [UInt8], _ card: FoundCard) -> [UInt8] {
    guard model.hasClassic, card.isClassic, case .typeA(_, let uid, _) = card else {
      return refusal(ResponseStatus.notSupported)
    }
    let parameters: [UInt8]
    if command.instruction == 0x86 {
      guard command.data.count == 5, command.data[0] == 0x01 else { return refusal(ResponseStatus.wrongLength) }
      parameters = Array(command.data[1...])
    } else {
      guard bytes.count == 6 else { return refusal(ResponseStatus.wrongLength) }
      parameters = Array(bytes[2...])
    }
    guard parameters[0] == 0, [0x60, 0x61].contains(parameters[2]) else { return refusal(ResponseStatus.notFound) }
    // Identiv's command names the kind of key, which is the slot.
    let slot = model.felicaCommands == .instructions ? parameters[2] : parameters[3]
    guard let key = keys[slot] else { return refusal(ResponseStatus.noSuchKey) }
    do throws(PN532Failure) {
      _ = try exchange([parameters[2], parameters[1]] + key + uid.suffix(4))
      return ResponseStatus.success
    } catch {
      selectAgain()
      return refusal(ResponseStatus.authenticationFailed)
    }
  }

  func lengthError(_ right: Int) -> [UInt8] {
    switch model.lengthError {
    case .rightLength: ResponseStatus.rightLength(right)
    case .wrongLength: ResponseStatus.wrongLength
    case .failure: ResponseStatus.failure
    }
  }

  /// The answer after a failed exchange. The tag is selected again if the model does that.
  mutating func failure(_ failure: PN532Failure, of card: FoundCard) -> [UInt8] {
    selectAgain()
    guard failure.status == PN532Status.protocolError else { return refusal(ResponseStatus.noAnswer) }
    return refusal(card.isClassic ? ResponseStatus.securityNotSatisfied : ResponseStatus.notFound)
  }

  /// The model's word for a failure: the given one, or the same for each.
  func refusal(_ word: [UInt8]) -> [UInt8] { model.hasOneFailure ? ResponseStatus.failure : word }
}

/// Pseudo-APDUs of single makers.
extension ContactlessInterface {
  /// FF 00: the chip's own commands and the peripherals of the ACR122U (ACR122U API, sections 5 and 6), or a FeliCa
  /// frame (ACR1252U reference manual, section 5.2.6).
  mutating func performVendorCommand(_ command: ReaderAPDU, on card: FoundCard) -> [UInt8] {
    switch (command.parameter1, command.parameter2) {
    case (0x00, 0x00) where model.rawFrames == .chip: return passThrough(command.data)
    case (0x00, 0x00) where model.felicaCommands == .frame: return exchangeFeliCaFrame(command.data, card)
    case (0x40...0x52, _) where model.hasChipPeripherals: return CardReaderPeripherals.answer(to: command)
    default: return refusal(ResponseStatus.wrongInstruction)
    }
  }

  private mutating func passThrough(_ data: [UInt8]) -> [UInt8] {
    guard data.count >= 2, data[0] == HostFrame.hostIdentifier else { return ResponseStatus.chipRefusal }
    switch command(Array(data[1...])) {
    case .answer(let answer): return [HostFrame.chipIdentifier, data[1] &+ 1] + answer + ResponseStatus.success
    case .refusal: return ResponseStatus.chipRefusal
    case .silence: return ResponseStatus.chipTimeout
    }
  }

  /// A frame with its length byte, exchanged as it is.
  private mutating func exchangeFeliCaFrame(_ frame: [UInt8], _ card: FoundCard) -> [UInt8] {
    guard case .felica(_, _, let modulation) = card, Int(frame.first ?? 0) == frame.count, frame.count >= 2 else {
      return refusal(ResponseStatus.notSupported)
    }
    return answer(of: .standard(frame, modulation)).map { $0 + ResponseStatus.success }
      ?? refusal(ResponseStatus.noAnswer)
  }

  /// FF 40 to FF 4A (Identiv, uTrust 37xx reference manual): REQC, Request Service, Request Response, Read and Write
  /// Without Encryption, Request System Code. The reader adds the IDm.
  mutating func performFeliCaInstruction(_ command: ReaderAPDU, _ card: FoundCard) -> [UInt8] {
    guard case .felica(let idm, _, let modulation) = card else { return ResponseStatus.notSupported }
    var frame: [UInt8]
    switch command.instruction {
    case 0x40:
      // System code, request code and time slots.
      guard command.data.count == 4 else { return ResponseStatus.wrongLength }
      frame = [0x00] + command.data
    case 0x42: frame = [0x02] + idm + [command.parameter1] + command.data
    case 0x44: frame = [0x04] + idm
    // P1 and P2 are the numbers of services and blocks. The data is their codes, the block list, and for 48 the blocks.
    case 0x46, 0x48:
      let services = Int(command.parameter1) * 2
      guard command.data.count >= services else { return ResponseStatus.wrongLength }
      frame = [command.instruction - 0x40] + idm + [command.parameter1]
      frame += command.data.prefix(services)
      frame.append(command.parameter2)
      frame += command.data.dropFirst(services)
    case 0x4A: frame = [0x0C] + idm
    default: return ResponseStatus.wrongInstruction
    }
    let length = UInt8(truncatingIfNeeded: frame.count + 1)
    guard let answer = self.answer(of: .standard([length] + frame, modulation)) else { return ResponseStatus.noAnswer }
    return answer.dropFirst() + ResponseStatus.success
  }

  /// FF 50 and the next ones (Identiv): RID, RALL, READ and the writes of Type 1 tags. The reader adds the UID.
  mutating func performType1Instruction(_ command: ReaderAPDU, _ card: FoundCard) -> [UInt8] {
    guard case .jewel = card else { return ResponseStatus.notSupported }
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
      return ResponseStatus.noAnswer
    }
    return data.map { $0 + ResponseStatus.success } ?? ResponseStatus.wrongInstruction
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
  static func answer(to command: ReaderAPDU) -> [UInt8] {
    switch command.parameter1 {
    // LED and buzzer: the second byte is the state of the LED.
    case 0x40: [0x90, command.parameter2 & 0x03]
    // The time until the chip's answer is missed.
    case 0x41: ResponseStatus.success
    // The version comes without a status word.
    case 0x48: firmware
    // The polling parameters, read and set.
    case 0x50: [0x90, 0xFF]
    case 0x51: [0x90, command.parameter2]
    // The beep at a card.
    case 0x52: ResponseStatus.success
    default: ResponseStatus.failure
    }
  }
}

/// A command for the reader itself, of class FF (PC/SC part 3, section 3.2.2).
struct ReaderAPDU {
  static let instructionClass: UInt8 = 0xFF

  let instruction: UInt8
  let parameter1: UInt8
  let parameter2: UInt8
  let data: [UInt8]
  /// The most bytes that the client accepts. Nil if the command does not say, 0 for as many as there are.
  let expectedLength: Int?

  /// Nil if the length byte contradicts the length of the command.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 4, bytes[0] == Self.instructionClass else { return nil }
    (instruction, parameter1, parameter2) = (bytes[1], bytes[2], bytes[3])
    switch bytes.count {
    case 4: (data, expectedLength) = ([], nil)
    case 5: (data, expectedLength) = ([], Int(bytes[4]))
    // The older form of an authentication: the kind of the key and its slot, without a length.
    case 6 where bytes[1] == 0x88: (data, expectedLength) = (Array(bytes[4...]), nil)
    default:
      let end = 5 + Int(bytes[4])
      guard bytes.count == end || bytes.count == end + 1 else { return nil }
      data = Array(bytes[5..<end])
      expectedLength = bytes.count > end ? Int(bytes[end]) : nil
    }
  }

  /// P1 and P2 as one number.
  var address: Int { Int(parameter1) << 8 | Int(parameter2) }
}

/// Status words that a reader answers pseudo-APDUs with (PC/SC part 3, section 3.2.2; ACS reference manuals).
enum ResponseStatus {
  static let success: [UInt8] = [0x90, 0x00]
  /// ACS's word for every failure.
  static let failure: [UInt8] = [0x63, 0x00]
  /// ACS: the chip does not answer.
  static let chipTimeout: [UInt8] = [0x63, 0x01]
  /// ACS: the chip does not know the command.
  static let chipRefusal: [UInt8] = [0x63, 0x7F]
  static let fewerBytes: [UInt8] = [0x62, 0x82]
  static let noAnswer: [UInt8] = [0x64, 0x01]
  static let wrongLength: [UInt8] = [0x67, 0x00]
  static let securityNotSatisfied: [UInt8] = [0x69, 0x82]
  static let authenticationFailed: [UInt8] = [0x69, 0x83]
  static let noFileSelected: [UInt8] = [0x69, 0x86]
  static let noSuchKey: [UInt8] = [0x69, 0x88]
  static let notSupported: [UInt8] = [0x6A, 0x81]
  static let notFound: [UInt8] = [0x6A, 0x82]
  static let wrongParameters: [UInt8] = [0x6A, 0x86]
  static let wrongOffset: [UInt8] = [0x6B, 0x00]
  static let wrongInstruction: [UInt8] = [0x6D, 0x00]
  static let wrongClass: [UInt8] = [0x6E, 0x00]

  static func rightLength(_ length: Int) -> [UInt8] { [0x6C, UInt8(truncatingIfNeeded: length)] }
}
