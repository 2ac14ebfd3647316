import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// Cards that lie on the reader, and cards that come and go.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RestingCardTests {
  /// pcscd takes the power of a card that nobody has used for five seconds. That is no removal.
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
    #expect(identifier != Hexadecimal.string(placement.uid) + "9000")
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
