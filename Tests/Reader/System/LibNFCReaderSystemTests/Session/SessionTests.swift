import Daemon
import Glibc
import Names
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests
@testable import ReaderProtocol

/// Reader sessions through the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionTests {
  // MARK: Tags

  @Test func `a tag is reported once with its properties and later its removal`() async throws {
    let rig = try await ReaderRig.inSession()
    let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: uri("https://example.com"), uid: .fixed(uid)))
    #expect(tag.placement.technology == .type2)
    #expect(tag.placement.uid == uid)
    #expect(tag.atqa == [0x00, 0x44])
    #expect(tag.sak == 0x00)
    #expect(tag.idm.isEmpty && tag.historicalBytes.isEmpty && tag.initialApplication == nil)
    try await rig.commands(60)
    try await rig.takeAway(id, tag)
    let reports = rig.seen.filter { if case .sessionTag = $0 { true } else { false } }
    #expect(reports.count == 1)
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com"), uid: .fixed(uid)))
    #expect(try await rig.sessionTag().placement.number > tag.placement.number)
    try await rig.end()
    #expect(await !rig.simulator.isFieldOn)
    try await rig.isAsleep()
  }

  @Test func `each kind of tag is reported with its properties`() async throws {
    let rig = try await ReaderRig.inSession()
    func place(_ tag: SimulatedTag) async throws -> SessionTag {
      await rig.simulator.removeAll()
      await rig.simulator.place(tag)
      return try await rig.sessionTag()
    }
    var options = Type4Options()
    options.ats = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
    let card = try await place(.type4(message: uri("https://example.com"), options: options))
    #expect(card.placement.technology == .type4A)
    #expect(card.historicalBytes == [0x80])
    #expect(card.sak == 0x20)
    let typeB = try await place(.type4B(message: uri("https://example.com")))
    #expect(typeB.placement.technology == .type4B)
    #expect(typeB.applicationData.count == 4 && typeB.protocolInfo.count >= 3 && typeB.sak == nil)
    let felica = try await place(.type3(message: uri("https://example.com"), idm: [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(felica.idm == [1, 2, 3, 4, 5, 6, 7, 8] && felica.pmm.count == 8 && felica.systemCode == 0x88B4)
    let topaz = try await place(.type1(.topaz96, message: uri("https://example.com")))
    #expect(topaz.placement.technology == .type1 && topaz.atqa == [0x0C, 0x00])
    let classic = try await place(.mifareClassic(.classic1K, message: uri("https://example.com")))
    #expect(classic.placement.technology == .mifareClassic && classic.sak == 0x08)
  }

  @Test func `only tags of the requested kinds are reported`() async throws {
    let rig = try await ReaderRig.inSession(TagSessionOptions(number: 1, technologies: [.type3]))
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    try await rig.commands(60)
    await rig.simulator.removeAll()
    await rig.simulator.place(try .type3(message: uri("https://example.com")))
    #expect(try await rig.sessionTag().placement.technology == .type3)
  }

  @Test func `several tags are reported and each is read by its placement number`() async throws {
    let rig = try await ReaderRig.inSession()
    let messages = try [uri("https://example.com/1"), uri("https://example.com/2"), uri("https://example.com/3")]
    await rig.simulator.place(try .type2(.ntag213, message: messages[0], uid: .fixed([4, 1, 2, 3, 4, 5, 1])))
    await rig.simulator.place(try .type2(.ntag213, message: messages[1], uid: .fixed([4, 1, 2, 3, 4, 5, 2])))
    await rig.simulator.place(try .type3(message: messages[2], idm: [1, 2, 3, 4, 5, 6, 7, 3]))
    var tags: [SessionTag] = []
    while tags.count < 3 { tags.append(try await rig.sessionTag()) }
    for round in 1...3 {
      for tag in tags {
        let expected = messages[Int(tag.placement.uid.last ?? 0) - 1]
        #expect(try await rig.perform(.read, tag) == .message(expected), "round \(round)")
      }
    }
  }

  @Test func `a restart of polling is reported after the removal of all tags and before they are found again`()
    async throws
  {
    let rig = try await ReaderRig()
    try await rig.isReady()
    for number in 1...2 as ClosedRange<UInt8> {
      let uid: [UInt8] = [4, 1, 2, 3, 4, 5, number]
      await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com"), uid: .fixed(uid)))
    }
    try await rig.begin(TagSessionOptions(number: 1))
    let tags = try await rig.round()
    let start = rig.seen.count
    await rig.process.restartPolling(TagSessionOptions(number: 1))
    let again = try await rig.round()
    let events = rig.seen[start...].compactMap { event -> String? in
      switch event {
      case .sessionTagRemoved: "removed"
      case .sessionPollingRestarted(1): "restarted"
      case .sessionTag: "found"
      default: nil
      }
    }
    #expect(events == ["removed", "removed", "restarted", "found", "found"])
    // A resting tag is a new placement.
    #expect(tags.count == 2 && Set(tags.map(\.placement.uid)) == Set(again.map(\.placement.uid)))
    #expect(Set(tags.map(\.placement.number)).isDisjoint(with: again.map(\.placement.number)))
    let (old, new) = (try #require(tags.first), try #require(again.first))
    #expect(try await rig.perform(.query, old).failure == .tagLost)
    #expect(try await rig.perform(.query, new).failure == nil)
  }

  @Test func `a restart of polling limits what is found until the next restart`() async throws {
    let name: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
    let all = TagSessionOptions(
      number: 1, technologies: [.type2, .type4A], applicationIdentifiers: [[0xF0, 1, 2, 3, 4], name])
    let rig = try await ReaderRig.inSession(all)
    await rig.simulator.place(.applicationCard())
    #expect(try await rig.sessionTag().initialApplication == 1)
    // The index of the application is that of the session's first options.
    await rig.process.restartPolling(
      TagSessionOptions(number: 1, technologies: [.type4A], applicationIdentifiers: [name]))
    let second = try await rig.sessionTag()
    #expect(second.initialApplication == 1)
    #expect(try await rig.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], second) == name + [0x90, 0x00])
    await rig.process.restartPolling(TagSessionOptions(number: 1, technologies: [.type2]))
    #expect(try await rig.sessionRemoval() == second.placement.number)
    try await rig.commands(60)
    await rig.process.restartPolling(all)
    // No placement came in between.
    let third = try await rig.sessionTag()
    #expect(third.initialApplication == 1)
    #expect(third.placement.number == second.placement.number + 1)
  }

  // MARK: Applications and systems

  @Test func `the first requested application that the card has is selected`() async throws {
    let ndef: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    let options = TagSessionOptions(
      number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4], ndef, [0xF0, 1, 2, 3, 5]])
    let rig = try await ReaderRig.inSession(options)
    let tag = try await rig.finds(try .type4(message: uri("https://example.com"))).tag
    #expect(tag.initialApplication == 1)
    // The application is selected, so its capability container can be selected.
    #expect(try await rig.transceive([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03], tag) == [0x90, 0x00])
    // After NDEF was read, the application is still selected.
    #expect(try await rig.perform(.read, tag) == .message(uri("https://example.com")))
    #expect(try await rig.transceive([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03], tag) == [0x90, 0x00])
  }

  /// A look for other tags selects the card again. That resets its application.
  @Test func `the application is selected again whenever the card is`() async throws {
    let name: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
    let rig = try await ReaderRig.inSession(TagSessionOptions(number: 1, applicationIdentifiers: [name]))
    let card = try await rig.finds(.applicationCard()).tag
    let seen = await rig.simulator.commands.count
    for _ in 1...2 { try await looksForOthers(rig, after: seen) }
    #expect(try await rig.transceive([0x00, 0xCA, 0x01, 0x01, 0x00], card) == name + [0x90, 0x00])
  }

  /// A card in the middle of a command sequence keeps its state. Other tags are not reported until it is removed.
  @Test func `no other tag is looked for while the client uses a card`() async throws {
    let rig = try await ReaderRig.inSession()
    let (id, card) = try await rig.finds(try .desfire(message: uri("https://example.com/1")))
    #expect(try await rig.transceive([0x60], card).first == 0xAF)
    await rig.simulator.place(try .type3(message: uri("https://example.com/2")))
    let before = await rig.simulator.commands.count
    try await rig.commands(20)
    let looks = await rig.simulator.commands.dropFirst(before).filter { $0.command.first == 0x4A }
    #expect(looks.isEmpty, "\(looks.map(\.description))")
    #expect(try await rig.transceive([0xAF], card).first == 0xAF)
    try await rig.takeAway(id, card)
    let other = try await rig.sessionTag()
    #expect(try await rig.perform(.read, other) == .message(uri("https://example.com/2")))
  }

  private func looksForOthers(_ rig: ReaderRig, after count: Int) async throws {
    let before = max(count, await rig.simulator.commands.count)
    try await rig.simulator.wait { simulator in
      simulator.commands.dropFirst(before).contains { $0.command.starts(with: [0x4A, 0x01, 0x03]) }
    }
    try await rig.commands(5)
  }

  @Test func `a card without a requested application is neither reported nor announced later`() async throws {
    let rig = try await ReaderRig.inSession(
      TagSessionOptions(number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4]]))
    await rig.simulator.place(try .type4(message: uri("https://example.com")))
    try await rig.commands(60)
    // Tags of other kinds have no applications and are reported.
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    #expect(try await rig.sessionTag().placement.technology == .type2)
    try await rig.end()
    #expect(try await rig.announcements().isEmpty)
  }

  @Test func `a card without a requested application is reported if undeclared cards are wanted`() async throws {
    let name: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
    let rig = try await ReaderRig.inSession(
      TagSessionOptions(
        number: 1, applicationIdentifiers: [[0xF0, 1, 2, 3, 4], name], reportsUndeclaredCards: true))
    let (id, card) = try await rig.finds(try .desfire(message: uri("https://example.com")))
    #expect(card.placement.technology == .type4A && card.initialApplication == nil)
    // GetVersion, a native command.
    #expect(try await rig.transceive([0x60], card).first == 0xAF)
    try await rig.takeAway(id, card)
    await rig.simulator.place(.applicationCard())
    #expect(try await rig.sessionTag().initialApplication == 1)
  }

  /// The list is tried only while a card answers to the poll for any system.
  @Test func `a FeliCa card is found by the declared systems alone`() async throws {
    let rig = try await ReaderRig.inSession(
      TagSessionOptions(number: 1, systemCodes: (1...63).map { 0x8000 + $0 } + [0x0003]))
    try await rig.commands(60)
    let before = await rig.simulator.commands.map(\.command).filter { $0.count == 8 && $0.first == 0x4A }
    #expect(before.allSatisfy { $0[4] == 0xFF && $0[5] == 0xFF })
    await rig.simulator.place(try .type3(message: uri("https://example.com")))
    try await rig.commands(60)
    let polls = await rig.simulator.commands.map(\.command).filter { $0.count == 8 && $0.first == 0x4A }
    #expect(polls.contains([0x4A, 0x01, 0x01, 0x00, 0x80, 0x08, 0x01, 0x00]))
    await rig.simulator.removeAll()
    let tag = try await rig.finds(try .transitCard(idm: [1, 2, 3, 4, 5, 6, 7, 8])).tag
    #expect(tag.systemCode == 0x0003)
    #expect(tag.idm == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(rig.reported.count == 1)
  }

  // MARK: The background scan

  @Test(arguments: [false, true])
  func `a resting tag is reported to the session and not announced again`(isRandom: Bool) async throws {
    let rig = try await ReaderRig.scanning()
    let bytes = try uri("https://example.com")
    let id = await rig.simulator.place(
      try isRandom ? .type4(message: bytes, uid: .random) : .type2(.ntag213, message: bytes))
    let first = try await rig.message().placement
    try await rig.begin(TagSessionOptions(number: 1))
    let tag = try await rig.sessionTag()
    #expect(tag.placement.number != first.number)
    // The new content from the session is no reason to announce the tag.
    #expect(try await rig.perform(.write(uri("https://example.com/new"), verify: true), tag) == .done)
    await rig.endSession(1)
    try await rig.expect(.scanning(true))
    try await rig.commands(60)
    let before = rig.seen.count
    await rig.simulator.remove(id)
    try await rig.simulator.wait { $0.tags.isEmpty }
    try await rig.commands(60)
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/2")))
    #expect(try await rig.message().message == uri("https://example.com/2"))
    #expect(rig.seen[before...].filter { if case .tag = $0 { true } else { false } }.count == 1)
  }

  @Test(arguments: [false, true])
  func `a tag of the session is announced only after it was removed`(isRandom: Bool) async throws {
    let rig = try await ReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let id = await rig.simulator.place(
      try isRandom ? .type4(message: bytes, uid: .random) : .type2(.ntag213, message: bytes))
    _ = try await rig.sessionTag()
    try await rig.end()
    try await rig.scan(true)
    try await rig.commands(60)
    #expect(!rig.seen.contains { if case .tag = $0 { true } else { false } })
    let tag = try #require(await rig.simulator.remove(id))
    try await rig.commands(60)
    await rig.simulator.place(tag)
    #expect(try await rig.message().message == bytes)
  }
}

