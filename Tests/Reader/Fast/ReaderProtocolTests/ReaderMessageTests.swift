import Journal
import Names
import Testing

@testable import ReaderProtocol

@Suite struct ReaderMessageTests {
  static let placement = Placement(number: 7, technology: .type2, uid: [4, 1, 2, 3, 4, 5, 6])

  static let known = KnownTags(
    tags: [
      KnownTag(
        number: 1, fingerprint: TagFingerprint(value: 2), technology: .type4B, mayHaveChanged: true, isSuspect: true),
      KnownTag(number: .max, fingerprint: TagFingerprint(value: .max), technology: .type2),
    ])

  static let messages: [ReaderMessage] = [
    .state(.absent(reason: "no reader is connected")),
    .state(.ready(name: "PN532 – v1.6", device: "pn532_uart:/dev/ttyUSB0")),
    .state(.failed(reason: "permission denied")), .reached(epoch: .max), .examining(placement),
    .tag(epoch: 5, TagReport(placement: placement, content: .message([0xD0, 0, 0]))),
    .tag(epoch: 5, TagReport(placement: placement, content: .problem(reason: "empty"))),
    .tag(epoch: 5, TagReport(placement: placement, content: .bare(reason: "blank"))),
    .tag(epoch: 5, TagReport(placement: placement, content: .damaged(reason: "cut off", contents: [0xD1, 1]))),
    .known(placement), .removed(placement: .max), .heartbeat(within: 1000), .log(.warning, "the reader is gone"),
    .sessionTagRemoved(epoch: 3, placement: 8), .sessionRoundEnded(epoch: 3), .successorWanted,
    .sessionPollingRestarted(epoch: 3), .waiting(reason: ""), .waiting(reason: "gpg has the card"),
    .sessionTag(epoch: 3, SessionTag(placement: placement, atqa: [0, 0x44], sak: 0)),
    .sessionTag(
      epoch: 3,
      SessionTag(
        placement: placement, atqa: [3, 0x44], sak: 0x20, historicalBytes: [0x80], initialApplication: 15)),
    .sessionTag(
      epoch: 3, SessionTag(placement: placement, applicationData: [1, 2, 3, 4], protocolInfo: [0, 0x81, 0x91])),
    .sessionTag(
      epoch: 3,
      SessionTag(
        placement: placement, idm: [1, 2, 3, 4, 5, 6, 7, 8], pmm: [8, 7, 6, 5, 4, 3, 2, 1], systemCode: 3)),
    .performed(request: 9, .status(.readOnly, capacity: 868)), .performed(request: 9, .message([0xD0, 0, 0])),
    .performed(request: 9, .done), .performed(request: 9, .answer([])),
    .performed(request: 9, .answer([UInt8](repeating: 0x6A, count: ReaderLimits.answer))),
    .performed(request: 9, .failed(.sessionEnded, reason: "the reader session has ended")),
    .progress(request: 9, bytes: 4096),
  ]

  static func payload(_ frame: [UInt8]) throws -> ArraySlice<UInt8> {
    var decoder = FrameDecoder()
    decoder.append(frame)
    return try #require(try decoder.next())
  }

  @Test(arguments: messages) func `a message is decoded as it was encoded`(_ message: ReaderMessage) throws {
    #expect(try ReaderMessage(payload: Self.payload(message.frame)) == message)
  }

