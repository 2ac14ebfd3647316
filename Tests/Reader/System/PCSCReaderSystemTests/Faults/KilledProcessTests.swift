import Daemon
import Glibc
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// Processes that are killed, or hang, in the middle of a reading.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct KilledProcessTests {
  /// Before the third command, the daemon does not know the tag. Afterwards the tag may be what kills processes, so it
  /// is not read again.
  @Test(arguments: [SIGKILL, SIGSTOP], 1...6)
  func `a tag on which a process died is not read again, and all others are`(signal: Int32, command: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/1")
    await rig.add(.hold(command: command))
    let id = try await rig.insert(try .type4(message: bytes))
    try await rig.isHolding()
    try await rig.killProcess(signal)
    let crash = try await rig.crash()
    #expect((crash.suspect != nil) == (command > 1))
    await rig.readers.release(rig.slot)
    try await rig.expect(.scanning(true))
    if command == 1 {
      #expect(try await rig.message().message == bytes)
    } else {
      try await rig.notices("a tag that was there before")
    }
    try await rig.announcesNothing()
    let card = try #require(await rig.remove(id))
    _ = try await rig.removal()
    try await rig.insert(card)
    #expect(try await rig.message().message == bytes)
  }

  /// Another program had begun a transaction. The process that waits for it can be killed.
  @Test func `a process that waits for another program can be killed`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    try await rig.whileSuspended {
      try await rig.insert(try .type2(.ntag213, message: bytes))
      try await client.ask("await present \(rig.name)")
      try await client.ask("connect shared \(rig.name)")
      try await client.ask("begin")
    }
    try await rig.next("a wait") { if case .waiting = $0 { true } else { nil } }
    try await rig.killProcess()
    try await rig.expect(.crashed)
    try await rig.next("another wait") { if case .waiting(let reason) = $0, !reason.isEmpty { true } else { nil } }
    try await client.ask("end")
    #expect(try await rig.message().message == bytes)
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
  }
}
