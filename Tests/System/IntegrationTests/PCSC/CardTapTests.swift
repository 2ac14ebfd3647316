import Glibc
import NDEF
import ReaderSimulator
import TestRig
import Testing

/// Taps on readers that pcscd drives: each leads to one notification and one message.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardTapTests {
  enum Kind: String, CaseIterable, Sendable {
    case type1, type2, type3, type4, type4B, type5, mifareClassic, desfire

    /// Only few models read a Type 1 tag, and these no Type 5 tag.
    var model: CardReaderModel { self == .type1 ? .acr122U : .acr1552U }

    func tag(_ message: [UInt8]) throws -> SimulatedTag {
      switch self {
      case .type1: try .type1(.topaz512, message: message)
      case .type2: try .type2(.ntag215, message: message)
      case .type3: try .type3(message: message)
      case .type4: try .type4(message: message)
      case .type4B: try .type4B(message: message)
      case .type5: try .type5(.slix2, message: message)
      case .mifareClassic: try .mifareClassic(.classic1K, message: message, uid: .fixed([0x04, 1, 2, 3]))
      case .desfire: try .desfire(message: message)
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `a tap with a tag of each type leads to one notification and one message`(kind: Kind) async throws {
    let desk = try await CardDesktop.started(
      [kind.model], starter: "`a tap with a tag of each type leads to one notification and one message`_\(kind)")
    let message = try Tag(1).message
    for round in 1...2 {
      let card = try await desk.place(try kind.tag(message))
      let shown = try await desk.shown()
      #expect(shown.body == Tag.text(1))
      try await desk.server.click(shown)
      #expect(try await desk.desktop.handed().message == message)
      try await desk.remove(card)
      #expect(await desk.desktop.app.count == round)
      #expect(await desk.server.all.count(where: \.isTap) == round)
    }
  }

  enum LongMessage: CaseIterable, Sendable {
    case type2, type4, type4Extended, type5

    var length: Int {
      switch self {
      case .type2: 800
      case .type4: 4000
      case .type4Extended: 20_000
      case .type5: 8000
      }
    }

    func tag(_ message: [UInt8]) throws -> SimulatedTag {
      var options = Type4Options()
      switch self {
      case .type2: return try .type2(.ntag216, message: message)
      case .type4: return try .type4(message: message)
      case .type4Extended:
        options.maximumRead = 0xFFFF
        return try .type4(message: message, options: options)
      case .type5: return try .type5(.st25DV64K, message: message)
      }
    }
  }

  @Test(arguments: LongMessage.allCases) func `a long message arrives unchanged`(kind: LongMessage) async throws {
    let desk = try await CardDesktop.started([.acr1552U], starter: "`a long message arrives unchanged`_\(kind)")
    let payload = (0..<kind.length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let record = NDEFRecord(
      typeNameFormat: .mediaType, type: Array("application/octet-stream".utf8), payload: payload)
    let message = try Tag(1, others: [record]).message
    try await desk.place(try kind.tag(message))
    let shown = try await desk.shown()
    #expect(shown.body.hasPrefix(Tag.text(1)))
    try await desk.server.click(shown)
    #expect(try await desk.desktop.handed().message == message)
  }

  @Test(arguments: [2, 4]) func `a resting tag gets no more commands`(type: Int) async throws {
    let desk = try await CardDesktop.started(
      [.acr1252U, .acr1252U], starter: "`a resting tag gets no more commands`_\(type)")
    let resting = try await desk.place(try Tag(1, type: type).simulated)
    #expect(try await desk.shown().body == Tag.text(1))
    let before = await desk.readers.commands(to: resting)
    #expect(!before.isEmpty)
    // The other reader's process, the daemon and pcscd work meanwhile.
    for number in 2...21 { try await desk.announces(number, on: 1) }
    #expect(await desk.readers.commands(to: resting) == before)
    // pcscd gave the tag power once, and nothing has reset it.
    #expect(await desk.readers.powerUps(of: resting) == 1)
    // After its removal it is a new tap.
    try await desk.remove(resting)
    #expect(await desk.announcements(of: 1) == 1)
    try await desk.place(try Tag(1, type: type).simulated)
    #expect(try await desk.shown().body == Tag.text(1))
    #expect(await desk.server.all.count(where: \.isTap) == 22)
  }

  @Test func `a tag that replaces another one without a pause is announced`() async throws {
    let desk = try await CardDesktop.started()
    for number in [1, 2, 1, 1, 2] { try await desk.announces(number) }
  }

  /// The reader process resets a tag whose first reading is doubtful. A removal shortly after it is the user's.
  @Test(arguments: [0x6300, 0x6A82, 0x6401] as [UInt16])
  func `a tag that replaces one whose reading was repeated is announced`(word: UInt16) async throws {
    let desk = try await CardDesktop.started(
      starter: "`a tag that replaces one whose reading was repeated is announced`_\(word)")
    await desk.readers.add(.status(word, command: 2), to: try desk.slot)
    for number in [1, 2, 3] { try await desk.announces(number) }
    #expect(await desk.readers.strikes(in: try desk.slot) == 1)
  }

  @Test(arguments: [
    [CardReaderModel.acr122U, .omnikey5427], [.acr1252U, .acr1252U], [.uTrust3700, .r502], [.rcS300, .omnikey5022],
  ])
  func `tags on two readers at once are announced once each`(models: [CardReaderModel]) async throws {
    let desk = try await CardDesktop.started(
      models, starter: "`tags on two readers at once are announced once each`_\(models[0].name)_\(models[1].name)")
    for round in 0..<5 {
      let numbers = [2 * round, 2 * round + 1]
      for (reader, number) in numbers.enumerated() { try await desk.place(number, on: reader) }
      let shown = [try await desk.shown().body, try await desk.shown().body]
      #expect(Set(shown) == Set(numbers.map(Tag.text)))
    }
    #expect(await desk.server.all.count(where: \.isTap) == 10)
  }

  @Test func `of two tags on one reader the second is announced when the first is gone`() async throws {
    let desk = try await CardDesktop.started()
    let first = try await desk.announces(1)
    try await desk.readers.insert(SimulatedCard(try Tag(2).simulated), into: try desk.slot)
    await desk.readers.remove(first)
    #expect(try await desk.shown().body == Tag.text(2))
  }

  @Test func `a card that came while scanning was paused is not announced afterwards`() async throws {
    let desk = try await CardDesktop.started()
    let polkit = try await desk.desktop.startPolkit()
    defer { withExtendedLifetime(polkit) {} }
    let wait = "import os, signal; os.write(1, b'has it\\n'); signal.pause()"
    let process = try await desk.desktop.installation.start("tagroute", ["run", "--", "python3", "-c", wait])
    try await process.line(containing: "has it")
    let card = try await desk.place(1)
    let client = try await PCSCClient(socket: desk.pcscd.socket)
    try await client.ask("await present \(await desk.readers.name(of: try desk.slot))")
    #expect(await desk.readers.commands(to: card).isEmpty)
    try await process.exit(after: SIGTERM)
    try await desk.scanning()
    // The next tap is the first one.
    try await desk.announces(2)
    #expect(await desk.server.all.count(where: \.isTap) == 1)
  }
}
