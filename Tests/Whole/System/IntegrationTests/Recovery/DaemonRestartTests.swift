import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// Effects of a daemon restart on clients, the agent and taps, after a crash and after `systemctl restart`.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DaemonRestartTests {
  static let ends = [SIGKILL, SIGTERM]

  private func desktop(_ signal: Int32, _ test: String = #function) async throws -> Desktop {
    try await Desktop.scanning(starter: "\(test.prefix { $0 != "(" })_\(signal)").0
  }

  // MARK: Clients that have the reader

  @Test func `a command that reads tag after tag continues with the next daemon and reads none twice`() async throws {
    let (desktop, _) = try await Desktop.scanning()
    let process = try await desktop.installation.start("tagroute", ["read", "--follow", "--json"])
    try await desktop.status { $0.suspendReasons == ["reader-session"] }
    try await desktop.place(try Tag(1))
    try await process.line(containing: try Tag(1).uid)
    try await desktop.replaceDaemon(SIGKILL)
    try await desktop.status { $0.suspendReasons == ["reader-session"] }
    // The first tag still lies on the reader.
    try await desktop.lookedAround()
    try await desktop.place(try Tag(2))
    try await process.line(containing: try Tag(2).uid)
    let first = try Tag(1).uid
    #expect(await process.log().filter { $0.contains(first) }.count == 1)
    #expect(try await process.exit(after: SIGINT) == .signalled(SIGINT))
  }

  @Test(arguments: ends) func `sessions, their sheet and a tag operation end with the daemon`(signal: Int32)
    async throws
  {
    let desktop = try await desktop(signal)
    let server = try await desktop.startServer()
    let (daemon, program) = (try await desktop.daemon, try await desktop.program())
    let first = try await program.start(ReaderSessionOptions(access: .write))
    try await desktop.within("the session") { try await first.activated() }
    let waiting = [try await program.start(), try await desktop.program().start()]
    let sheet = try await desktop.notification(on: server)
    #expect(sheet.actions.contains("cancel"))
    try await desktop.place(try Tag(1))
    let tag = try await desktop.within("a tag") { try await first.tag() }
    let seen = await daemon.log().count
    // Delays the reader's next reply, so that the daemon ends during the write.
    try await desktop.installation.simulate("fault delay 500")
    let message = try Tag(2).message
    let writing = Task { () -> BusError? in
      do throws(BusError) {
        try await tag.writeNDEF(message)
        return nil
      } catch {
        return error
      }
    }
    try await daemon.line(containing: "is to write", after: seen)
    try await desktop.replaceDaemon(signal)
    let error = try #require(try await desktop.within("an answer") { await writing.value })
    #expect(error.name == (signal == SIGKILL ? BusError.Name.noReply : Names.Errors.sessionEnded), "\(error)")
    #expect(try await daemon.exit() == (signal == SIGKILL ? .signalled(SIGKILL) : .exited(0)))
    let expected: ReaderSessionEnd.Reason = signal == SIGKILL ? .daemonGone : .daemonStopping
    for (number, session) in ([first] + waiting).enumerated() {
      let end = try await desktop.within("the end") { try await session.end() }
      #expect(end.reason == expected, "\(number): \(end)")
    }
    #expect(try await desktop.within("the sheet's end") { try await server.nextClosed() } == sheet.id)
    // The same connection gets a session from the next daemon.
    try await desktop.scanning()
    let next = try await program.start()
    try await desktop.within("the session") { try await next.activated() }
  }

  // MARK: Clients that stop scanning

  @Test func `a lent reader is lent again by the next daemon`() async throws {
    let (desktop, _) = try await Desktop.scanning()
    let wait = "import os, signal; os.write(1, b'has it\\n'); signal.pause()"
    let process = try await desktop.installation.start("tagroute", ["run", "--", "python3", "-c", wait])
    try await process.line(containing: "has it")
    for signal in Self.ends {
      try await desktop.replaceDaemon(signal)
      try await desktop.status { $0.readers.first?.state == "released" }
    }
    #expect(try await process.exit(after: SIGTERM) == .exited(128 + SIGTERM))
    try await desktop.scanning()
    #expect(await process.log() == ["has it"])
  }

  /// Another program borrows the reader from the next daemon first.
  @Test(arguments: [true, false]) func `tagroute run reports that it lost the reader and gets it back once it is free`(
    isGivenBack: Bool
  ) async throws {
    let (desktop, _) = try await Desktop.scanning(
      starter: "`tagroute run reports that it lost the reader and gets it back once it is free`_\(isGivenBack)")
    let fail = """
      import os, signal
      signal.signal(signal.SIGTERM, lambda number, frame: os._exit(4))
      os.write(1, b'has it\\n')
      while True: signal.pause()
      """
    let process = try await desktop.installation.start("tagroute", ["run", "--", "python3", "-c", fail])
    try await process.line(containing: "has it")
    process.signal(SIGSTOP)
    try await desktop.replaceDaemon(SIGKILL)
    try await desktop.scanning()
    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "client"))
    var other: Inhibitor? = try await client.releaseReader(who: "another program", why: "because")
    process.signal(SIGCONT)
    let told = "tagroute: the daemon restarted and no longer lends the reader to the command"
    try await process.line(containing: told)
    if isGivenBack {
      #expect(other?.isHeld == true)
      other = nil
      try await process.line(containing: "tagroute: the daemon lends the reader to the command again")
      try await desktop.status { $0.readers.first?.state == "released" }
    }
    process.signal(SIGTERM)
    // If the reader came back, the exit code is the command's own. Otherwise it reports the lost reader.
    #expect(try await process.exit() == .exited(isGivenBack ? 4 : Names.ExitCode.tryAgain))
    withExtendedLifetime(other) {}
    let lines = await process.log().filter { $0.hasPrefix(told) }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("already lent to another program (user \(getuid()))") == true, "\(lines)")
  }

  @Test func `an inhibitor ends with its daemon and reports that`() async throws {
    let (desktop, _) = try await Desktop.scanning()
    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "client"))
    let inhibitor = try await client.inhibit(who: "a test", why: "because")
    try await desktop.status { $0.suspendReasons == ["inhibited"] }
    #expect(inhibitor.isHeld)
    try await desktop.replaceDaemon(SIGKILL)
    #expect(!inhibitor.isHeld)
    try await desktop.scanning()
  }

  // MARK: Taps

  @Test(arguments: zip(ends, [false, true]))
  func `a tag on the reader is announced once across a daemon restart`(
    signal: Int32, isPutDownMeanwhile: Bool
  ) async throws {
    let folder = try TemporaryDirectory()
    let desktop = try await Desktop(
      environment: ["RUNTIME_DIRECTORY": folder.file(".")],
      starter: "`a tag on the reader is announced once across a daemon restart`_\(signal)_\(isPutDownMeanwhile)")
    let server = try await desktop.startServer()
    try await desktop.startScanning()
    try await desktop.tap(1, isShownOn: server)
    try await desktop.replaceDaemon(signal) {
      if isPutDownMeanwhile { try await desktop.place(try Tag(2)) }
    }
    if isPutDownMeanwhile { #expect(try await desktop.notification(on: server).body == Tag.text(2)) }
    try await desktop.scanning()
    try await desktop.lookedAround()
    if !isPutDownMeanwhile { try await desktop.tap(2, isShownOn: server) }
    // Tag 1 was removed in the meantime, so it is announced again.
    try await desktop.tap(1, isShownOn: server)
    #expect(await server.all.count == 3)
  }
}

