import CShims
import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// Cards that lie on the reader, and cards that come and go.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RestingCardTests {
  /// pcscd takes the power of a card that no program has used for five seconds. That is no removal.
  @Test(arguments: [TagKind.type2, .type4A, .type5])
  func `a resting tag gets no command and no power, and its removal is reported`(kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning(.acr1552U)
    let id = try await rig.insert(try kind.make(try uri("https://example.com/")))
    let placement = try await rig.message().placement
    // The end of a transparent session may follow the announcement.
    try await rig.isFree(try await rig.client())
    let commands = await rig.commands(id)
    let slot = rig.slot
    try await rig.wait(for: "a card without power") { $0.exchanges(in: slot).last?.kind == .powerDown }
    try await rig.announcesNothing()
    #expect(await rig.commands(id) == commands)
    #expect(await rig.powerUps(id) == 1)
    try await rig.takeAway(id, placement)
  }

  @Test func `a reader that reports changes all the time has each card announced once`() async throws {
    let rig = try await CardReaderRig.scanning(.acr122U)
    await rig.readers.makeRestless(rig.slot)
    try await rig.announcesNothing()
    #expect(rig.announced.isEmpty)
    let (id, placement) = try await rig.announces("https://example.com/")
    try await rig.announcesNothing()
    try await rig.takeAway(id, placement)
  }

  /// The card's power is cut meanwhile, so it has another identifier.
  @Test(arguments: [false, true])
  func `a card with a random identifier is announced once`(isTypeB: Bool) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/")
    let id = try await rig.insert(
      try isTypeB ? .type4B(message: bytes, pupi: .random) : .type4(message: bytes, uid: .random))
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    let client = try await rig.client()
    try await client.ask("connect shared \(rig.name)")
    try await client.ask("reconnect unpower")
    let identifier = try await client.transmit("ffca000000")
    #expect(identifier != HexText.string(placement.uid) + "9000")
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
    // Another look at the same card, by a goal that is new.
    try await rig.scan(false)
    try await rig.scan(true)
    try await rig.announcesNothing()
    try await rig.takeAway(id, placement)
    try await rig.announces("https://example.com/next")
  }

  /// A card that was away between two looks of the process shows only in pcscd's counter.
  @Test func `a card that is back before the process looks is another placement`() async throws {
    let rig = try await CardReaderRig.scanning()
    let (id, placement) = try await rig.announces("https://example.com/")
    let bytes = try uri("https://example.com/")
    let client = try await rig.client()
    try await rig.whileSuspended {
      let card = try #require(await rig.remove(id))
      try await client.ask("await absent \(rig.name)")
      try await rig.insert(card)
      try await client.ask("await present \(rig.name)")
    }
    #expect(try await rig.removal() == placement.number)
    let (message, again) = try await rig.message()
    #expect(message == bytes && again.number != placement.number)
    try await rig.announcesNothing()
  }

  /// Some readers report a card as another one after they have taken its power. The process takes the power of this card
  /// itself, because it was silent, so it expects such a report. Another card must not be mistaken for it.
  @Test(arguments: [TagKind.type2, .type4A])
  func `another tag soon after a repeated reading is announced`(kind: TagKind) async throws {
    let rig = try await CardReaderRig.scanning()
    let id = try await rig.insert(try .mifareClassicBlank(.classic1K))
    let first = try await rig.tag()
    #expect(first.problem?.hasPrefix("not NDEF: ") == true, "\(first)")
    #expect(await rig.powerUps(id) > 1)
    await rig.remove(id)
    let bytes = try uri("https://example.com/next")
    try await rig.insert(try kind.make(bytes))
    #expect(try await rig.message().message == bytes)
    #expect(rig.seen.contains(.removed(placement: first.placement.number)))
  }
}

