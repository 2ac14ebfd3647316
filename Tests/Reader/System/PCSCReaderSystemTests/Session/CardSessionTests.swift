import Daemon
import Names
import TestKit
import Testing

@testable import ReaderProtocol
@testable import ReaderSimulator

/// Reader sessions: which cards they report, and with which data.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardSessionTests {
  private static let application: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
  private static let ndef: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

  // MARK: Reports

  @Test func `a tag is reported once, and later its removal`() async throws {
    let rig = try await CardReaderRig.inSession()
    let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: try uri("https://example.com"), uid: .fixed(uid)))
    #expect(tag.placement.technology == .type2 && tag.placement.uid == uid)
    try await rig.next("the end of a round") { if case .sessionRoundEnded(1) = $0 { true } else { nil } }
    try await rig.takeAway(id, tag)
    let (_, again) = try await rig.finds(
      try .type2(.ntag213, message: try uri("https://example.com"), uid: .fixed(uid)))
    #expect(again.placement.number > tag.placement.number)
    try await rig.end()
    #expect(rig.reported.count == 2)
    try await rig.isAsleep()
  }

  /// A reader of pcscd tells neither SAK nor ATQA nor the whole answer to select.
  @Test func `each kind of card is reported with its data`() async throws {
    let rig = try await CardReaderRig.inSession()
    let bytes = try uri("https://example.com")
    func report(_ tag: SimulatedTag) async throws -> SessionTag {
      let (id, found) = try await rig.finds(tag)
      try await rig.takeAway(id, found)
      return found
    }
    let plain = try await report(.type2(.ntag213, message: bytes))
    #expect(plain.atqa.isEmpty && plain.sak == nil && plain.historicalBytes.isEmpty)
    var options = Type4Options()
    options.ats = [0x08, 0x75, 0x77, 0x81, 0x02, 0x80, 0x41, 0x42]
    let card = try await report(.type4(message: bytes, options: options))
    #expect(card.placement.technology == .type4A && card.historicalBytes == [0x80, 0x41, 0x42] && card.sak == nil)
    let typeB = try await report(.type4B(message: bytes))
    #expect(typeB.placement.technology == .type4B && typeB.placement.uid.count == 4)
    #expect(typeB.applicationData == [0, 0, 0, 0] && typeB.protocolInfo == [0x00, 0x51, 0x80])
    let felica = try await report(.type3(message: bytes, idm: [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(felica.idm == [1, 2, 3, 4, 5, 6, 7, 8] && felica.pmm.count == 8 && felica.systemCode == 0x12FC)
    let classic = try await report(.mifareClassic(.classic1K, message: bytes))
    #expect(classic.placement.technology == .mifareClassic && classic.sak == 0x08)
    let large = try await report(.mifareClassic(.classic4K, message: bytes))
    #expect(large.sak == 0x18)
  }

  @Test func `Type 1 and Type 5 tags are reported with their data`() async throws {
    let first = try await CardReaderRig.inSession(.acr122U)
    let topaz = try await first.finds(try .type1(.topaz96, message: try uri("https://example.com"))).tag
    #expect(topaz.placement.technology == .type1 && topaz.atqa == [0x0C, 0x00] && topaz.placement.uid.count == 4)
    for model in [CardReaderModel.acr1552U, .omnikey5427] {
      let rig = try await CardReaderRig.inSession(model)
      let uid: [UInt8] = [0xE0, 0x04, 0x01, 0x50, 0x11, 0x22, 0x33, 0x44]
      let tag = try await rig.finds(try .type5(.slix2, message: try uri("https://example.com"), uid: uid)).tag
      #expect(tag.placement.technology == .type5 && tag.placement.uid == uid)
    }
  }

  @Test func `only cards of the requested kinds are reported`() async throws {
    let rig = try await CardReaderRig.inSession(.acr1252U, TagSessionOptions(number: 1, technologies: [.type3]))
    let id = try await rig.awaken {
      try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com")))
    }
    // Other programs can use a card that is not reported.
    try await rig.isFree(try await rig.client())
    await rig.remove(id)
    #expect(try await rig.finds(try .type3(message: try uri("https://example.com"))).tag.placement.technology == .type3)
    #expect(rig.reported.count == 1)
  }

  // MARK: Restart

  @Test func `a restart of polling reports a resting card as a new placement, without its state`() async throws {
    let options = TagSessionOptions(number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4], Self.application])
    let rig = try await CardReaderRig.inSession(.acr1252U, options)
    let (id, tag) = try await rig.finds(.applicationCard())
    #expect(await rig.powerUps(id) == 1)
    let start = rig.seen.count
    await rig.process.restartPolling(
      TagSessionOptions(number: 1, technologies: [.type4A], applicationIdentifiers: [Self.application]))
    let again = try await rig.sessionTag()
    let events = rig.seen[start...].compactMap { event -> String? in
      switch event {
      case .sessionTagRemoved(1, tag.placement.number): "removed"
      case .sessionPollingRestarted(1): "restarted"
      case .sessionTag: "found"
      default: nil
      }
    }
    #expect(events == ["removed", "restarted", "found"])
    #expect(again.placement.number != tag.placement.number && again.placement.uid == tag.placement.uid)
    // The index is that of the first options.
    #expect(again.initialApplication == 1)
    #expect(await rig.powerUps(id) == 2)
    #expect(try await rig.perform(.query, tag).failure == .tagLost)
    #expect(try await rig.transceive("00CA010100", again) == Self.application + [0x90, 0x00])
  }

  @Test func `a restart of polling limits what is found until the next one`() async throws {
    let all = TagSessionOptions(number: 1, technologies: [.type2, .type4A])
    let rig = try await CardReaderRig.inSession(.acr1252U, all)
    let (_, first) = try await rig.finds(try .type4(message: try uri("https://example.com")))
    await rig.process.restartPolling(TagSessionOptions(number: 1, technologies: [.type2]))
    #expect(try await rig.sessionRemoval() == first.placement.number)
    try await rig.next("a restart") { if case .sessionPollingRestarted(1) = $0 { true } else { nil } }
    try await rig.isAsleep()
    await rig.process.restartPolling(all)
    // No placement came in between.
    #expect(try await rig.sessionTag().placement.number == first.placement.number + 1)
  }

  // MARK: Applications and systems

  @Test func `the first requested application that the card has is selected, and again after each use`() async throws {
    let options = TagSessionOptions(
      number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4], Self.ndef, [0xF0, 1, 2, 3, 5]])
    let rig = try await CardReaderRig.inSession(.acr1252U, options)
    let (id, tag) = try await rig.finds(try .type4(message: try uri("https://example.com")))
    #expect(tag.initialApplication == 1)
    let selects = await rig.commands(id).filter { $0.starts(with: [0x00, 0xA4, 0x04]) }
    #expect(selects == [try hex("00A4040005F00102030400"), try hex("00A4040007D276000085010100")])
    // The application is selected, so its capability container can be selected.
    #expect(try await rig.transceive("00A4000C02E103", tag) == [0x90, 0x00])
    #expect(try await rig.perform(.read, tag) == .message(try uri("https://example.com")))
    #expect(try await rig.transceive("00A4000C02E103", tag) == [0x90, 0x00])
  }

  @Test func `a card without a requested application is neither reported nor announced later`() async throws {
    let rig = try await CardReaderRig.inSession(
      .acr1252U, TagSessionOptions(number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4]]))
    let id = try await rig.awaken { try await rig.insert(try .type4(message: try uri("https://example.com"))) }
    try await rig.isFree(try await rig.client())
    try await rig.end()
    try await rig.scan(true)
    try await rig.announcesNothing()
    #expect(rig.reported.isEmpty && rig.announced.isEmpty)
    await rig.remove(id)
    _ = try await rig.removal()
    try await rig.announces("https://example.com/next")
  }

  @Test func `a card without a requested application is reported if undeclared cards are wanted`() async throws {
    let options = TagSessionOptions(
      number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4], Self.application], reportsUndeclaredCards: true)
    let rig = try await CardReaderRig.inSession(.acr1252U, options)
    let (id, card) = try await rig.finds(try .desfire(message: try uri("https://example.com")))
    #expect(card.placement.technology == .type4A && card.initialApplication == nil)
    // The refused SELECTs have left no trace.
    #expect(try await rig.transceive("9060000000", card).suffix(2) == [0x91, 0xAF])
    try await rig.takeAway(id, card)
    #expect(try await rig.finds(.applicationCard()).tag.initialApplication == 1)
  }

  @Test(arguments: [CardReaderModel.acr1252U, .acr122U, .rcS300])
  func `a FeliCa card is polled for the declared systems`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.inSession(
      model, TagSessionOptions(number: 1, systemCodes: [0x8008, 0x0003]))
    let other = try await rig.awaken { try await rig.insert(try .type3(message: try uri("https://example.com"))) }
    #expect(rig.reported.isEmpty)
    await rig.remove(other)
    let (_, tag) = try await rig.finds(try .transitCard(idm: [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(tag.systemCode == 0x0003 && tag.idm == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(rig.reported.count == 1)
  }

  // MARK: The background scan

  @Test(arguments: [false, true])
  func `a resting tag is reported to the session and not announced again`(isRandom: Bool) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com")
    let id = try await rig.insert(
      try isRandom ? .type4(message: bytes, uid: .random) : .type2(.ntag213, message: bytes))
    let first = try await rig.message().placement
    try await rig.begin(TagSessionOptions(number: 1))
    let tag = try await rig.sessionTag()
    #expect(tag.placement.number != first.number)
    // The new content from the session is no reason to announce the tag.
    #expect(try await rig.perform(.write(try uri("https://example.com/new"), verify: true), tag) == .done)
    await rig.endSession(1)
    try await rig.expect(.scanning(true))
    try await rig.announcesNothing()
    await rig.remove(id)
    _ = try await rig.removal()
    try await rig.announces("https://example.com/2")
    #expect(rig.announced.count == 2)
  }
}
