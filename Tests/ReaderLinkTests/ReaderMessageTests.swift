import Journal
import Testing

@testable import ReaderLink

@Suite struct ReaderMessageTests {
  static let placement = Placement(number: 7, technology: "type-2", uid: [4, 1, 2, 3, 4, 5, 6])

  static let messages: [ReaderMessage] = [
    .state(.absent(reason: "no reader is connected")),
    .state(.ready(name: "PN532 – v1.6", device: "pn532_uart:/dev/ttyUSB0")),
    .state(.failed(reason: "permission denied")),
    .scanning(true),
    .scanning(false),
    .examining(placement),
    .tag(TagReport(placement: placement, content: .message([0xD0, 0, 0]))),
    .tag(TagReport(placement: placement, content: .problem(reason: "empty"))),
    .removed(placement: .max),
    .forgotten(uid: [8, 1, 2, 3]),
    .heartbeat(within: 1000),
    .counters(ReaderCounters(chipCommands: 1, exchanges: 2, tags: 3)),
    .log(.warning, "the reader is gone"),
  ]

  static func payload(_ frame: [UInt8]) throws -> ArraySlice<UInt8> {
    var decoder = FrameDecoder()
    decoder.append(frame)
    return try #require(try decoder.next())
  }

  @Test(arguments: messages) func comesBackAsItWasSent(_ message: ReaderMessage) throws {
    #expect(try ReaderMessage(payload: Self.payload(message.frame)) == message)
  }

  @Test(arguments: [
    ReaderCommand.scan(true), .scan(false),
    .avoid(AvoidedTag(uid: [1, 2, 3, 4], technology: "type-4b", mayHaveChanged: true)), .shutDown, .lookForDevice,
  ])
  func commandComesBackAsItWasSent(_ command: ReaderCommand) throws {
    #expect(try ReaderCommand(payload: Self.payload(command.frame)) == command)
  }

  @Test(arguments: messages) func refusesEveryTruncation(_ message: ReaderMessage) throws {
    let payload = try Self.payload(message.frame)
    for count in 0..<payload.count {
      #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload.prefix(count)) }
    }
  }

  @Test(arguments: messages) func refusesBytesBehindTheFields(_ message: ReaderMessage) throws {
    let payload = try Self.payload(message.frame)
    #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload + [0]) }
  }

  @Test func refusesAnotherVersion() throws {
    #expect(throws: ReaderLinkError("a frame of the unknown version 2")) { try ReaderMessage(payload: [2, 4, 1]) }
  }

  @Test(
    arguments: [
      [1, 99],  // a kind that is none
      [1, 4, 2],  // neither true nor false
      [1, 1, 0, 0, 0, 1, 0xFF],  // not UTF-8
      [1, 1, 0xFF, 0xFF, 0xFF, 0xFF],  // a length beyond everything
      [1, 9, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  // a UID of 11 bytes
      [1, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x0A, 0, 0, 0, 0],  // a technology with a line feed
      [1, 6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x61, 0, 0, 0, 0, 0, 0, 0, 1, 0xD1],  // a message that is not NDEF
      [1, 12, 0, 0, 0, 0, 0, 0, 0, 0],  // an unknown log level
    ] as [[UInt8]])
  func refusesWhatIsNotAMessage(_ payload: [UInt8]) {
    #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload[...]) }
  }

  @Test func cutsATextAtAWholeCharacter() throws {
    let long = String(repeating: "é", count: 600) + "x"
    let message = try ReaderMessage(payload: Self.payload(ReaderMessage.log(.info, "a" + long).frame))
    #expect(message == .log(.info, "a" + String(repeating: "é", count: 511)))
  }
}

@Suite struct FrameDecoderTests {
  @Test func findsFramesHoweverTheyAreCut() throws {
    let frames = ReaderMessageTests.messages.map(\.frame)
    for size in 1...7 {
      var decoder = FrameDecoder()
      var messages: [ReaderMessage] = []
      let stream = frames.flatMap { $0 }
      for start in stride(from: 0, to: stream.count, by: size) {
        decoder.append(stream[start..<min(start + size, stream.count)])
        while let payload = try decoder.next() { messages.append(try ReaderMessage(payload: payload)) }
      }
      #expect(messages == ReaderMessageTests.messages)
    }
  }

  @Test(arguments: [[0, 0, 0, 0], [0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0x10, 0x10, 1]] as [[UInt8]])
  func refusesALengthThatNoFrameHas(_ bytes: [UInt8]) {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    #expect(throws: ReaderLinkError.self) { try decoder.next() }
  }
}
