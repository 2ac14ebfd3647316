import Daemon
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

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
    await rig.process.restartPolling(ReaderSessionOptions(number: 1))
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

  /// The module in a reader is a slot of its own.
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

  /// Standard 03 with a name that means nothing: only page 3 shows that it is a tag.
  @Test(arguments: [[0x03, 0x00, 0x00], [0x03, 0xFF, 0xB0], [0x00, 0x00, 0x00]] as [[UInt8]])
  func `a tag that the reader cannot name is read`(name: [UInt8]) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/")
    let tag = SimulatedCard(try .type2(.ntag213, message: bytes))
    try await rig.insert(try tag.answeringReset(with: Self.storage(name)))
    #expect(try await rig.message().message == bytes)
  }
}
