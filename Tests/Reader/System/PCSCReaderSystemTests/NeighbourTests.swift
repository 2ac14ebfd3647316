import Daemon
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import PCSCReader
@testable import ReaderSimulator

/// Other programs that use the same card.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SharedCardTests {
  private static let exclusive = "another program uses the card exclusively; end it, or take the card away"

  /// A card that another program has connected to before the process could.
  private func shared(
    _ rig: CardReaderRig, _ client: PCSCClient, _ commands: String..., message bytes: [UInt8]
  ) async throws -> TagID {
    var id: TagID?
    try await rig.whileSuspended {
      id = try await rig.insert(try .type2(.ntag213, message: bytes))
      try await client.ask("await present \(rig.name)")
      for command in commands { try await client.ask(command) }
    }
    return try #require(id)
  }

  // MARK: Transactions

  @Test func `a tag is read when another program ends its transaction`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    let id = try await shared(rig, client, "connect shared \(rig.name)", "begin", message: bytes)
    let reason = try await rig.next("a wait") { if case .waiting(let reason) = $0 { reason } else { nil } }
    #expect(reason == "another program uses the card")
    // The other program goes on meanwhile.
    #expect(try await client.transmit("ffca000000").hasSuffix("9000"))
    #expect(await rig.commands(id).count == 1)
    try await client.ask("end")
    #expect(try await rig.message().message == bytes)
    #expect(rig.waits == [reason, ""])
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
  }

  /// The process waits, and obeys meanwhile.
  @Test func `scanning stops while another program has a transaction`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let id = try await shared(
      rig, client, "connect shared \(rig.name)", "begin", message: try uri("https://example.com/"))
    try await rig.next("a wait") { if case .waiting = $0 { true } else { nil } }
    try await rig.scan(false)
    #expect(rig.waits.last == "")
    try await client.ask("end")
    try await client.ask("disconnect leave")
    try await rig.isFree(client)
    #expect(await rig.commands(id).isEmpty)
    try await rig.scan(true)
    try await rig.announcesNothing()
    #expect(rig.announced.isEmpty)
  }

  @Test func `a card that leaves during the wait is not announced`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let id = try await shared(
      rig, client, "connect shared \(rig.name)", "begin", message: try uri("https://example.com/"))
    try await rig.next("a wait") { if case .waiting = $0 { true } else { nil } }
    await rig.remove(id)
    _ = try await client.error(of: "end")
    try await rig.announces("https://example.com/next")
    #expect(rig.announced.count == 1)
    #expect(rig.waits.last == "")
  }

  // MARK: Exclusive use

  /// Each refused attempt leaves a line in pcscd's log.
  @Test func `a card that another program keeps is tried three times, and again when that program ends`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    let id = try await shared(rig, client, "connect exclusive \(rig.name)", message: bytes)
    try await rig.notices("a card is left to another program")
    let attempts = rig.pcscd.log().split(separator: "\n").count { $0.contains("Error Reader Exclusive") }
    #expect(attempts == 3)
    // The card lies there unread, so the reason stays.
    try await rig.announcesNothing()
    #expect(rig.waits == [Self.exclusive])
    #expect(await rig.commands(id).isEmpty)
    #expect(await rig.powerUps(id) == 1)
    try await client.ask("disconnect leave")
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    #expect(rig.waits == [Self.exclusive, ""])
    try await rig.takeAway(id, placement)
  }

  @Test func `a card that was left to another program no longer waits when it is removed`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let id = try await shared(rig, client, "connect exclusive \(rig.name)", message: try uri("https://example.com/"))
    try await rig.notices("a card is left to another program")
    try await rig.awaken { await rig.remove(id) }
    _ = try await client.error(of: "disconnect leave")
    try await rig.announces("https://example.com/next")
    #expect(rig.announced.count == 1)
    #expect(rig.waits == [Self.exclusive, ""])
  }

  // MARK: Resets

  /// pcscd makes the other program wait until the transaction of the process has ended.
  @Test(arguments: 1...3) func `a reset that another program wants does not disturb a reading`(command: Int)
    async throws
  {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    await rig.add(.hold(command: command))
    let id = try await shared(rig, client, "connect shared \(rig.name)", message: bytes)
    try await rig.isHolding()
    let answer = try await client.send("reconnect unpower")
    await rig.readers.release(rig.slot)
    #expect(try await rig.message().message == bytes)
    #expect(try await client.answer(after: answer).hasPrefix("ok"))
    #expect(await rig.commands(id).count == 3)
    #expect(await rig.powerUps(id) == 2)
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
  }

  private static func reset(_ client: PCSCClient, times: Int) async throws {
    for _ in 0..<times { try await client.ask("reconnect unpower") }
    try await client.ask("disconnect leave")
  }

  /// The resets come before the reading, between its attempts or after it. A silent exchange makes the process leave the
  /// card to others until its next attempt.
  @Test(arguments: 1...CardReader.mostResets, [false, true])
  func `resets of another program at any time neither prevent a tap nor repeat it`(
    resets: Int, isSilent: Bool
  ) async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    if isSilent { await rig.add(.silence(command: 2)) }
    let id = try await shared(rig, client, "connect shared \(rig.name)", message: bytes)
    async let end: Void = Self.reset(client, times: resets)
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    try await end
    try await rig.announcesNothing()
    #expect(await rig.powerUps(id) > resets)
    try await rig.takeAway(id, placement)
    #expect(rig.announced.count == 1)
  }

  /// The process is connected already, and waits to begin its own transaction.
  @Test(arguments: [1, CardReader.mostResets])
  func `resets in the transaction of another program do not disturb the reading after it`(resets: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    let id = try await shared(rig, client, "connect shared \(rig.name)", "begin", message: bytes)
    try await rig.next("a wait") { if case .waiting = $0 { true } else { nil } }
    for _ in 0..<resets { try await client.ask("reconnect unpower") }
    try await client.ask("end")
    #expect(try await rig.message().message == bytes)
    try await client.ask("disconnect leave")
    try await rig.isFree(client)
    #expect(await rig.commands(id).count == 3)
    #expect(await rig.powerUps(id) == 1 + resets)
    try await rig.announcesNothing()
  }

  // MARK: Afterwards

  @Test(arguments: [TagKind.type2, .type4A, .type4B, .type3, .mifareClassic])
  func `after a reading the card is as it was, and nobody is connected`(kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let id = try await rig.insert(try kind.make(try uri("https://example.com/")))
    let placement = try await rig.message().placement
    try await rig.isFree(client)
    #expect(await rig.powerUps(id) == 1)
    let commands = await rig.commands(id).count
    // Another program works with the card as long as it likes.
    try await client.ask("connect exclusive \(rig.name)")
    for _ in 1...20 { _ = try await client.transmit("ffca000000") }
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
    #expect(await rig.commands(id).count == commands + 20)
    try await rig.takeAway(id, placement)
  }

  /// A program that watches cards sees no removal and no reset.
  @Test func `the process does not change what other programs see of the card`() async throws {
    let rig = try await CardReaderRig.asleep()
    let client = try await rig.client()
    let id = try await rig.awaken {
      try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/1")))
    }
    try await client.ask("connect shared \(rig.name)")
    let before = try await client.ask("state \(rig.name)")
    try await rig.scan(true)
    try await rig.announcesNothing()
    #expect(try await client.ask("state \(rig.name)").dropFirst(9) == before.dropFirst(9))
    #expect(try await client.transmit("ffca000000").hasSuffix("9000"))
    #expect(await rig.powerUps(id) == 1)
  }
}

