import Daemon
import EventLoop
import Glibc
import TestKit
import Testing

@testable import ReaderProtocol
@testable import ReaderSimulator

/// Sessions that lose their card, wait for other programs, or meet a card that does not answer.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardSessionTroubleTests {
  private static let application: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
  private static let get = "00CA010100"

  /// A session with a card that echoes, and its application.
  private func withApplication() async throws -> (rig: CardReaderRig, id: TagID, card: SessionTag) {
    let rig = try await CardReaderRig.inSession(
      .acr1252U, TagSessionOptions(number: 1, applicationIdentifiers: [Self.application]))
    let (id, card) = try await rig.finds(.applicationCard())
    return (rig, id, card)
  }

  // MARK: Removed cards

  @Test(arguments: [TagKind.type2, .type3, .type4A, .mifareClassic], [false, true])
  func `a card torn away at any command of a read is lost`(kind: TagKind, executed: Bool) async throws {
    let rig = try await CardReaderRig.inSession()
    let bytes = try uri("https://example.com/some/path")
    for command in 1...30 {
      let (id, tag) = try await rig.finds(try kind.make(bytes))
      await rig.add(.removal(command: command, executed: executed))
      let result = try await rig.perform(.read, tag)
      let isTorn = await rig.readers.strikes(in: rig.slot) > 0
      await rig.readers.clearFaults(of: rig.slot)
      await rig.remove(id)
      #expect(try await rig.sessionRemoval() == tag.placement.number)
      #expect(isTorn ? result.failure == .tagLost : result == .message(bytes), "command \(command): \(result)")
      #expect(try await rig.perform(.read, tag).failure == .tagLost)
      if !isTorn { break }
    }
  }

  /// The tag holds the old message, the new one or none. The fault is at every command in turn.
  @Test(arguments: [TagKind.type2, .type3, .type4A, .mifareClassic], [false, true])
  func `a card torn away during a write holds no other message`(kind: TagKind, executed: Bool) async throws {
    let rig = try await CardReaderRig.inSession()
    let (old, new) = (try uri("https://example.com/old/and/some/more"), try uri("https://example.com/new/and/others"))
    for command in 1...100 {
      let (id, tag) = try await rig.finds(try kind.make(old))
      await rig.add(.removal(command: command, executed: executed))
      let result = try await rig.perform(.write(new, verify: true), tag)
      let isTorn = await rig.readers.strikes(in: rig.slot) > 0
      await rig.readers.clearFaults(of: rig.slot)
      let card = try #require(await rig.remove(id))
      #expect(try await rig.sessionRemoval() == tag.placement.number)
      #expect(isTorn ? result.failure == .tagLost : result == .done, "command \(command): \(result)")
      let again = try await rig.insert(card)
      let back = try await rig.sessionTag()
      let content = try await rig.perform(.read, back)
      let isWhole = content == .message(old) || content == .message(new)
      let isMarked = content.failure == .empty || kind == .type3 && content.failure == .refused
      #expect(isWhole || isMarked, "command \(command): \(content)")
      if result == .done { #expect(content == .message(new)) }
      try await rig.takeAway(again, back)
      if !isTorn { break }
    }
  }

  @Test func `an unsteady hand ends the placement, and the card is found again`() async throws {
    let (rig, id, card) = try await withApplication()
    await rig.add(.flicker())
    #expect(try await rig.refusal(Self.get, card) == .tagLost)
    #expect(try await rig.sessionRemoval() == card.placement.number)
    let again = try await rig.sessionTag()
    #expect(again.placement.uid == card.placement.uid && again.placement.number != card.placement.number)
    #expect(try await rig.transceive(Self.get, again) == Self.application + [0x90, 0x00])
    #expect(await rig.readers.cards(in: rig.slot) == [id])
  }

  @Test(arguments: [false, true])
  func `the removal of a card is noticed between operations`(isUsed: Bool) async throws {
    let (rig, id, card) = try await withApplication()
    if isUsed { _ = try await rig.transceive(Self.get, card) }
    try await rig.takeAway(id, card)
    #expect(try await rig.refusal(Self.get, card) == .tagLost)
    #expect(try await rig.finds(.applicationCard()).tag.placement.number != card.placement.number)
  }

  // MARK: Lost exchanges

  @Test func `a lost exchange is a timeout, and the next one works`() async throws {
    let (rig, id, card) = try await withApplication()
    await rig.add(.silence())
    #expect(try await rig.refusal(Self.get, card) == .timeout)
    // The card has lost its state, so its application was selected again.
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    #expect(await rig.powerUps(id) == 2)
    #expect(rig.reported.count == 1)
  }

  @Test func `a card that answers too late is reset, and works again`() async throws {
    let (rig, id, card) = try await withApplication()
    await rig.add(.hold())
    #expect(try await rig.refusal(Self.get, card, timeout: 100) == .timeout)
    await rig.readers.release(rig.slot)
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    #expect(await rig.powerUps(id) > 1)
    #expect(rig.reported.count == 1)
    #expect(!rig.seen.contains { $0.isCrash })
    try await rig.takeAway(id, card)
  }

  @Test func `the process waits for a slow card until the timeout`() async throws {
    let (rig, id, card) = try await withApplication()
    await rig.add(.hold())
    await rig.ask(.transceive(try hex(Self.get), timeout: 5000), card)
    try await rig.isHolding()
    rig.timers.schedule(after: .milliseconds(1500)) { [readers = rig.readers, slot = rig.slot] in
      Task { await readers.release(slot) }
    }
    #expect(try await rig.result() == .answer(Self.application + [0x90, 0x00]))
    #expect(await rig.powerUps(id) == 1)
  }

  /// Whatever the reader says, the process stays in step with the daemon.
  @Test(arguments: [[], [0x90], [0x6F, 0x00], [0x63, 0x00], [0x61, 0x10], [0x6C, 0x05]] as [[UInt8]])
  func `an odd answer of the reader has a result`(bytes: [UInt8]) async throws {
    let (rig, _, card) = try await withApplication()
    await rig.add(.answer(bytes))
    _ = try await rig.perform(.transceive(try hex(Self.get), timeout: 5000), card)
    await rig.readers.clearFaults(of: rig.slot)
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    #expect(rig.reported.count == 1 && !rig.seen.contains { $0.isCrash })
  }

  @Test func `the longest answer reaches the client`() async throws {
    let (rig, _, card) = try await withApplication()
    let bytes = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 / 3) } + [0x90, 0x00]
    await rig.add(.answer(bytes))
    #expect(try await rig.transceive(Self.get, card) == bytes)
  }

  // MARK: Other programs

  /// Other programs wait for as long as a client works with the card, and not longer.
  @Test func `a card that is not used for a while is released`() async throws {
    let (rig, id, card) = try await withApplication()
    let client = try await rig.client()
    try await client.ask("connect shared \(rig.name)")
    try await client.ask("begin")
    let count = await rig.commands(id).count
    // The session goes on when the other program has ended its transaction.
    await rig.ask(.transceive(try hex(Self.get), timeout: 5000), card)
    let reason = try await rig.next("a wait") { if case .waiting(let reason) = $0 { reason } else { nil } }
    #expect(reason == "another program uses the card")
    #expect(await rig.commands(id).count == count)
    try await client.ask("end")
    #expect(try await rig.result() == .answer(Self.application + [0x90, 0x00]))
    #expect(rig.waits == [reason, ""])
    #expect(await rig.powerUps(id) == 1)
  }

  @Test func `an operation does not wait without end for another program`() async throws {
    let (rig, id, card) = try await withApplication()
    let client = try await rig.client()
    try await client.ask("connect shared \(rig.name)")
    try await client.ask("begin")
    let count = await rig.commands(id).count
    for _ in 1...2 { #expect(try await rig.refusal(Self.get, card) == .refused) }
    #expect(await rig.commands(id).count == count)
    try await client.ask("end")
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    #expect(rig.reported.count == 1)
  }

  @Test func `a card that another program has for itself refuses operations, until that ends`() async throws {
    let (rig, _, card) = try await withApplication()
    let client = try await rig.client()
    // The process is asleep while its other thread still disconnects.
    try await rig.isAsleep()
    try await rig.isFree(client)
    try await client.ask("connect exclusive \(rig.name)")
    #expect(try await rig.refusal(Self.get, card) == .refused)
    try await client.ask("disconnect leave")
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    #expect(rig.reported.count == 1)
  }

  @Test func `a reset by another program does not end the placement`() async throws {
    let (rig, id, card) = try await withApplication()
    let client = try await rig.client()
    try await rig.isAsleep()
    try await client.ask("connect shared \(rig.name)")
    try await client.ask("reconnect unpower")
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    // It waits while the client works with the card.
    let answer = try await client.send("reconnect unpower")
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    #expect(try await client.answer(after: answer).hasPrefix("ok"))
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    // More if the machine is slow: pcscd switches a card off that no program has used for five seconds.
    #expect(await rig.powerUps(id) >= 3)
    #expect(rig.reported.count == 1)
  }

  @Test func `a session finds a card that another program gives up in time`() async throws {
    let rig = try await CardReaderRig.inSession()
    let client = try await rig.client()
    try await rig.whileSuspended {
      try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com")))
      try await client.ask("await present \(rig.name)")
      try await client.ask("connect exclusive \(rig.name)")
    }
    let reason = try await rig.next("a wait") { if case .waiting(let reason) = $0 { reason } else { nil } }
    #expect(reason == "another program uses the card exclusively; end it, or take the card away")
    try await client.ask("disconnect leave")
    _ = try await rig.sessionTag()
  }

  // MARK: The end

  @Test func `the end of a session releases the card as it is`() async throws {
    let (rig, id, card) = try await withApplication()
    #expect(try await rig.transceive(Self.get, card) == Self.application + [0x90, 0x00])
    try await rig.end()
    try await rig.isFree(try await rig.client())
    #expect(await rig.powerUps(id) == 1)
    #expect(try await rig.refusal(Self.get, card) == .sessionEnded)
  }

  @Test func `a session can end in the middle of an operation`() async throws {
    let rig = try await CardReaderRig.inSession()
    let (id, tag) = try await rig.finds(try .type4(message: try uri("https://example.com")))
    let before = await rig.commands(id).count
    await rig.add(.hold(command: 3))
    await rig.ask(.read, tag)
    try await rig.isHolding()
    await rig.endSession(1)
    #expect(try await rig.result().failure == .sessionEnded)
    try await rig.expect(.sessionEnded(1))
    await rig.readers.release(rig.slot)
    try await rig.isFree(try await rig.client())
    #expect(await rig.commands(id).count == before + 3)
  }

  /// pcscd resets the card, because its transaction was open.
  @Test(arguments: [false, true])
  func `a killed process ends only its session`(isReading: Bool) async throws {
    let rig = try await CardReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let (_, tag) = try await rig.finds(try .type4(message: bytes))
    if isReading {
      await rig.add(.hold(command: 3))
      await rig.ask(.read, tag)
      try await rig.isHolding()
    }
    try await rig.killProcess()
    if isReading { #expect(try await rig.result().failure == .deviceLost) }
    let crash = try await rig.crash()
    #expect(crash.suspect == (isReading ? tag.placement : nil))
    await rig.readers.release(rig.slot)
    try await rig.isReady()
    try await rig.begin(TagSessionOptions(number: 2))
    let again = try await rig.sessionTag()
    #expect(try await rig.perform(.read, again, request: 2, session: 2) == .message(bytes))
    try await rig.end(2)
    try await rig.scan(true)
    try await rig.announcesNothing()
    #expect(rig.announced.isEmpty)
  }
}