  @Test(arguments: [
    ReaderCommand.shutDown, .lookForDevice, .identify,
    .restartPolling(epoch: 1, TagSessionOptions(number: 1, technologies: [.type3], systemCodes: [0x0003])),
    .goal(epoch: 1, .off, known: ReaderMessageTests.known), .goal(epoch: .max, .lent, known: KnownTags()),
    .goal(epoch: 2, .session(TagSessionOptions(number: 1)), known: KnownTags()),
    .goal(
      epoch: 2,
      .session(
        TagSessionOptions(
          number: 1, technologies: [.type3, .type4A],
          applicationIdentifiers: [[0xD2, 0x76, 0, 0, 0x85], [UInt8](repeating: 1, count: 16)],
          systemCodes: [0x0003, 0xFEE1], reportsUndeclaredCards: true)), known: KnownTags()),
    .goal(
      epoch: 3, .scan(ReaderPolling(interval: .milliseconds(10), idleInterval: .milliseconds(10_000))),
      known: KnownTags(includesFirst: true)),
    .goal(epoch: 3, .scan(ReaderPolling(technologies: [.type3, .mifareClassic])), known: KnownTags()),
    .goal(epoch: 3, .scan(ReaderPolling(feedback: true)), known: KnownTags()),
    .perform(epoch: 1, request: 2, placement: 3, .query), .perform(epoch: 1, request: 2, placement: 3, .read),
    .perform(epoch: 1, request: 2, placement: 3, .write([0xD0, 0, 0], verify: true)),
    .perform(epoch: 1, request: 2, placement: 3, .write([0xD0, 0, 0], verify: true, format: true)),
    .perform(epoch: 1, request: 2, placement: 3, .lock),
    .perform(epoch: 1, request: 2, placement: 3, .transceive([0x60], timeout: 5000)),
  ])
  func `a command is decoded as it was encoded`(_ command: ReaderCommand) throws {
    #expect(try ReaderCommand(payload: Self.payload(command.frame)) == command)
  }

  @Test(arguments: messages) func `a truncated message is rejected`(_ message: ReaderMessage) throws {
    let payload = try Self.payload(message.frame)
    for count in Set(0..<min(payload.count, 400)).union([payload.count - 1]) {
      #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload.prefix(count)) }
    }
  }

  @Test(arguments: messages) func `a message with extra bytes is rejected`(_ message: ReaderMessage) throws {
    let payload = try Self.payload(message.frame)
    #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload + [0]) }
  }

  @Test func `a frame of another version is rejected`() throws {
    let error = ReaderLinkError("a frame of version 1 instead of \(frameVersion)", isOtherVersion: true)
    #expect(throws: error) { try ReaderMessage(payload: [1, 4, 1]) }
    #expect(throws: error) { try ReaderCommand(payload: [1, 1, 1]) }
  }

  @Test(
    arguments: [
      [7, 99],  // an unknown kind
      [7, 1, 0, 0, 0, 1, 0xFF],  // not UTF-8
      [7, 1, 0xFF, 0xFF, 0xFF, 0xFF],  // a text length above the limit
      [7, 5] + [UInt8](repeating: 0, count: 11) + [6] + Array("type-2".utf8) + [0, 0, 0, 11]
        + [UInt8](repeating: 0, count: 11),
      [7, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x0A, 0, 0, 0, 0],  // a technology with a line feed
      [7, 6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6] + Array("type-2".utf8)
        + [0, 0, 0, 0, 0, 0, 0, 1, 0xD1],
      [7, 11, 0, 0, 0, 99, 0, 0, 0, 0],  // an unknown log level
      [7, 14, 0, 0, 0, 0, 0, 0, 0, 9, 5, 13, 0, 0, 0, 0],  // an unknown failure
      [7, 14, 0, 0, 0, 0, 0, 0, 0, 9, 1, 3, 0, 0, 0, 0],  // an unknown access
      [7, 14, 0, 0, 0, 0, 0, 0, 0, 9, 2, 0, 0, 0, 1, 0xD1],  // a message that is not NDEF
      [7, 14, 0, 0, 0, 0, 0, 0, 0, 9, 4, 0, 1, 0, 3],  // an answer above the limit
      [7, 14, 0, 0, 0, 0, 0, 0, 0, 9, 6],  // a result of an unknown kind
    ] as [[UInt8]])
  func `an invalid message is rejected`(_ payload: [UInt8]) {
    #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload[...]) }
  }

  /// The fields of a session tag. One of them has an invalid size.
  @Test(
    arguments: [
      [[1], [], [], [], [], [], []], [[], [1, 2], [], [], [], [], []],
      [[], [], [UInt8](repeating: 0, count: 255), [], [], [], []], [[], [], [], [1, 2, 3], [], [], []],
      [[], [], [], [], [1, 2], [], []], [[], [], [], [], [], [1], []], [[], [], [], [], [], [], [1, 2, 3]],
    ] as [[[UInt8]]])
  func `a session tag with an invalid field is rejected`(_ fields: [[UInt8]]) throws {
    func payload(_ fields: [[UInt8]], application: Int16 = -1) throws -> ArraySlice<UInt8> {
      var writer = FrameWriter(kind: 12)
      writer.write(UInt64(3))
      writer.write(Self.placement)
      for field in fields { writer.write(bytes: field) }
      writer.write(false)
      writer.write(UInt16(0))
      writer.write(application)
      return try Self.payload(writer.frame)
    }
    #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload(fields)) }
    let none = [[UInt8]](repeating: [], count: 7)
    #expect(try ReaderMessage(payload: payload(none)) == .sessionTag(epoch: 3, SessionTag(placement: Self.placement)))
    for application: Int16 in [-2, Int16(ReaderLimits.applications)] {
      #expect(throws: ReaderLinkError.self) { try ReaderMessage(payload: payload(none, application: application)) }
    }
  }

