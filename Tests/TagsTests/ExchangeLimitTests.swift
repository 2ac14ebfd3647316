import NDEF
import Testing

@testable import Tags

/// However much a tag says that it holds, and in however small pieces, an operation ends.
@Suite struct ExchangeLimitTests {
  /// A card of the extended mapping with the longest message there may be, that gives and takes so many bytes at once.
  private struct LongCard: TagChannel {
    let piece: UInt8
    let mostWritten: UInt8
    var exchanges = 0

    init(piece: UInt8, mostWritten: UInt8? = nil) {
      self.piece = piece
      self.mostWritten = mostWritten ?? piece
    }

    mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
      exchanges += 1
      let length = NDEFLimits.default.messageSize
      let done: [UInt8] = [0x90, 0x00]
      switch (command[1], command.last) {
      case (0xB0, 15) where exchanges == 3:
        return [0, 17, 0x30, 0, piece, 0, mostWritten, 6, 8, 0xE1, 0x04, 0, 0x20, 0, 0] + done
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

  @Test func nothingGoesOnForEver() throws {
    var channel = LimitedChannel(LongCard(piece: 15), most: 4)
    for _ in 0..<3 { _ = try channel.exchange([0x00, 0xA4, 0, 0]) }
    try channel.reselect()
    #expect(throws: TagChannelError(.tooManyExchanges, "the tag takes too many exchanges")) {
      try channel.exchange([0x00, 0xA4, 0, 0])
    }
    #expect(throws: TagChannelError.self) { try channel.reselect() }
    #expect(channel.channel.exchanges == 4)
  }

  /// All of it is zeros, which is no message; but it is read.
  @Test(arguments: [15, 100] as [UInt8]) func theLongestMessageIsReadInPieces(piece: UInt8) throws {
    var card = LongCard(piece: piece)
    let content = try TagActivation.type4A.readNDEF(over: &card)
    guard case .problem(let problem) = content else { return #expect(Bool(false), "\(content)") }
    #expect(problem.code == .damaged && problem.description.contains("does not decode"), "\(problem)")
    #expect(card.exchanges > NDEFLimits.default.messageSize / Int(piece))
    #expect(card.exchanges < TagType.type4A.mostExchanges)
  }

  /// No card of mapping 3.0 should take fewer than 13 bytes at once; 8 are an offset and a data object of one byte.
  @Test(arguments: [8, 13, 15, 100] as [UInt8]) func aLongMessageIsWrittenInPieces(piece: UInt8) throws {
    var card = LongCard(piece: 100, mostWritten: piece)
    let message = [UInt8](repeating: 0, count: 50_000)
    try TagActivation.type4A.writeNDEF(message, over: &card)
    #expect(card.exchanges > message.count / Int(piece))
    #expect(card.exchanges < TagType.type4A.mostExchanges(forMessageOf: message.count))
  }
}
