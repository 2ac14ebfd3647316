import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderModels
@testable import ReaderSimulator

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CommandFaultTests {
  private static let failed =
    "damaged: reading failed: the tag does not answer (status 63 00); hold it to the reader again"

  enum Accident: CaseIterable {
    /// The reader answers 63 00.
    case failureWord
    /// The reader answers 61 10 instead of data: the data can be fetched.
    case announcement
    /// The exchange fails.
    case silence
    /// The tag is taken away and put back at once.
    case flicker

    func fault(at command: Int) -> CardFault {
      switch self {
      case .failureWord: .status(0x6300, command: command)
      case .announcement: .status(0x6110, command: command)
      case .silence: .silence(command: command)
      case .flicker: .flicker(command: command)
      }
    }

    /// Whether the process knows that the exchange has failed. Otherwise it may take the answer for the tag's.
    var isKnown: Bool { self == .silence || self == .flicker }
  }

  private static func reader(for kind: TagKind) -> CardReaderModel {
    switch kind {
    case .type1: .acr122U
    case .type5: .acr1552U
    default: .acr1252U
    }
  }

  /// The number of commands of a reading. The last one that a session of the reader needs may follow the announcement.
  private func commands(_ kind: TagKind, _ rig: CardReaderRig, _ client: PCSCClient) async throws -> Int {
    let id = try await rig.insert(try kind.make(try uri("https://example.com/")))
    let placement = try await rig.message().placement
    try await rig.isFree(client)
    let commands = await rig.commands(id)
    try await rig.takeAway(id, placement)
    return commands.count - (commands.last == [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00] ? 1 : 0)
  }

  /// At each command of the reading in turn.
  @Test(arguments: TagKind.allCases, Accident.allCases)
  func `a tag is announced once, whatever happens at one command`(kind: TagKind, accident: Accident) async throws {
    let rig = try await CardReaderRig.scanning(Self.reader(for: kind))
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    let last = try await commands(kind, rig, client)
    for command in 1...last {
      let before = rig.announced.count
      await rig.readers.clearFaults(of: rig.slot)
      await rig.add(accident.fault(at: command))
      let id = try await rig.insert(try kind.make(bytes))
      let report = try await rig.tag()
      try await rig.wait(for: "pcscd's reports") { [slot = rig.slot] in $0.isReported(in: slot) }
      try await rig.isFree(client)
      try await rig.announcesNothing()
      #expect(rig.announced.count == before + 1, "command \(command)")
      #expect(await rig.readers.strikes(in: rig.slot) == 1)
      let isRead = report.content == .message(bytes)
      #expect(isRead || !accident.isKnown && report.problem != nil, "command \(command): \(report)")
      // On a busy machine, pcscd may report after the reading that the tag was away. The tag then lies there as a known one.
      let resting = try #require(rig.resting.first, "command \(command)")
      await rig.remove(id)
      #expect(try await rig.removal() == resting, "command \(command)")
    }
    #expect(!rig.seen.contains { $0.isCrash })
  }

  @Test func `a driver that does not answer is the reason for waiting`() async throws {
    let rig = try await CardReaderRig.scanning()
    await rig.add(.hold())
    let bytes = try uri("https://example.com/")
    try await rig.insert(try .type2(.ntag213, message: bytes))
    let reason = try await rig.next("a wait") { if case .waiting(let reason) = $0 { reason } else { nil } }
    #expect(reason == "the reader's driver does not answer; unplug the reader and plug it in again")
    await rig.readers.release(rig.slot)
    #expect(try await rig.message().message == bytes)
    #expect(rig.waits == [reason, ""])
  }

  // MARK: A card that is not there

  /// libnfc switches the polling of an ACR122U off. The reader then reports a card with the answer to reset 3B 00.
  @Test func `an ACR122U whose polling is off polls again, and reads the tag that lies there`() async throws {
    let rig = try await CardReaderRig.scanning(.acr122U)
    await rig.readers.switchPollingOff(in: rig.slot)
    let bytes = try uri("https://example.com/")
    try await rig.insert(try .type2(.ntag213, message: bytes))
    #expect(try await rig.message().message == bytes)
    #expect(rig.waits == [])
    #expect(rig.announced.count == 1)
  }

  @Test func `an ACR122U that goes on reporting a card without data is a reason for waiting`() async throws {
    let rig = try await CardReaderRig.scanning(.acr122U)
    await rig.readers.switchPollingOff(in: rig.slot, isStuck: true)
    let reason = try await rig.next("a wait") { if case .waiting(let reason) = $0 { reason } else { nil } }
    #expect(reason.contains("unplug the reader and plug it in again"))
    try await rig.announcesNothing()
  }

  /// Seen on an ACR122U: the reader goes on reporting a card that was taken away in the middle of a command.
  @Test(arguments: [TagKind.type2, .mifareClassic])
  func `a card that the reader only reports is not damaged, and the next one is new`(kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning(.acr122U)
    let bytes = try uri("https://example.com/")
    await rig.add(.vanish(command: 3))
    let first = try await rig.insert(try kind.make(bytes))
    try await rig.notices("the reader reports a card that no longer answers")
    try await rig.announcesNothing()
    await rig.remove(first)
    try await rig.insert(try kind.make(bytes))
    #expect(try await rig.message().message == bytes)
    #expect(rig.announced.count == 1)
  }

  // MARK: One word for every failure

  /// ACS's readers answer every failed exchange with 63 00. No card answers SELECT with it.
  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .acr1552U], [TagKind.type4A, .type4B])
  func `a Type 4 tag is read again if an ACS reader answers 63 00`(model: CardReaderModel, kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = try uri("https://example.com/")
    // The commands before ask for the identifier, and a card like one of Type B for its answer to select.
    let select = kind == .type4A ? 2 : 3
    for command in select..<select + 5 {
      await rig.readers.clearFaults(of: rig.slot)
      await rig.add(.status(0x6300, command: command))
      let id = try await rig.insert(try kind.make(bytes))
      let (message, placement) = try await rig.message()
      #expect(message == bytes)
      #expect(await rig.readers.strikes(in: rig.slot) == 1)
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
      .acr1252U, TagSessionOptions(number: 1, applicationIdentifiers: [[0xF0] + Array("TAGROUTE".utf8)]))
    await rig.add(.status(0x6300, command: 2))
    let (id, card) = try await rig.finds(.applicationCard())
    #expect(card.initialApplication == 0)
    try await rig.takeAway(id, card)
  }
}

