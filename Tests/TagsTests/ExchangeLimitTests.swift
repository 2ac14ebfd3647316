import NDEF
import Testing

@testable import Tags

/// However much a tag says that it holds, and in however small pieces, an operation ends.
@Suite struct ExchangeLimitTests {
  /// A card of the extended mapping with the longest message there may be, that gives and takes so many bytes at once.
  private struct LongCard: TagChannel {
    let piece: UInt8
    var exchanges = 0

    mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
      exchanges += 1
      let length = NDEFLimits.default.messageSize
      let done: [UInt8] = [0x90, 0x00]
      switch (command[1], command.last) {
      case (0xB0, 15) where exchanges == 3:
        return [0, 17, 0x30, 0, piece, 0, piece, 6, 8, 0xE1, 0x04, 0, 0x20, 0, 0] + done
      case (0xB0, 2): return [0, 0] + done
      case (0xB0, let count?):
        let start: [UInt8] = exchanges < 7 ? length.bytes(4) : []
        return start + [UInt8](repeating: 0, count: Int(count) - start.count) + done
      case (0xB1, let count?):
        return [0x53, count - 2] + [UInt8](repeating: 0, count: Int(count) - 2) + done
      default: return done
      }
    }

    mutating func reselect() throws(TagChannelError) { exchanges += 1 }
  }

  @Test func aCardThatGivesLittleAtOnceIsNotReadForEver() {
    var card = LongCard(piece: 15)
    let error = #expect(throws: TagChannelError.self) { try TagActivation.type4A.readNDEF(over: &card) }
    #expect(error?.code == .tooManyExchanges)
    #expect(card.exchanges == TagType.type4A.mostExchanges)
  }

  @Test func aCardThatTakesLittleAtOnceIsNotWrittenForEver() {
    var card = LongCard(piece: 15)
    let message = [UInt8](repeating: 0, count: NDEFLimits.default.messageSize)
    #expect(throws: TagWriteError.channel(TagChannelError(.tooManyExchanges, "the tag takes too many exchanges"))) {
      try TagActivation.type4A.writeNDEF(message, over: &card)
    }
    #expect(card.exchanges == TagType.type4A.mostExchanges)
  }

  /// All of it is zeros, which is no message; but it is read.
  @Test func theLongestMessageIsReadInPiecesOfAHundredBytes() throws {
    var card = LongCard(piece: 100)
    let content = try TagActivation.type4A.readNDEF(over: &card)
    guard case .problem(let problem) = content else { return #expect(Bool(false), "\(content)") }
    #expect(problem.code == .damaged && problem.description.contains("does not decode"), "\(problem)")
    #expect(card.exchanges > NDEFLimits.default.messageSize / 100)
  }
}
