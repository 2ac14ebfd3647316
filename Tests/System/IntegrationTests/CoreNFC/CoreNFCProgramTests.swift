import Glibc
import ReaderSimulator
import TestRig
import Testing

@testable import CoreNFC

/// Programs that use Core NFC: two at once, and programs that are killed. The daemon then ends the session of the
/// program, and scans again.
@Suite(.timeLimit(.minutes(5))) struct CoreNFCProgramTests {
  /// Parts of the daemon's log lines about reader sessions.
  private static let waits = "waits for its reader"
  private static let begins = "has the reader"
  private static let isGone = "is over: client-gone"

  private func start(_ program: String, _ arguments: [String] = [], on place: CoreNFCDesktop) async throws
    -> ChildProcess
  {
    try await place.desktop.installation.start(program, arguments)
  }

  /// Kills a program, and waits until its session has ended.
  private func end(_ program: ChildProcess, _ place: CoreNFCDesktop) async throws {
    let daemon = try await place.desktop.daemon
    let seen = await daemon.log().count
    program.signal(SIGKILL)
    #expect(try await program.exit() == .signalled(SIGKILL))
    try await daemon.line(containing: Self.isGone, after: seen)
  }

  @Test func `a program that is killed while it waits leaves the queue`() async throws {
    let place = try await CoreNFCDesktop()
    let daemon = try await place.desktop.daemon
    let delegate = TagDelegate()
    let holder = NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: delegate)
    try await place.activate(holder, delegate)
    let seen = await daemon.log().count
    let program = try await start("ndef-reader", on: place)
    try await daemon.line(containing: Self.waits, after: seen)
    try await end(program, place)
    // The session that has the reader keeps it.
    await place.reader.place(try .type2(.ntag213, message: Tag(1).message))
    #expect(try await place.tag(delegate).isAvailable)
    try await place.finish(holder, delegate)
    try await place.scansAgain()
    #expect(await daemon.log().dropFirst(seen).filter { $0.contains(Self.begins) }.isEmpty)
    await place.stop()
  }

  @Test func `a program that is killed while it waits for a tag leaves the reader`() async throws {
    let place = try await CoreNFCDesktop()
    let daemon = try await place.desktop.daemon
    let seen = await daemon.log().count
    let program = try await start("ndef-reader", on: place)
    try await daemon.line(containing: Self.begins, after: seen)
    try await end(program, place)
    try await place.scansAgain()
    await place.stop()
  }

  /// The tag then has the old message, the new one or none.
  @Test(arguments: ["query", "write"]) func `a program that is killed in a call leaves the reader`(
    call: String
  ) async throws {
    let place = try await CoreNFCDesktop(starter: "`a program that is killed in a call leaves the reader`_\(call)")
    let daemon = try await place.desktop.daemon
    let seen = await daemon.log().count
    let link = "https://example.com/" + String(repeating: "x", count: 60)
    let program = try await start("tag-writer", [link], on: place)
    try await daemon.line(containing: Self.begins, after: seen)
    await place.slowDown()
    await place.reader.place(try .type2(.ntag213, message: Tag(1).message))
    try await daemon.line(containing: "is to \(call) tag", after: seen)
    try await end(program, place)
    await place.reader.clearFaults()
    try await place.desktop.scanning()
    #expect(await program.log().isEmpty)

    let delegate = TagDelegate()
    let session = NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: delegate)
    try await place.activate(session, delegate)
    let found = try await place.tag(delegate)
    try await session.connect(to: found)
    let tag = try #require(found.asMiFare)
    var content: String?
    let code = await errorCode { content = try await tag.readNDEF().link }
    let old = "https://" + Tag.text(1)
    #expect(code == 403 && call == "write" || content == old || content == link && call == "write")
    try await place.finish(session, delegate)
    try await place.scansAgain()
    await place.stop()
  }

  @Test(arguments: [false, true]) func `the second of two programs has the reader when the first ends`(
    isKilled: Bool
  ) async throws {
    let place = try await CoreNFCDesktop(
      starter: "`the second of two programs has the reader when the first ends`_\(isKilled)")
    let daemon = try await place.desktop.daemon
    var seen = await daemon.log().count
    let first = try await start("ndef-reader", on: place)
    try await daemon.line(containing: Self.begins, after: seen)
    seen = await daemon.log().count
    let second = try await start("ndef-reader", on: place)
    try await daemon.line(containing: Self.waits, after: seen)
    let printed = ["record 1: link https://\(Tag.text(1))"]
    if isKilled {
      try await end(first, place)
      #expect(await first.log().isEmpty)
      try await daemon.line(containing: Self.begins, after: seen)
    }
    // The tag stays on the reader, so the second program reads it, too.
    await place.reader.place(try .type2(.ntag213, message: Tag(1).message))
    if !isKilled {
      #expect(try await first.exit() == .exited(0))
      #expect(await first.log() == printed)
    }
    #expect(try await second.exit() == .exited(0))
    #expect(await second.log() == printed)
    let log = await daemon.log().dropFirst(seen)
    let end = try #require(log.firstIndex { $0.contains("is over") })
    let begin = try #require(log.firstIndex { $0.contains(Self.begins) })
    #expect(end < begin)
    try await place.scansAgain()
    await place.stop()
  }
}