/// Cards that the reader finds and cannot give power: they are still moving, or too far away.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PowerFaultTests {
  private static let tooFar =
    "damaged: the reader finds the card but cannot give it power; hold it to the reader again"

  /// pcscd itself makes the first attempt.
  @Test(arguments: [TagKind.type2, .type4A, .type4B, .mifareClassic], 1...2)
  func `a card that gets its power late is read`(kind: TagKind, failures: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/")
    await rig.add(.mute(times: failures))
    let id = try await rig.insert(try kind.make(bytes))
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    #expect(await rig.powerUps(id) == failures + 1)
    try await rig.announcesNothing()
    try await rig.takeAway(id, placement)
  }

  @Test func `a card without power is a problem, and then left alone`() async throws {
    let rig = try await CardReaderRig.scanning(.uTrust3700)
    await rig.add(.mute(times: nil))
    let id = try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/")))
    let report = try await rig.tag()
    #expect(report.problem == Self.tooFar)
    try await rig.announcesNothing()
    let powerUps = await rig.powerUps(id)
    #expect(powerUps == 3)
    #expect(await rig.commands(id).isEmpty)
    await rig.readers.clearFaults(of: rig.slot)
    // Another program gives it power. That is no new placement.
    let client = try await rig.client()
    try await client.ask("connect shared \(rig.name)")
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
    try await rig.takeAway(id, report.placement)
    try await rig.announces("https://example.com/next")
  }

  @Test func `a card that leaves before it gets power is not announced`() async throws {
    let rig = try await CardReaderRig.scanning()
    await rig.add(.mute(times: nil))
    let id = try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/")))
    try await rig.wait(for: "the first attempt") { $0.powerUps(of: id) == 1 }
    await rig.remove(id)
    await rig.readers.clearFaults(of: rig.slot)
    try await rig.announces("https://example.com/next")
    #expect(rig.announced.count == 1)
  }

  /// Whether it has contacts shows only when it has power.
  @Test func `a card with contacts that gets its power late gets no command`() async throws {
    let rig = try await CardReaderRig.scanning()
    await rig.add(.mute())
    let card = SimulatedCard(try .type2(.ntag213, message: try uri("https://example.com/")))
    let id = try await rig.insert(try card.answeringReset(with: try hex("3B021450")))
    try await rig.wait(for: "a second attempt") { $0.powerUps(of: id) == 2 }
    try await rig.isFree(try await rig.client())
    try await rig.announcesNothing()
    #expect(await rig.commands(id).isEmpty)
    #expect(rig.announced.isEmpty)
  }

  @Test func `a card without power is found in a session when it has power`() async throws {
    let rig = try await CardReaderRig.asleep()
    try await rig.begin()
    await rig.add(.mute())
    let id = try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/")))
    _ = try await rig.sessionTag()
    #expect(await rig.powerUps(id) == 2)
  }
}

/// Readers that report a card as another one when they power it again, or when a transparent session ends.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RenewedCardTests {
  private static let readers = [CardReaderModel.acr122U, .acr1252U, .acr1552U]

  @Test(arguments: TagKind.allCases, readers)
  func `a tag is announced once`(kind: TagKind, model: CardReaderModel) async throws {
    guard kind.isReadable(on: model) else { return }
    let rig = try await CardReaderRig.scanning(model)
    await rig.readers.renewCards(in: rig.slot)
    for number in 1...3 {
      let bytes = try uri("https://example.com/\(number)")
      let id = try await rig.insert(try kind.make(bytes))
      // If the reader reports the card as another one while it is read, that attempt ends with a problem.
      var report = try await rig.tag()
      while report.problem != nil { report = try await rig.tag() }
      #expect(report.content == .message(bytes) && report.placement.technology == kind.type)
      let slot = rig.slot
      try await rig.wait(for: "a report of the card") { $0.isReported(in: slot) }
      try await rig.announcesNothing()
      #expect(rig.announced.count { $0.problem == nil } == number)
      await rig.remove(id)
    }
  }
}
