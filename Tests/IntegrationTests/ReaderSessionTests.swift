import Bus
import EventLoop
import Glibc
import NDEF
import Names
import TagrouteClient
import TestSupport
import Testing

/// Reader sessions with the real programs, and the real libnfc at a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct ReaderSessionTests {
  /// The failure that a call ends with; nil where it does not.
  private func failure(_ body: () async throws(BusError) -> Void) async -> TagFailure? {
    do throws(BusError) {
      try await body()
      return nil
    } catch {
      return TagFailure(error)
    }
  }

  @Test func aSessionReadsWritesAndLocksAndWhatLiesThereIsNotAnnounced() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let program = try await desktop.program()
    let open = try await program.start(ReaderSessionOptions(message: "Put it down", access: .write))
    try await desktop.within("the session") { try await open.activated() }
    let sheet = try await desktop.notification(on: server)
    #expect(sheet.summary == "Hold a tag near the reader")
    #expect(sheet.body.contains("Put it down"))
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
    // READ of the first page: the UID is in it.
    #expect(try await tag.transceive([0x30, 0x00]).count == 16)
    try await tag.lock()
    #expect(try await tag.queryNDEF().status == .readOnly)
    #expect(await failure { () async throws(BusError) in try await tag.writeNDEF(other) } == .readOnly)
    try await open.session.invalidate()
    #expect(try await open.end().reason == .invalidated)
    let farewell = try await desktop.notification(on: server)
    #expect(farewell.summary == "✓ Done")
    // A click on its way to "Cancel" must not meet what is shown at the end.
    #expect(farewell.replaces == 0)
    try await desktop.scanning()

    // What was left there is not announced; another is, and then it is, too.
    try await desktop.lookedAround()
    try await desktop.place(Tag(3))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(3)))
    try await desktop.place(Tag(first, message: other))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(2)))
    await polkit.stop()
    await desktop.stop()
  }

  @Test func aTagThatLiesThereIsFoundAndTheFirstMessageEndsTheSession() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let lying = try Tag(1, type: 4)
    try await desktop.place(lying)
    _ = try await desktop.notification(on: server)
    let open = try await desktop.program().start(ReaderSessionOptions(endsAfterFirstRead: true))
    try await desktop.within("the message") {
      var message: [UInt8]?
      while let event = await open.next() {
        if case .messageRead(let bytes, _) = event { message = bytes }
        if case .ended(let end) = event { #expect(end.reason == .firstRead) }
      }
      #expect(message == lying.message)
    }
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func theUserCancelsOnTheSheet() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let open = try await desktop.program().start()
    let sheet = try await desktop.notification(on: server)
    #expect(sheet.actions.contains("cancel"))
    try await server.click(sheet, action: "cancel")
    let end = try await desktop.within("the end") { try await open.end() }
    #expect(end.reason == .cancelled)
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func aSessionEndsWhenItsTimeIsUp() async throws {
    let desktop = try await Desktop(reader: ["SessionLimit=1"])
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let program = try await desktop.program()
    let (first, second) = (try await program.start(), try await program.start())
    #expect(try await desktop.within("the end") { try await first.end() }.reason == .timedOut)
    try await desktop.within("the next one's turn") { try await second.activated() }
    try await second.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func scanningIsBackWheneverAClientDies() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let steps: [(SessionProgram, OpenSession) async throws -> Void] = [
      { _, _ in },
      { _, open in try await open.activated() },
      { _, open in
        try await desktop.place(Tag(1))
        _ = try await open.tag()
      },
      { _, open in
        let tag = try await open.tag()
        // Nobody waits for it.
        Task { _ = try? await tag.readNDEF() }
      },
      { program, _ in _ = try await program.start() },
    ]
    for step in steps {
      let program = try await desktop.program()
      let open = try await program.start()
      try await step(program, open)
      await program.die()
      try await desktop.scanning()
    }
    // No sheet is left: each that was shown, the last one after another, was taken away.
    try await desktop.within("the sheets' ends") {
      let sheets = await server.all.filter { $0.summary == "Hold a tag near the reader" }
      var open = Set(sheets.map(\.id))
      while !open.isEmpty { open.remove(try await server.nextClosed()) }
    }
    // The daemon is in order: a tag is still announced.
    try await desktop.lookedAround()
    try await desktop.place(Tag(7))
    try await desktop.within("the tap") {
      while true {
        if try await server.next().body.contains(Tag.text(7)) { return }
      }
    }
    await polkit.stop()
    await desktop.stop()
  }

  /// The same with a process, which the kernel takes away between any two of its instructions.
  @Test func scanningIsBackWheneverAProgramIsKilled() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let daemon = try await desktop.daemon
    for step in ["begins to wait", "has the reader", "a tag was read"] {
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
    // One that waits is no longer in the line.
    let holder = try await desktop.program().start()
    try await desktop.within("the session") { try await holder.activated() }
    let seen = await daemon.log().count
    let program = try await desktop.installation.start("tagroute", ["read"])
    try await daemon.line(containing: "begins to wait", after: seen)
    program.signal(SIGKILL)
    try await daemon.line(containing: "is over: client-gone", after: seen)
    let next = try await desktop.program().start()
    try await holder.session.invalidate()
    try await desktop.within("the next one's turn") { try await next.activated() }
    try await next.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func aReaderThatDiesEndsItsSessionAndComesBack() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let program = try await desktop.program()
    let (first, second) = (try await program.start(), try await program.start())
    try await desktop.within("the session") { try await first.activated() }
    try await desktop.reader.signal(SIGKILL)
    #expect(try await desktop.within("the end") { try await first.end() }.reason == .readerLost)
    // Who waited has the reader once it is back.
    try await desktop.within("the next one's turn") { try await second.activated() }
    try await second.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func anotherProgramUsesAReaderThatWasReleased() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "client"))
    do {
      let inhibitor = try await client.releaseReader(who: "a test", why: "nfc-list")
      let device = try #require(inhibitor.device)
      try await desktop.place(Tag(1))
      var environment = desktop.installation.environment
      environment["LIBNFC_DEFAULT_DEVICE"] = device
      let program = try BuiltProducts.systemProgram("nfc-list", package: "libnfc-bin")
      let list = try await ChildProcess.run(program, [], environment: environment)
      #expect(list.status == .exited(0))
      #expect(list.output.contains("1 ISO14443A passive target(s) found"), "\(list.log)")
      let states = try await client.status().readers.map(\.state)
      #expect(states == ["released"])
      withExtendedLifetime(inhibitor) {}
    }
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func theEndOfTheDaemonIsTold() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let open = try await desktop.program().start()
    try await desktop.within("the session") { try await open.activated() }
    let daemon = try await desktop.daemon
    daemon.signal(SIGTERM)
    #expect(try await desktop.within("the end") { try await open.end() }.reason == .daemonStopping)
    #expect(try await daemon.exit() == .exited(0))
    await polkit.stop()
    await desktop.stop()
  }
}
