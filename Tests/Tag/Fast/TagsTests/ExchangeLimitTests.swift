import NDEF
import Names
import Testing

@testable import Tags

/// Every operation ends, even on a tag with a huge message or with very short answers.
@Suite struct ExchangeLimitTests {
  /// A card with the extended mapping and the longest allowed message. A read returns at most `piece` bytes. A write
  /// takes at most `mostWritten`.
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

  @Test func `an operation ends after the allowed number of exchanges`() throws {
    var channel = LimitedChannel(LongCard(piece: 15), most: 4)
    for _ in 0..<3 { _ = try channel.exchange([0x00, 0xA4, 0, 0]) }
    try channel.reselect()
    #expect(throws: TagChannelError(.tooManyExchanges, "the tag takes too many exchanges")) {
      try channel.exchange([0x00, 0xA4, 0, 0])
    }
    #expect(throws: TagChannelError.self) { try channel.reselect() }
    #expect(channel.channel.exchanges == 4)
  }

  /// The content is all zeros. This is not a valid message, but it is read completely.
  @Test(arguments: [15, 100] as [UInt8]) func `the longest message is read in pieces`(piece: UInt8) throws {
    var card = LongCard(piece: piece)
    let content = try TagActivation.type4A.readNDEF(over: &card)
    guard case .problem(let problem) = content else { return #expect(Bool(false), "\(content)") }
    #expect(problem.code == .damaged && problem.description.contains("does not decode"), "\(problem)")
    #expect(card.exchanges > NDEFLimits.default.messageSize / Int(piece))
    #expect(card.exchanges < TagType.type4A.mostExchanges(reading: NDEFLimits.default.messageSize))
  }

  /// A card with mapping 3.0 should take at least 13 bytes at once. An offset and a data object of one byte need 8.
  @Test(arguments: [8, 13, 15, 100] as [UInt8]) func `a long message is written in pieces`(piece: UInt8) throws {
    var card = LongCard(piece: 100, mostWritten: piece)
    let message = [UInt8](repeating: 0, count: 50_000)
    try TagActivation.type4A.writeNDEF(message, over: &card)
    #expect(card.exchanges > message.count / Int(piece))
    #expect(card.exchanges < TagType.type4A.mostExchanges(writing: message.count))
  }

  /// A card with the smallest MLe that returns as few bytes as allowed. It returns its container of maximum length byte
  /// by byte, and the length of the message only in a separate read. Eight reads of the message return one byte.
  private struct ReluctantCard: TagChannel {
    private static let container: [UInt8] =
      [0, 255, 0x30, 0, 15, 0, 13, 0x05, 236] + [UInt8](repeating: 0, count: 236)
      + [0x06, 8, 0xE1, 0x04, 0, 0, 0xFF, 0, 0, 0]

    let message: [UInt8]
    private(set) var exchanges = 0
    private var file: [UInt8] = []
    private var shortAnswers = 0
    private var areBytesScarce: Bool { file == Self.container || shortAnswers < 9 }

    init(message: [UInt8]) { self.message = message }

    mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
      exchanges += 1
      if command[1] == 0xA4 {
        file = command.suffix(2) == [0xE1, 0x03] ? Self.container : message.count.bytes(4) + message
      } else if command[1] == 0xB0 {
        let offset = Int(command[2]) << 8 | Int(command[3])
        let isWhole = offset == 0 && [4, 15].contains(command[4]) && (file == Self.container || command[4] == 4)
        let count = isWhole || !areBytesScarce ? Int(command[4]) : 1
        if count == 1, file != Self.container { shortAnswers += 1 }
        return file[offset..<min(offset + count, file.count)] + [0x90, 0x00]
      }
      return [0x90, 0x00]
    }

    mutating func reselect() throws(TagChannelError) { exchanges += 1 }
  }

  /// Three SELECTs, 241 READs of the container, two of the length, eight of one byte each, and `pieces` for the rest.
  @Test(arguments: [0, 1, 2, 100]) func `a card that returns as few bytes as allowed is read`(pieces: Int) throws {
    let payload = 2 + pieces * 15
    let message = [0xC5, 0] + payload.bytes(4) + [UInt8](repeating: 0x5A, count: payload)
    var card = ReluctantCard(message: message)
    #expect(try TagActivation.type4A.readNDEF(over: &card) == .message(message))
    #expect(card.exchanges == 3 + 241 + 2 + 8 + pieces)
    #expect(card.exchanges < TagType.type4A.mostExchanges(reading: message.count))
    card = ReluctantCard(message: message)
    #expect(try TagActivation.type4A.queryNDEF(over: &card).access == .readWrite)
    #expect(card.exchanges == 2 + 241 && card.exchanges < TagType.type4A.mostExchanges(reading: 0))
  }
}

/// Answers every command, each after 600 milliseconds.
private struct SlowCard: TagChannel {
  final class Clock { var now = SuspendingClock.now }

  let clock: Clock
  var card: HostileChannel

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    clock.now += .milliseconds(600)
    return try card.exchange(command)
  }
}

@Suite struct TimedChannelTests {
  @Test func `an operation on a slow tag ends at its deadline`() throws {
    let clock = SlowCard.Clock()
    let card = SlowCard(clock: clock, card: HostileChannel(seed: 1, plausible: true))
    var channel = TimedChannel(card, until: clock.now + .seconds(10)) { clock.now }
    for _ in 0..<17 { _ = try channel.exchange([0x00, 0xB0, 0, 0, 1]) }
    #expect(throws: TagChannelError(.tooSlow, "the tag takes too long to answer")) {
      _ = try channel.exchange([0x00, 0xB0, 0, 0, 1])
    }
    #expect(channel.channel.card.count == 17)
  }
}
