import ReaderLink
import TestSupport
import Testing

@testable import ReaderSimulator

/// Faults at single commands of a reading.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CommandFaultTests {
  private static let failed =
    "damaged: reading failed: the tag does not answer (status 63 00); hold it to the reader again"

  // MARK: One word for every failure

  /// ACS's readers answer every failed exchange with 63 00. No card answers SELECT with it.
  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .acr1552U], [TagKind.type4A, .type4B])
  func `a Type 4 tag is read again if an ACS reader answers 63 00`(model: CardReaderModel, kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = try uri("https://example.com/")
    // The commands before ask for the identifier, and a card like one of Type B for its answer to select.
    let select = kind == .type4A ? 2 : 3
    for command in select..<select + 5 {
      await rig.add(.status(0x6300, command: command))
      let id = try await rig.insert(try kind.make(bytes))
      let (message, placement) = try await rig.message()
      #expect(message == bytes)
      #expect(await rig.powerUps(id) == 2)
      try await rig.takeAway(id, placement)
    }
  }

  /// The second command of each attempt selects the application.
  @Test func `63 00 to each SELECT is a failure, and the tag is not taken for another card`() async throws {
    let rig = try await CardReaderRig.scanning()
    for command in [2, 4, 6] { await rig.add(.status(0x6300, command: command)) }
    let id = try await rig.insert(try .type4(message: try uri("https://example.com/")))
    let report = try await rig.tag()
    #expect(report.problem == Self.failed)
    #expect(await rig.commands(id).count == 6)
    try await rig.announcesNothing()
    try await rig.takeAway(id, report.placement)
    try await rig.announces("https://example.com/next")
  }

  @Test func `63 00 to the SELECT of a session's application is tried again`() async throws {
    let rig = try await CardReaderRig.inSession(
      .acr1252U, ReaderSessionOptions(number: 1, applicationIdentifiers: [[0xF0] + Array("TAGROUTE".utf8)]))
    await rig.add(.status(0x6300, command: 2))
    let (id, card) = try await rig.finds(.applicationCard())
    #expect(card.initialApplication == 0)
    try await rig.takeAway(id, card)
  }
}
