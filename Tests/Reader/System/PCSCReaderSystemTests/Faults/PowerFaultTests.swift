import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

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
