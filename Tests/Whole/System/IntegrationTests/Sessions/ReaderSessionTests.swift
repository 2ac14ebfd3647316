import Bus
import Glibc
import NDEF
import Names
import TagrouteClient
import TestKit
import Testing

/// Reader sessions with the real programs, and the real libnfc with a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReaderSessionTests {
  /// The failure of a call, or nil.
  private func failure(_ body: () async throws(BusError) -> Void) async -> TagFailure? {
    do throws(BusError) {
      try await body()
      return nil
    } catch {
      return TagFailure(error)
    }
  }

  @Test func `a session reads, writes and locks a tag, which is not announced afterwards`() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    _ = try await desktop.startPolkit()
    try await desktop.startScanning()
    let program = try await desktop.program()
    let open = try await program.start(ReaderSessionOptions(message: "Put it down\nand wait", access: .write))
    try await desktop.within("the session") { try await open.activated() }
    let sheet = try await desktop.notification(on: server)
    #expect(sheet.summary == "Hold a tag near the reader")
    #expect(sheet.body.contains("Put it down\nand wait"))
    try await desktop.status { $0.suspendReasons == ["reader-session"] && $0.readers.first?.state == "in-session" }

    let first = try Tag(1)
    try await desktop.place(first)
    let tag = try await desktop.within("a tag") { try await open.tag() }
    #expect(tag.technology == "type-2")
    #expect(try await tag.queryNDEF().status == .readWrite)
    #expect(try await tag.readNDEF() == first.message)
    let other = try Tag(2).message
    try await tag.writeNDEF(other)
    #expect(try await tag.readNDEF() == other)
    // READ of the first page, which contains the UID.
    #expect(try await tag.transceive([0x30, 0x00]).count == 16)
    try await tag.lock()
    #expect(try await tag.queryNDEF().status == .readOnly)
    #expect(await failure { () async throws(BusError) in try await tag.writeNDEF(other) } == .readOnly)
    try await open.session.invalidate()
    #expect(try await open.end().reason == .invalidated)
    let farewell = try await desktop.notification(on: server)
    #expect(farewell.summary == "✓ Done")
    // The last notification has a new id, so that a late click on “Cancel” does not reach it.
    #expect(farewell.replaces == 0)
    try await desktop.scanning()

    // The tag that was left there is not announced. Another tag is, and then the first tag is a new tap.
    try await desktop.lookedAround()
    try await desktop.place(Tag(3))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(3)))
    try await desktop.place(Tag(first, message: other))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(2)))
  }

  /// The kernel may end a process between any two instructions.
  @Test func `scanning resumes whenever a program is killed`() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    _ = try await desktop.startPolkit()
    try await desktop.startScanning()
    let daemon = try await desktop.daemon
    for step in ["waits for its reader", "has the reader", "a tag was read"] {
      let seen = await daemon.log().count
      let program = try await desktop.installation.start("tagroute", ["read", "--follow", "--json"])
      if step == "a tag was read" {
        try await daemon.line(containing: "has the reader", after: seen)
        try await desktop.place(Tag(1))
        try await program.line(containing: "04000000000001")
      } else {
        try await daemon.line(containing: step, after: seen)
      }
      program.signal(SIGKILL)
      #expect(try await program.exit() == .signalled(SIGKILL))
      try await daemon.line(containing: "is over: client-gone", after: seen)
      try await desktop.scanning()
    }
    // No sheet is left: the agent has closed each sheet that was shown.
    try await desktop.within("the sheets' ends") {
      let sheets = await server.all.filter { $0.summary == "Hold a tag near the reader" }
      var open = Set(sheets.map(\.id))
      while !open.isEmpty { open.remove(try await server.nextClosed()) }
    }
    // The daemon still announces tags.
    try await desktop.lookedAround()
    try await desktop.place(Tag(7))
    while try await desktop.notification(on: server).body != Tag.text(7) {}
    // A program that dies while it waits leaves the queue.
    let holder = try await desktop.program().start()
    try await desktop.within("the session") { try await holder.activated() }
    let seen = await daemon.log().count
    let program = try await desktop.installation.start("tagroute", ["read"])
    try await daemon.line(containing: "waits for its reader", after: seen)
    program.signal(SIGKILL)
    try await daemon.line(containing: "is over: client-gone", after: seen)
    let next = try await desktop.program().start()
    try await holder.session.invalidate()
    try await desktop.within("the next one's turn") { try await next.activated() }
    try await next.session.invalidate()
    try await desktop.scanning()
  }
}

/// A client's own commands to simulated cards, with the real programs and the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TransceiveTests {
  private static let ndef: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

  private func select(_ name: [UInt8]) -> [UInt8] {
    [0x00, 0xA4, 0x04, 0x00, UInt8(truncatingIfNeeded: name.count)] + name + [0x00]
  }

  private func errorName(_ body: () async throws(BusError) -> [UInt8]) async -> String? {
    do throws(BusError) {
      _ = try await body()
      return nil
    } catch {
      return error.name
    }
  }

  @Test func `a bank card is hidden from sessions with declarations, and its applications are blocked`() async throws {
    let desktop = try await Desktop()
    _ = try await desktop.startPolkit()
    try await desktop.startScanning()
    let open = try await desktop.program().start(ReaderSessionOptions(applicationIdentifiers: [Self.ndef]))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.installation.simulate("tap --type payment")
    try await desktop.lookedAround()
    try await desktop.place(Tag(1, type: 4))
    let tag = try await desktop.within("a card") { try await open.tag() }
    #expect(tag.uid == [0x04, 0, 0, 0, 0, 0, 1])
    #expect(tag.selectedApplication == Self.ndef)
    #expect(try await tag.transceive(select(Self.ndef)).suffix(2) == [0x90, 0x00])
    // Reads the capability container.
    #expect(try await tag.transceive([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]).suffix(2) == [0x90, 0x00])
    #expect(try await tag.transceive([0x00, 0xB0, 0x00, 0x00, 0x0F]).count == 17)
    try await open.session.invalidate()
    _ = try await open.end()

    // A session without declarations finds the card, but cannot select its payment applications.
    try await desktop.installation.simulate("remove")
    let second = try await desktop.program().start(ReaderSessionOptions(access: .write))
    try await desktop.within("the session") { try await second.activated() }
    try await desktop.installation.simulate("tap --type payment")
    let card = try await desktop.within("the bank card") { try await second.tag() }
    for name in ["2PAY.SYS.DDF01", "1PAY.SYS.DDF01", "2PAY."] {
      #expect(
        await errorName { () async throws(BusError) in try await card.transceive(select(Array(name.utf8))) }
          == Names.Errors.notAuthorized)
    }
    #expect(try await card.queryNDEF().status == .notSupported)
    try await second.session.invalidate()
    try await desktop.scanning()
  }
}