/// A process that waits is not woken, so it uses no processor time.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardIdleTests {
  /// Most attempts to see a time without a wake-up. pcscd itself may wake its clients once or twice after a card was
  /// used. A timer of the process would wake it in each attempt.
  private static let attempts = 3

  @Test(.enabled(if: tagroute_is_sanitized() == 0, "a sanitizer wakes the process"), arguments: [false, true])
  func `a process that scans is not woken while nothing happens on its reader`(hasTag: Bool) async throws {
    let starter = "`a process that scans is not woken while nothing happens on its reader`_\(hasTag)"
    let rig = try await CardReaderRig.scanning(.acr1552U, starter: starter)
    // Has its own pcscd.
    let other = try await CardReaderRig.scanning(.acr1552U, starter: starter + "_other")
    if hasTag {
      try await rig.announces("https://example.com/resting")
      try await losesPower(rig)
    }
    try await rig.isAsleep()
    let process = try ForeignProcess(try #require(await rig.process.processID))
    var wakeUps: [[Int32: Int]] = [try process.wakeUps()]
    for attempt in 1...Self.attempts {
      try await use(other, attempt)
      wakeUps.append(try process.wakeUps())
      if wakeUps[attempt] == wakeUps[attempt - 1] { break }
    }
    let isQuiet = wakeUps.suffix(2).first == wakeUps.last
    // The main thread, and one each for the events and the calls.
    #expect(isQuiet && wakeUps[0].count >= 3, "\(wakeUps)")
    try await rig.announcesNothing()
  }

  /// Uses another reader. pcscd takes the power of a card that no program has used for five seconds, so this takes as
  /// long on any machine.
  private func use(_ rig: CardReaderRig, _ number: Int) async throws {
    let (id, placement) = try await rig.announces("https://example.com/\(number)")
    try await losesPower(rig)
    try await rig.takeAway(id, placement)
  }

  private func losesPower(_ rig: CardReaderRig) async throws {
    let slot = rig.slot
    try await rig.wait(for: "a card without power") { $0.exchanges(in: slot).last?.kind == .powerDown }
  }
}

/// Tags that the daemon knows. They are not announced.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct KnownCardTests {
  // MARK: Another process

  /// The daemon passes a fingerprint of each known tag on. `isReset`: the card gets another identifier if it is random.
  @Test(arguments: [false, true], [false, true])
  func `the next process recognizes a resting tag`(isRandom: Bool, isReset: Bool) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/")
    let id = try await rig.insert(
      try isRandom ? .type4(message: bytes, uid: .random) : .type2(.ntag213, message: bytes))
    let placement = try await rig.message().placement
    let client = try await rig.client()
    try await rig.isFree(client)
    let child = await rig.process.processID
    if isReset {
      try await client.ask("connect shared \(rig.name)")
      try await client.ask("reconnect unpower")
      try await client.ask("disconnect leave")
    }
    try await rig.killProcess()
    try await rig.expect(.crashed)
    try await rig.notices("a tag that was there before")
    #expect(await rig.process.processID != child)
    try await rig.announcesNothing()
    try await rig.takeAway(id, placement)
    try await rig.announces("https://example.com/next")
  }

  @Test func `the next process recognizes a card without power`() async throws {
    let rig = try await CardReaderRig.scanning()
    await rig.add(.mute(times: nil))
    let id = try await rig.insert(try .type2(.ntag213, message: []))
    let placement = try await rig.tag().placement
    try await rig.killProcess()
    try await rig.expect(.crashed)
    try await rig.notices("a tag that was there before")
    try await rig.announcesNothing()
    #expect(rig.announced.count == 1)
    await rig.readers.clearFaults(of: rig.slot)
    try await rig.takeAway(id, placement)
    try await rig.announces("https://example.com/next")
  }

  // MARK: The first tag is known

  enum Use: CaseIterable { case session, loan }

  /// The daemon cannot know which tags lie there after a session or a loan (`KnownTags.includesFirst`).
  @Test(arguments: Use.allCases, [false, true])
  func `a tag that came during a session or a loan is silent`(use: Use, isKilled: Bool) async throws {
    let rig = try await CardReaderRig.asleep()
    let tag = try SimulatedTag.type2(.ntag213, message: try uri("https://example.com/"))
    let id: TagID
    switch use {
    case .session:
      try await rig.begin()
      id = try await rig.finds(tag).id
    case .loan:
      await rig.lend(true)
      try await rig.expect(.lent(true))
      id = try await rig.awaken { try await rig.insert(tag) }
      #expect(await rig.commands(id).isEmpty)
    }
    if isKilled {
      try await rig.killProcess()
      try await rig.expect(.crashed)
    }
    switch use {
    case .session: await rig.endSession(1)
    case .loan: await rig.lend(false)
    }
    try await rig.scan(true)
    try await rig.announcesNothing()
    await rig.remove(id)
    _ = try await rig.removal()
    try await rig.announces("https://example.com/next")
    #expect(rig.announced.count == 1)
  }
}
