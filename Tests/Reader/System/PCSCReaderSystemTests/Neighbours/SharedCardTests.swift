import Daemon
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