  @Test(
    arguments: [
      session(
        TagSessionOptions(
          number: 1, applicationIdentifiers: Array(repeating: [1, 2, 3, 4, 5], count: ReaderLimits.applications + 1))),
      session(TagSessionOptions(number: 1, applicationIdentifiers: [[1, 2, 3, 4]])),
      session(TagSessionOptions(number: 1, applicationIdentifiers: [[UInt8](repeating: 1, count: 17)])),
      session(TagSessionOptions(number: 1, systemCodes: Array(repeating: 3, count: ReaderLimits.systemCodes + 1))),
      session(TagSessionOptions(number: 1, systemCodes: [0xFFFF])),
      session(TagSessionOptions(number: 1, systemCodes: [0x12FF])),
      session(TagSessionOptions(number: 1, systemCodes: [0xFF03])),
      session(TagSessionOptions(number: 1, technologies: Array(repeating: .type2, count: 9))),
      .goal(
        epoch: 1, .scan(ReaderPolling(technologies: Array(repeating: .type2, count: 9))), known: KnownTags()),
      .goal(
        epoch: 1, .off, known: KnownTags(tags: Array(repeating: known.tags[0], count: ReaderLimits.knownTags + 1))),
      .restartPolling(epoch: 1, TagSessionOptions(number: 1, systemCodes: [0xFFFF])),
      .perform(epoch: 1, request: 1, placement: 1, .transceive([], timeout: 100)),
      .perform(epoch: 1, request: 1, placement: 1, .transceive([0x60], timeout: 0)),
      .perform(epoch: 1, request: 1, placement: 1, .transceive([0x60], timeout: 5001)),
      .perform(
        epoch: 1, request: 1, placement: 1,
        .transceive([UInt8](repeating: 0, count: ReaderLimits.command + 1), timeout: 100)),
    ] as [ReaderCommand])
  func `a command that exceeds the limits is rejected`(_ command: ReaderCommand) throws {
    #expect(throws: ReaderLinkError.self) { try ReaderCommand(payload: Self.payload(command.frame)) }
  }

  private static func session(_ options: TagSessionOptions) -> ReaderCommand {
    .goal(epoch: 1, .session(options), known: KnownTags())
  }

  @Test func `a long text is cut at a whole character`() throws {
    let long = String(repeating: "é", count: 600) + "x"
    let message = try ReaderMessage(payload: Self.payload(ReaderMessage.log(.info, "a" + long).frame))
    #expect(message == .log(.info, "a" + String(repeating: "é", count: 511)))
  }
}

@Suite struct FrameDecoderTests {
  @Test func `frames are found however the stream is split`() throws {
    let all = ReaderMessageTests.messages
    let frames = all.map(\.frame)
    for size in 1...7 {
      var decoder = FrameDecoder()
      var messages: [ReaderMessage] = []
      let stream = frames.flatMap { $0 }
      for start in stride(from: 0, to: stream.count, by: size) {
        decoder.append(stream[start..<min(start + size, stream.count)])
        while let payload = try decoder.next() { messages.append(try ReaderMessage(payload: payload)) }
      }
      #expect(messages == all)
    }
  }

  @Test(arguments: [[0, 0, 0, 0], [0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0x10, 0x10, 1]] as [[UInt8]])
  func `an invalid frame length is rejected`(_ bytes: [UInt8]) {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    #expect(throws: ReaderLinkError.self) { try decoder.next() }
  }
}

