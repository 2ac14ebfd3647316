import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

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