/// Rounds of tags in a session, through the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionRoundTests {
  private static let uids: [[UInt8]] = [[4, 1, 2, 3, 4, 5, 1], [4, 1, 2, 3, 4, 5, 2]]

  private func place(_ uid: [UInt8], _ rig: ReaderRig) async throws {
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com"), uid: .fixed(uid)))
  }

  @Test func `tags that lie there together are reported in one round`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    for uid in Self.uids { try await place(uid, rig) }
    let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    await rig.simulator.place(try .type3(message: uri("https://example.com"), idm: idm))
    try await rig.begin(TagSessionOptions(number: 1))
    let found = try await rig.round().map(\.placement.uid)
    #expect(found.count == 3 && Set(found) == Set(Self.uids + [idm]))
    // Each tag that comes later has its own round.
    let card = await rig.simulator.place(try .type4B(message: uri("https://example.com")))
    #expect(try await rig.round().map(\.placement.technology) == [.type4B])
    await rig.simulator.remove(card)
    _ = try await rig.sessionRemoval()
    await rig.process.restartPolling(TagSessionOptions(number: 1))
    #expect(try await rig.round().count == 3)
  }

  /// A session for one technology looks for it twice: for one tag, then for two.
  @Test(arguments: [1, 2]) func `a round of one technology has all of its tags`(count: Int) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    for uid in Self.uids.prefix(count) { try await place(uid, rig) }
    try await rig.begin(TagSessionOptions(number: 1, technologies: [.type2]))
    #expect(try await rig.round().count == count)
  }

  /// Two tags of Type A, with and without ISO/IEC 14443-4. One may need a search for its application. They lie
  /// there before the session, or come together.
  @Test(arguments: ["22", "24", "42", "44", "2a", "a2", "4a", "aa"], [false, true])
  func `two tags of Type A are one round`(kinds: String, isLater: Bool) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    // They differ in the first cascade level, where two kinds of tags give different answers to select.
    let uids: [[UInt8]] = [[4, 1, 1, 1, 1, 1, 1], [4, 2, 2, 2, 2, 2, 2]]
    let bytes = try uri("https://example.com")
    let tags = try zip(kinds, uids).map { kind, uid in
      switch kind {
      case "2": try SimulatedTag.type2(.ntag213, message: bytes, uid: .fixed(uid))
      case "4": try SimulatedTag.type4(message: bytes, uid: .fixed(uid))
      default: try SimulatedTag.applicationCard(uid: .fixed(uid))
      }
    }
    let options = TagSessionOptions(
      number: 1, technologies: [.type2, .type4A],
      applicationIdentifiers: [[0xA0, 0, 0, 9, 9], [0xF0] + Array("TAGROUTE".utf8)], reportsUndeclaredCards: true)
    if isLater { try await rig.begin(options) }
    await rig.simulator.place(tags)
    if !isLater { try await rig.begin(options) }
    #expect(try await rig.round().map(\.placement.uid).sorted { $0.last ?? 0 < $1.last ?? 0 } == uids)
  }

  @Test func `a round ends after a call that came first`() async throws {
    let rig = try await ReaderRig.inSession()
    try await place(Self.uids[0], rig)
    let tag = try await rig.sessionTag()
    #expect(try await rig.perform(.query, tag).failure == nil)
    if !rig.seen.contains(where: { if case .sessionRoundEnded = $0 { true } else { false } }) {
      #expect(try await rig.round().isEmpty)
    }
  }
}