extension Desktop {
  /// Ends the daemon and starts a new one. Returns once the new daemon replies.
  func replaceDaemon(_ signal: Int32, meanwhile: () async throws -> Void = {}) async throws {
    let daemon = try await daemon
    let readers = try daemon.children()
    try await daemon.exit(after: signal)
    try await meanwhile()
    // systemd ends all processes of a unit before it starts the unit again. Two of them would share the reader's line.
    for reader in readers { try await within("the end of a reader process") { try await reader.end() } }
    try await installation.startDaemon()
    let client = try await DaemonClient.connect(to: systemBus, on: EventLoop(label: "test-client"))
    try await within("the next daemon") {
      for await _ in try await client.changes() where (try? await client.status()) != nil { return }
    }
  }
}

/// SIGTERM ends the daemon and the agent, and no reader process is left.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TerminationTests {
  enum State: Sendable, CaseIterable {
    /// A notification is on the screen, the handler does not reply after a click, and the reader process is suspended.
    case hanging
    /// The daemon scans for tags, and both buses have ended.
    case withoutBuses
  }

  @Test(arguments: State.allCases) func `SIGTERM ends the daemon, the agent and the reader process`(state: State)
    async throws
  {
    let desktop = try await Desktop(starter: "`SIGTERM ends the daemon, the agent and the reader process`_\(state)")
    let readers = try await bring(desktop, to: state)
    let (daemon, agent) = (try await desktop.daemon, try await desktop.agent)
    for process in [agent, daemon] {
      #expect(try await process.exit(after: SIGTERM) == .exited(0))
    }
    #expect(readers.map(\.isGone) == readers.map { _ in true })
  }

  /// Brings the desktop into a state. Returns the reader processes.
  private func bring(_ desktop: Desktop, to state: State) async throws -> [ForeignProcess] {
    let server = try await desktop.startWithServer()
    try await desktop.status(\.scanning)
    let reader = try await desktop.reader
    switch state {
    case .hanging:
      await desktop.app.set(.hangs)
      try await desktop.tap(1, isShownOn: server)
      try await desktop.place(try Tag(2))
      try await server.click(try await desktop.notification(on: server))
      _ = try await desktop.handed()
      reader.signal(SIGSTOP)
    case .withoutBuses:
      try await desktop.installation.systemBus.stop()
      try await #require(desktop.installation.sessionBus).stop()
    }
    return [reader]
  }
}