@Suite struct TagFingerprintTests {
  private static let key = TagFingerprint.Key(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

  /// Test vectors of the reference implementation, with 0, 1, 2, … as the key and the message
  /// (github.com/veorq/SipHash, vectors.h).
  @Test(
    arguments: [
      (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (7, 0xab02_00f5_8b01_d137), (8, 0x93f5_f579_9a93_2462),
      (15, 0xa129_ca61_49be_45e5),
    ] as [(Int, UInt64)]) func `the hash is SipHash-2-4`(count: Int, hash: UInt64)
  {
    #expect(TagFingerprint.hash((0..<count).map(UInt8.init), Self.key) == hash)
  }

  @Test func `technology, UID and key all change the fingerprint`() {
    let one = TagFingerprint(.type2, [4, 1, 2, 3], Self.key)
    #expect(one == TagFingerprint(.type2, [4, 1, 2, 3], Self.key))
    #expect(one != TagFingerprint(.type4A, [4, 1, 2, 3], Self.key))
    #expect(one != TagFingerprint(.type2, [4, 1, 2, 4], Self.key))
    #expect(one != TagFingerprint(.type2, [4, 1, 2, 3], .random()))
  }
}

@Suite struct ReaderTimingTests {
  /// The slowest command of each driver in milliseconds, from libnfc 1.8.0. Each step waits for up to 700 ms. With an
  /// ACR122U there are three steps and four seconds, and with `pn53x_usb` there are four steps and one second.
  static let devices: [(String?, Int)] = [
    ("pn532_uart:/dev/ttyUSB0", 1400), ("pn53x_usb:001:004", 3800), ("pn53x_usb", 3800), ("acr122_usb:001:004", 6100),
    ("acr122_usb", 6100), ("arygon:/dev/ttyS0", 1400), (nil, 6100),
    // Not a command, but the longest time between two looks at the link: another thread makes the calls.
    ("pcsc:ACS ACR122U PICC Interface 00 00", 1000),
  ]

  /// If a promise were shorter than libnfc's command, the daemon would kill a working process.
  @Test(arguments: devices)
  func `a promise covers the slowest command of the driver and is limited`(device: String?, slowest: Int) {
    let timing = ReaderTiming(device: device)
    #expect(timing.command >= .milliseconds(slowest))
    // Before the command there may be a heartbeat that is 400 ms old and a sleep of 200 ms.
    #expect(timing.promise >= .milliseconds(slowest + 600))
    // The daemon cuts a longer promise.
    #expect(timing.promise + ReaderTiming.longestPause <= ReaderTiming.longestPromise)
    #expect(timing.opening <= ReaderTiming.longestPromise)
    #expect(timing.obedience > timing.command)
    #expect(timing.command + timing.closing < ReaderTiming.stop)
  }

  @Test func `the time limits depend on the driver`() {
    let acr122 = ReaderTiming(device: "acr122_usb:001:004")
    #expect(ReaderTiming(device: nil) == acr122)
    #expect(ReaderTiming(device: "acr122s:/dev/ttyS0") == ReaderTiming(device: "pn532_uart:/dev/ttyS0"))
    #expect(ReaderTiming(device: "pn532_uart:/dev/ttyS0").promise == .seconds(2))
    let pcsc = ReaderTiming(device: "pcsc:ACS ACR122U PICC Interface 00 00")
    #expect([pcsc.command, pcsc.opening, pcsc.closing] == [.seconds(1), .seconds(5), .seconds(2)])
  }

  @Test func `the alarm after a signal comes later than any promise`() {
    #expect(Duration.seconds(ReaderTiming.secondsAfterSignal) > ReaderTiming.longestPromise)
    #expect(Duration.seconds(ReaderTiming.secondsAfterSignal) > ReaderTiming.stop)
    // Whole seconds, at least the promise, and a moment more because the machine may be busy.
    #expect(ReaderTiming.secondsUntilAlarm(.seconds(6)) == 7)
    #expect(ReaderTiming.secondsUntilAlarm(.seconds(12)) == 13)
    #expect(ReaderTiming.secondsUntilAlarm(ReaderTiming(device: "acr122_usb").promise) == 8)
    #expect(ReaderTiming.secondsUntilAlarm(.milliseconds(1600)) == 2)
    #expect(ReaderTiming.secondsUntilAlarm(.milliseconds(1601)) == 3)
  }
}
