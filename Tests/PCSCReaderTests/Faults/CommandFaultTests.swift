import ReaderLink
import TestSupport
import Testing

@testable import ReaderSimulator

/// Each fault at each command of a reading. No tag is lost, none is announced twice, and none has a wrong content.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CommandFaultTests {
  /// A reader and a kind of tag on it.
  enum Place: CaseIterable {
    case type2, type2Raw, type3, type4A, type4B, type5, type5Blocks, mifareClassic

    var model: CardReaderModel {
      switch self {
      case .type2, .mifareClassic, .type4A, .type4B, .type3: .acr1252U
      case .type2Raw: .acr122U
      case .type5: .acr1552U
      case .type5Blocks: .omnikey5427
      }
    }

    var kind: TagKind {
      switch self {
      case .type2, .type2Raw: .type2
      case .type3: .type3
      case .type4A: .type4A
      case .type4B: .type4B
      case .type5, .type5Blocks: .type5
      case .mifareClassic: .mifareClassic
      }
    }

    /// How problems begin to which one wrong answer can lead. If there are none, a repetition always helps.
    var problems: [String] {
      switch self {
      // The card seems to refuse the SELECT of its NDEF application.
      case .type4A, .type4B: ["not NDEF: "]
      // The reader seems to pass on no frames, or the tag to have an empty block.
      case .type5: ["unsupported: ", "not NDEF: "]
      default: []
      }
    }
  }

  /// A wrong answer that comes once. The card stays where it is.
  enum Wrong: CaseIterable {
    case failure, noSuchBlock, notAuthenticated, rightLength, moreData, empty, oneByte, onlySuccess, noise, longest

    func fault(_ command: Int) -> CardFault {
      let bytes: [UInt8] =
        switch self {
        case .failure: [0x63, 0x00]
        case .noSuchBlock: [0x6A, 0x82]
        case .notAuthenticated: [0x69, 0x82]
        case .rightLength: [0x6C, 0x10]
        case .moreData: [0x61, 0x10]
        case .empty: []
        case .oneByte: [0x90]
        case .onlySuccess: [0x90, 0x00]
        case .noise: (0..<40).map { UInt8(truncatingIfNeeded: $0 * 7) }
        case .longest: [UInt8](repeating: 0x5A, count: 65_538)
        }
      return .answer(bytes, command: command)
    }
  }

  private let bytes: [UInt8]

  init() throws { bytes = try uri("https://example.com/some/path") }

  private func tag(_ place: Place) throws -> SimulatedTag { try place.kind.make(bytes) }

  /// The number of commands of a reading without faults. The card is gone afterwards.
  private func countCommands(_ rig: CardReaderRig, _ place: Place) async throws -> Int {
    let id = try await rig.insert(try tag(place))
    let placement = try await rig.message().placement
    // The end of a transparent session comes after the result.
    let count = await rig.commands(id).count { !$0.starts(with: [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82]) }
    try await rig.takeAway(id, placement)
    return count
  }

  @Test(arguments: Place.allCases, Wrong.allCases)
  func `a wrong answer at any command is repeated or named`(place: Place, wrong: Wrong) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    let count = try await countCommands(rig, place)
    for command in 1...count {
      let before = rig.announced.count
      await rig.add(wrong.fault(command))
      let id = try await rig.insert(try tag(place))
      let report = try await rig.tag()
      if let problem = report.problem {
        #expect(place.problems.contains { problem.hasPrefix($0) }, "command \(command): \(problem)")
      } else {
        #expect(report.content == .message(bytes), "command \(command)")
      }
      await rig.readers.clearFaults(of: rig.slot)
      try await rig.announcesNothing()
      #expect(rig.announced.count == before + 1)
      try await rig.takeAway(id, report.placement)
    }
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// The exchange fails, and pcscd still has the card. `executed`: only the answer was lost.
  @Test(arguments: Place.allCases, [false, true])
  func `a lost exchange at any command loses no tag`(place: Place, executed: Bool) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    let count = try await countCommands(rig, place)
    for command in 1...count {
      await rig.add(.silence(command: command, executed: executed))
      let id = try await rig.insert(try tag(place))
      let (message, placement) = try await rig.message()
      #expect(message == bytes, "command \(command)")
      try await rig.announcesNothing()
      try await rig.takeAway(id, placement)
    }
  }

  /// A person takes the tag away too early, and holds it to the reader again.
  @Test(arguments: Place.allCases, [false, true])
  func `a removal at any command announces nothing until the tag is back`(place: Place, executed: Bool) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    let count = try await countCommands(rig, place)
    for command in 1...count {
      let before = rig.announced.count
      await rig.add(.removal(command: command, executed: executed))
      let id = try await rig.insert(try tag(place))
      let slot = rig.slot
      try await rig.wait(for: "the removal") { $0.strikes(in: slot) == 1 && $0.cards(in: slot).isEmpty }
      await rig.readers.clearFaults(of: slot)
      let card = try #require(await rig.remove(id))
      let again = try await rig.insert(card)
      let (message, placement) = try await rig.message()
      #expect(message == bytes, "command \(command)")
      try await rig.announcesNothing()
      #expect(rig.announced.count == before + 1)
      try await rig.takeAway(again, placement)
    }
  }

  @Test(arguments: Place.allCases)
  func `an unsteady hand at any command announces the tag once`(place: Place) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    let count = try await countCommands(rig, place)
    for command in 1...count {
      let before = rig.announced.count
      await rig.add(.flicker(command: command))
      let id = try await rig.insert(try tag(place))
      let (message, placement) = try await rig.message()
      #expect(message == bytes, "command \(command)")
      try await rig.announcesNothing()
      #expect(rig.announced.count == before + 1)
      await rig.readers.clearFaults(of: rig.slot)
      try await rig.takeAway(id, placement)
    }
  }

  /// A frame that the tag did not receive. The frames that find the tag come before.
  @Test(arguments: Place.allCases)
  func `a disturbed frame loses no tag`(place: Place) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    let client = try await rig.client()
    for exchange in 1...6 {
      let before = rig.announced.count
      var id: TagID?
      try await rig.whileSuspended {
        id = try await rig.insert(try tag(place))
        try await client.ask("await present \(rig.name)")
        await rig.readers.addRadioFault(.radio(.unheard, exchange: exchange), to: rig.slot)
      }
      let (message, placement) = try await rig.message()
      #expect(message == bytes, "exchange \(exchange)")
      try await rig.announcesNothing()
      #expect(rig.announced.count == before + 1)
      await rig.readers.clearRadioFaults(of: rig.slot)
      try await rig.takeAway(try #require(id), placement)
    }
  }

  // MARK: Faults that stay

  @Test(arguments: Place.allCases)
  func `a reader that refuses everything has one result per tag`(place: Place) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    await rig.add(.status(0x6300, times: nil))
    let id = try await rig.insert(try tag(place))
    let report = try await rig.tag()
    #expect(report.problem == "damaged: reading failed: the tag does not answer (status 63 00)", "\(report)")
    #expect(report.placement.uid.isEmpty)
    try await rig.announcesNothing()
    await rig.readers.clearFaults(of: rig.slot)
    try await rig.takeAway(id, report.placement)
    try await rig.insert(try tag(place))
    #expect(try await rig.message().message == bytes)
  }

  /// The reader knows the tag, and then nothing goes through.
  @Test(arguments: Place.allCases)
  func `a tag with which every exchange fails has one result`(place: Place) async throws {
    let rig = try await CardReaderRig.scanning(place.model)
    await rig.add(.silence(command: 3, times: nil))
    let id = try await rig.insert(try tag(place))
    let report = try await rig.tag()
    #expect(report.problem?.hasPrefix("damaged: reading failed: ") == true, "\(report)")
    try await rig.announcesNothing()
    let count = await rig.commands(id).count
    // Bounded, although the reader always fails.
    #expect(count < 20)
    await rig.readers.clearFaults(of: rig.slot)
    try await rig.announcesNothing()
    #expect(await rig.commands(id).count == count)
    try await rig.takeAway(id, report.placement)
  }
}

extension SimulatedCardReaders {
  /// Discards the pending faults on the air.
  func clearRadioFaults(of slot: CardSlotID) {
    guard var interface = slots[slot.number].interface as? ContactlessInterface else { return }
    interface.chip.radio.faults.clear()
    slots[slot.number].interface = interface
  }
}
