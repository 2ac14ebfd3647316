import Daemon
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// The goal changes in the middle of a reading. No command follows.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ChangedGoalTests {
  /// Inserts a card, and waits until the answer to one of its commands is held back.
  @discardableResult private func reading(
    _ rig: CardReaderRig, _ kind: TagKind, upTo command: Int
  ) async throws -> TagID {
    await rig.add(.hold(command: command))
    let id = try await rig.insert(try kind.make(try uri("https://example.com/")))
    try await rig.isHolding()
    return id
  }

  /// Each command of the reading in turn.
  @Test(arguments: [(TagKind.type2, 3), (.type4A, 6), (.mifareClassic, 9)])
  func `no command follows after scanning was stopped`(kind: TagKind, commands: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    for command in 1...commands {
      let id = try await reading(rig, kind, upTo: command)
      // The process does not wait for the reader.
      try await rig.scan(false)
      await rig.readers.release(rig.slot)
      try await rig.isFree(client)
      #expect(await rig.commands(id).count == command)
      #expect(await rig.powerUps(id) == 1)
      // Another user may be at the machine now.
      try await rig.scan(true)
      try await rig.announcesNothing()
      await rig.remove(id)
      _ = try await rig.removal()
    }
    #expect(rig.announced.isEmpty)
    try await rig.announces("https://example.com/next")
  }

  @Test func `no command follows if the card is no longer of a wanted kind`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let id = try await reading(rig, .type2, upTo: 2)
    await rig.configure { $0.technologies = [.type3] }
    try await rig.expect(.scanning(true))
    await rig.readers.release(rig.slot)
    try await rig.isFree(client)
    try await rig.announcesNothing()
    #expect(await rig.commands(id).count == 2)
  }

  /// The card was not announced, so it is still to be read.
  @Test func `a new goal for the same kinds reads the card from the beginning`() async throws {
    let rig = try await CardReaderRig.scanning()
    try await reading(rig, .type2, upTo: 2)
    await rig.configure { $0.interval += .milliseconds(1) }
    try await rig.expect(.scanning(true))
    await rig.readers.release(rig.slot)
    #expect(try await rig.message().message == uri("https://example.com/"))
    try await rig.announcesNothing()
  }

  @Test func `a loan begins when the card is released`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let id = try await reading(rig, .type4A, upTo: 3)
    await rig.lend(true)
    await rig.readers.release(rig.slot)
    try await rig.expect(.lent(true))
    // The program that has the reader now can use the card at once.
    try await client.ask("connect exclusive \(rig.name)")
    #expect(await rig.commands(id).count == 3)
    try await client.ask("disconnect leave")
    await rig.lend(false)
    try await rig.expect(.scanning(true))
    try await rig.announcesNothing()
  }

  @Test func `a session begins with the card that was being read`() async throws {
    let rig = try await CardReaderRig.scanning()
    let id = try await reading(rig, .type4A, upTo: 3)
    try await rig.begin()
    #expect(await rig.commands(id).count == 3)
    await rig.readers.release(rig.slot)
    _ = try await rig.sessionTag()
    await rig.endSession(1)
    try await rig.expect(.scanning(true))
    try await rig.announcesNothing()
    #expect(rig.announced.isEmpty)
  }

  /// The process waits for the reader only for a short time.
  @Test func `a process that is stopped ends, and sends nothing more`() async throws {
    let rig = try await CardReaderRig.scanning()
    let id = try await reading(rig, .type2, upTo: 2)
    #expect(await rig.process.stop())
    #expect(await rig.process.processID == nil)
    await rig.readers.release(rig.slot)
    try await rig.isFree(try await rig.client())
    #expect(await rig.commands(id).count == 2)
  }
}