/// Cards that belong to other programs. They get no command, no power-up and no connection.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct UntouchedCardTests {
  enum Card: CaseIterable {
    case plain, openPGP, piv, payment

    func make() -> SimulatedCard {
      switch self {
      case .plain: .contact()
      case .openPGP: .openPGP()
      case .piv: .piv()
      case .payment: .paymentChip()
      }
    }
  }

  /// pcscd itself powers a card once.
  private func expectUntouched(
    _ id: TagID, _ rig: CardReaderRig, _ client: PCSCClient, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(await rig.commands(id).isEmpty, sourceLocation: sourceLocation)
    #expect(await rig.powerUps(id) == 1, sourceLocation: sourceLocation)
    // It is present, and no program is connected to it.
    let state = try await client.ask("state \(rig.name)")
    #expect(state.prefix(8).hasSuffix("022"), "\(state)", sourceLocation: sourceLocation)
  }

  /// The daemon starts no process for such a reader. If it does, the process leaves its cards alone.
  @Test(arguments: [CardReaderModel.pcTwin, .yubiKey], Card.allCases)
  func `a card with contacts is left alone while scanning`(model: CardReaderModel, card: Card) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let client = try await rig.client()
    let id = try await rig.awaken { try await rig.insert(card.make()) }
    try await expectUntouched(id, rig, client)
    #expect(try await client.error(of: "connect exclusive \(rig.name)") == nil)
    try await client.ask("disconnect leave")
    // Another look, for a new goal.
    try await rig.scan(false)
    try await rig.scan(true)
    try await rig.announcesNothing()
    try await expectUntouched(id, rig, client)
    try await rig.awaken { await rig.remove(id) }
    #expect(rig.announced.isEmpty)
  }

  @Test(arguments: Card.allCases) func `a card with contacts is left alone in a session`(card: Card) async throws {
    let rig = try await CardReaderRig.asleep(.pcTwin)
    try await rig.begin()
    let id = try await rig.awaken { try await rig.insert(card.make()) }
    try await expectUntouched(id, rig, try await rig.client())
    await rig.process.restartPolling(TagSessionOptions(number: 1))
    try await rig.next("a restart") { if case .sessionPollingRestarted = $0 { true } else { nil } }
    try await rig.isAsleep()
    try await expectUntouched(id, rig, try await rig.client())
  }

  /// A card lies there before the process starts, as a smart card does all day.
  @Test func `a card with contacts is left alone by each new process`() async throws {
    let rig = try await CardReaderRig.scanning(.pcTwin)
    let id = try await rig.awaken { try await rig.insert(.openPGP()) }
    for _ in 1...2 {
      try await rig.killProcess()
      try await rig.expect(.crashed)
      try await rig.expect(.scanning(true))
      try await rig.announcesNothing()
    }
    try await expectUntouched(id, rig, try await rig.client())
  }

  /// The module in a reader has its own slot.
  @Test func `a card in the slot for a security module is left alone`() async throws {
    let rig = try await CardReaderRig(.acr1252U, slot: 1)
    try await rig.scan(true)
    let id = try await rig.awaken { try await rig.insert(.contact()) }
    try await expectUntouched(id, rig, try await rig.client())
  }

  // MARK: Answers to reset

  /// Some readers have one slot for both kinds of card. The answer to reset tells them apart.
  @Test(arguments: [
    // OpenPGP 3, YubiKey, a bank card, and one in inverse convention.
    "3BDA18FF81B1FE751F030031F573C001600090001C", "3BFD1300008131FE158073C021C057597562694B657940",
    "3B6E00000062000057415649444D10819000", "3F65100002701000", "3B021450", "3B00",
    // A memory card with contacts: standard 0D to 10.
    "3B8F8001804F0CA0000003060D00000000000065", "3B8F8001804F0CA0000003061000000000000078",
    // Too short, too long, a wrong check byte, and historical bytes that do not fit.
    "3B", "3B80", "3B808001", "3B8F8001804F0CA0000003060300030000000069", "3B8380018080", "0000000000",
    "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
  ])
  func `a card whose answer to reset is not that of a contactless card gets no command`(answer: String) async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let card = try SimulatedCard(try .type2(.ntag213, message: try uri("https://example.com/")))
      .answeringReset(with: try hex(answer))
    let id = try await rig.awaken { try await rig.insert(card) }
    try await expectUntouched(id, rig, client)
    #expect(rig.announced.isEmpty)
    await rig.remove(id)
    try await rig.announces("https://example.com/next")
  }

  /// The check byte follows. `name` is the standard and the name of the card.
  static func storage(_ name: [UInt8]) -> [UInt8] {
    let bytes: [UInt8] = [0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06] + name + [0, 0, 0, 0]
    return [0x3B] + bytes + [bytes.reduce(0, ^)]
  }

  static let strangers: [([UInt8], TagType, String)] = [
    ([0x40, 0x00, 0x00], .type2, "unsupported: it is a low-frequency card, not an NFC tag"),
    ([0x0B, 0x00, 0x18], .type5, "unsupported: it is a PicoPass or iCLASS card, not an NFC tag"),
    ([0x07, 0x00, 0x00], .type4B, "unsupported: it is a memory card of ISO/IEC 14443 B, not an NFC tag"),
    ([0x03, 0x00, 0x38], .type2, "unsupported: it is a MIFARE Plus in security level 2, which requires a key"),
  ]

  @Test(arguments: strangers)
  func `a contactless card that is no NFC tag is named without a connection`(
    name: [UInt8], type: TagType, reason: String
  ) async throws {
    let rig = try await CardReaderRig.scanning()
    let card = try SimulatedCard(try .type2(.ntag213, message: [])).answeringReset(with: Self.storage(name))
    let id = try await rig.insert(card)
    let report = try await rig.tag()
    #expect(report.problem == reason)
    #expect(report.placement.technology == type && report.placement.uid.isEmpty)
    try await expectUntouched(id, rig, try await rig.client())
    try await rig.takeAway(id, report.placement)
  }

  /// Standard 03 with an unknown name: only page 3 shows that it is a tag.
  @Test(arguments: [[0x03, 0x00, 0x00], [0x03, 0xFF, 0xB0], [0x00, 0x00, 0x00]] as [[UInt8]])
  func `a tag that the reader cannot name is read`(name: [UInt8]) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/")
    let tag = SimulatedCard(try .type2(.ntag213, message: bytes))
    try await rig.insert(try tag.answeringReset(with: Self.storage(name)))
    #expect(try await rig.message().message == bytes)
  }
}
