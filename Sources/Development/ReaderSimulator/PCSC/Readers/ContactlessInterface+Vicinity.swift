/// Cards of ISO/IEC 15693, which the simulated chip does not know. The reader exchanges their frames itself.
extension ContactlessInterface {
  /// Not addressed, high data rate (ISO/IEC 15693-3, section 7.3.1).
  private static let flags: UInt8 = 0x02

  /// Takes an inventory, and finds the size of the blocks by reading the first one.
  mutating func selectVicinity() -> FoundCard? {
    chip.radio.beginCommand(at: .zero)
    chip.radio.switchField(on: true)
    guard let answer = activate([0x26, 0x01, 0x00]), answer.count == 10, answer[0] == 0x00,
      let block = activate([Self.flags, 0x20, 0x00]), block.count > 1, block[0] == 0x00
    else { return nil }
    return .vicinity(uid: Array(answer[2...]), blockSize: block.count - 1)
  }

  private mutating func activate(_ command: [UInt8]) -> [UInt8]? {
    guard case .frame(let answer) = chip.radio.transceive(.standard(command, .vicinity), for: .activation) else {
      return nil
    }
    return answer.checkedData
  }

  /// FF B0: one or more whole blocks.
  mutating func readVicinity(_ command: PseudoAPDU, _ blockSize: Int) -> [UInt8] {
    let asked = command.expectedLength ?? 0
    let count = asked == 0 ? blockSize : asked
    guard count.isMultiple(of: blockSize) else { return StatusWord.rightLength(blockSize) }
    guard count <= max(blockSize, model.longestRead) else { return lengthError(max(blockSize, model.longestRead)) }
    var bytes: [UInt8] = []
    for block in command.address..<command.address + count / blockSize {
      let number = BigEndian.bytes(UInt16(truncatingIfNeeded: block))
      do throws(VicinityFailure) {
        bytes += try exchangeVicinity(block > 0xFF ? [0x30, number[1], number[0]] : [0x20, number[1]])
      } catch {
        return refusal(error.word)
      }
    }
    return bytes + StatusWord.success
  }

  /// FF D6: one whole block.
  mutating func updateVicinity(_ command: PseudoAPDU, _ blockSize: Int) -> [UInt8] {
    guard command.data.count == blockSize else { return lengthError(blockSize) }
    let isExtended = command.address > 0xFF
    let block = isExtended ? [command.parameter2, command.parameter1] : [command.parameter2]
    do throws(VicinityFailure) {
      _ = try exchangeVicinity([isExtended ? 0x31 : 0x21] + block + command.data)
      return StatusWord.success
    } catch {
      return refusal(error.word)
    }
  }

  /// The data of an answer, without its flags.
  private mutating func exchangeVicinity(_ command: [UInt8]) throws(VicinityFailure) -> [UInt8] {
    guard let answer = self.answer(of: .standard([Self.flags] + command, .vicinity)), let flags = answer.first else {
      throw VicinityFailure(word: StatusWord.noAnswer)
    }
    guard flags & 0x01 == 0 else { throw VicinityFailure(word: StatusWord.noSuchBlock) }
    return Array(answer.dropFirst())
  }
}

/// The status word for a failed exchange.
private struct VicinityFailure: Error {
  let word: [UInt8]
}
