/// The pseudo-APDUs that most readers know (PC/SC part 3, section 3.2.2).
extension ContactlessInterface {
  private static let pageSize = 4
  private static let blockSize = 16

  /// The answer to a command of class FF, with its status word.
  mutating func perform(_ bytes: [UInt8], on card: FoundCard) -> [UInt8] {
    guard let command = PseudoAPDU(bytes) else { return StatusWord.wrongLength }
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
    default: return model.hasOneFailure ? StatusWord.failure : StatusWord.wrongInstruction
    }
  }

  /// FF CA: the identifier, or the answer to select.
  private func getData(_ command: PseudoAPDU, _ card: FoundCard) -> [UInt8] {
    switch (command.parameter1, command.parameter2, card) {
    case (0x00, 0x00, _): return limited(card.identifier(by: model), to: command.expectedLength)
    case (0x01, 0x00, .typeA(_, _, let ats?)) where model.tellsAnswerToSelect:
      return limited(ats, to: command.expectedLength)
    default: return StatusWord.notSupported
    }
  }

  /// Part 3, section 3.2.2.1.3: the right length is told if the client asked for fewer bytes than there are.
  private func limited(_ bytes: [UInt8], to expected: Int?) -> [UInt8] {
    let expected = expected ?? 0
    if expected == 0 || expected == bytes.count { return bytes + StatusWord.success }
    return expected < bytes.count ? StatusWord.rightLength(bytes.count) : bytes + StatusWord.fewerBytes
  }

  /// FF B0: pages of a Type 2 tag, or blocks of a MIFARE Classic.
  private mutating func readBinary(_ command: PseudoAPDU, _ card: FoundCard) -> [UInt8] {
    if case .vicinity(_, let blockSize) = card { return readVicinity(command, blockSize) }
    guard case .typeA(_, _, nil) = card else { return refusal(StatusWord.notSupported) }
    let asked = command.expectedLength ?? 0
    let count = asked == 0 ? Self.blockSize : asked
    let most = card.isClassic ? max(Self.blockSize, model.longestRead) : model.longestRead
    guard count <= most else { return lengthError(most) }
    guard card.isClassic || command.address <= model.lastPage else { return refusal(StatusWord.noSuchBlock) }
    var bytes: [UInt8] = []
    // One READ returns a block, or four pages.
    while bytes.count < count {
      let unit = card.isClassic ? Self.blockSize : Self.pageSize
      let address = command.address + bytes.count / unit
      guard address <= 0xFF else { return refusal(StatusWord.noSuchBlock) }
      do throws(PN532Failure) {
        bytes += try exchange([0x30, UInt8(truncatingIfNeeded: address)])
      } catch {
        return failure(error, of: card)
      }
    }
    return bytes.prefix(count) + StatusWord.success
  }

  /// FF D6: one page of a Type 2 tag, or one block of a MIFARE Classic.
  private mutating func updateBinary(_ command: PseudoAPDU, _ card: FoundCard) -> [UInt8] {
    if case .vicinity(_, let blockSize) = card { return updateVicinity(command, blockSize) }
    guard case .typeA(_, _, nil) = card else { return refusal(StatusWord.notSupported) }
    guard command.data.count == (card.isClassic ? Self.blockSize : Self.pageSize) else {
      return lengthError(card.isClassic ? Self.blockSize : Self.pageSize)
    }
    guard command.address <= (card.isClassic ? 0xFF : model.lastPage) else { return refusal(StatusWord.noSuchBlock) }
    do throws(PN532Failure) {
      _ = try exchange([card.isClassic ? 0xA0 : 0xA2, command.parameter2] + command.data)
      return StatusWord.success
    } catch {
      return failure(error, of: card)
    }
  }

  /// FF 82: a key of six bytes into a slot of the reader.
  private mutating func loadKey(_ command: PseudoAPDU) -> [UInt8] {
    guard model.hasClassic else { return refusal(StatusWord.notSupported) }
    guard command.data.count == 6 else { return refusal(StatusWord.wrongLength) }
    keys[command.parameter2] = command.data
    return StatusWord.success
  }

  /// FF 86, with the block, the key's kind and its slot in the data; or the older FF 88, with them as parameters.
  private mutating func authenticate(_ command: PseudoAPDU, _ bytes: [UInt8], _ card: FoundCard) -> [UInt8] {
    guard model.hasClassic, card.isClassic, case .typeA(_, let uid, _) = card else {
      return refusal(StatusWord.notSupported)
    }
    let parameters: [UInt8]
    if command.instruction == 0x86 {
      guard command.data.count == 5, command.data[0] == 0x01 else { return refusal(StatusWord.wrongLength) }
      parameters = Array(command.data[1...])
    } else {
      guard bytes.count == 6 else { return refusal(StatusWord.wrongLength) }
      parameters = Array(bytes[2...])
    }
    guard parameters[0] == 0, [0x60, 0x61].contains(parameters[2]) else { return refusal(StatusWord.noSuchBlock) }
    // Identiv's command names the kind of key, which is the slot.
    let slot = model.felicaCommands == .instructions ? parameters[2] : parameters[3]
    guard let key = keys[slot] else { return refusal(StatusWord.noSuchKey) }
    do throws(PN532Failure) {
      _ = try exchange([parameters[2], parameters[1]] + key + uid.suffix(4))
      return StatusWord.success
    } catch {
      selectAgain()
      return refusal(StatusWord.authenticationFailed)
    }
  }

  func lengthError(_ right: Int) -> [UInt8] {
    switch model.lengthError {
    case .rightLength: StatusWord.rightLength(right)
    case .wrongLength: StatusWord.wrongLength
    case .failure: StatusWord.failure
    }
  }

  /// The answer after a failed exchange. The tag is selected again if the model does that.
  mutating func failure(_ failure: PN532Failure, of card: FoundCard) -> [UInt8] {
    selectAgain()
    guard failure.status == PN532Status.protocolError else { return refusal(StatusWord.noAnswer) }
    return refusal(card.isClassic ? StatusWord.notAuthenticated : StatusWord.noSuchBlock)
  }

  /// The model's word for a failure: the given one, or the same for each.
  func refusal(_ word: [UInt8]) -> [UInt8] { model.hasOneFailure ? StatusWord.failure : word }
}
