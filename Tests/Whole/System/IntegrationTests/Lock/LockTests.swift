import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// `Sessions=logind`: the daemon scans for the session at the seat, and only while it is unlocked.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LockTests {
  private static let session = LogindStandIn.Session(id: "2", uid: getuid())

  private func start(_ scan: String..., session: LogindStandIn.Session = Self.session, starter: String = #function)
    async throws -> (Desktop, LogindStandIn)
  {
    let desktop = try await Desktop(scan: ["Sessions=logind"] + scan, starter: starter)
    return (desktop, try await LogindStandIn.start(on: desktop.systemBus, sessions: [session]))
  }

  /// Announces a sleep and its end, while the session stays locked. A poll by mistake would happen before this
  /// returns.
  private func sleepAndWake(_ desktop: Desktop, _ logind: LogindStandIn) async throws {
    try await logind.prepareForSleep(true)
    try await desktop.status { $0.suspendReasons.contains("sleeping") }
    try await logind.prepareForSleep(false)
    try await desktop.status { $0.suspendReasons == ["session-locked"] }
  }

  @Test func `a lock turns the field off, and a tag waits for the unlock`() async throws {
    let (desktop, logind) = try await start()
    let server = try await desktop.startWithServer()
    try await desktop.tap(1, isShownOn: server)
    try await desktop.remove()

    try await logind.update("2") { $0.isLocked = true }
    try await desktop.status { !$0.scanning && $0.suspendReasons == ["session-locked"] }
    try await desktop.installation.simulate("counters reset")
    try await desktop.place(try Tag(2))
    try await sleepAndWake(desktop, logind)
    let counters = try await desktop.installation.simulate("counters")
    #expect(counters.hasPrefix("commands=0 exchanges=0 activation-frames=0"))
    #expect(counters.hasSuffix("field=off field-on-ms=0"))
    #expect(await server.all.count == 1)

    try await logind.update("2") { $0.isLocked = false }
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    try await desktop.tap(3, isShownOn: server)
    #expect(await server.all.count == 3)
  }

  @Test func `WhenLocked=hold holds a tap, and reads no tag before the first unlock`() async throws {
    var locked = Self.session
    locked.isLocked = true
    let (desktop, logind) = try await start("WhenLocked=hold", session: locked)
    let server = try await desktop.startWithServer()
    try await desktop.status { $0.suspendReasons == ["session-locked"] }
    try await desktop.installation.simulate("counters reset")
    try await desktop.place(try Tag(1))
    try await sleepAndWake(desktop, logind)
    #expect(try await desktop.installation.simulate("counters").hasSuffix("field=off field-on-ms=0"))
    try await desktop.installation.simulate("remove")

    try await logind.update("2") { $0.isLocked = false }
    try await desktop.status(\.scanning)
    let daemon = try await desktop.daemon
    try await logind.update("2") { $0.isLocked = true }
    try await daemon.line(containing: "and taps are held")
    try await desktop.place(try Tag(2))
    try await daemon.line(containing: "held until the session is unlocked")
    #expect(await server.all.isEmpty)
    try await logind.update("2") { $0.isLocked = false }
    try await server.click(try await desktop.notification(on: server))
    #expect(try await desktop.handed().message == Tag(2).message)
    #expect(await server.all.count == 1)
  }
}

/// Runs the scripts from docs/scanning.md exactly as printed, for screen lockers that do not report a lock. The lockers
/// here lock no screen.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LockerPageTests {
  /// The code block of the page that creates the script for a locker.
  private static func block(of locker: String) throws -> String {
    let page = String(decoding: try readFile("\(repositoryRoot)/docs/scanning.md"), as: UTF8.self)
    let section = try #require(page.split(separator: "\n**\(locker), ").dropFirst().first)
    let block = try #require(section.split(separator: "```sh\n").dropFirst().first?.split(separator: "```").first)
    return String(block)
  }

  @Test(arguments: ["swaylock", "i3lock"]) func `only an unlock makes the daemon scan again`(locker: String)
    async throws
  {
    let starter = "`only an unlock makes the daemon scan again`_\(locker)"
    let desktop = try await Desktop(starter: starter)
    try await desktop.startScanning()
    let directory = desktop.installation.directory
    try directory.write("", to: "home/.profile")
    // Waits for an exit code from the test: 0 for an unlock, 1 for a crash.
    let end = directory.file("end")
    try #require(mkfifo(end, 0o600) == 0)
    try directory.write("#!/bin/sh\nread -r code <'\(end)'\nexit \"$code\"\n", to: "bin/\(locker)", mode: 0o755)
    try #require(symlink(try BuiltProducts.program("tagroute"), directory.file("bin/tagroute")) == 0)
    var environment = desktop.installation.environment
    environment["PATH"] = "\(directory.file("bin")):/usr/bin:/bin"
    let pasted = try await ChildProcess.run(
      "/bin/sh", ["-eu", "-c", try Self.block(of: locker)], environment: environment, starter: starter)
    try #require(pasted.status == .exited(0), "\(pasted.log)")

    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "client"))
    for code: Int32 in [0, 1] {
      let script = try ChildProcess(
        directory.file("home/.local/bin/lock-screen"), [], environment: environment, starter: starter)
      try await desktop.status { $0.suspendReasons == ["session-locked"] }
      _ = try await ChildProcess.run(
        "/bin/sh", ["-c", "echo \(code) >'\(end)'"], environment: environment, starter: starter)
      #expect(try await script.exit() == .exited(code))
      // The daemon knows the lock state by the time the script ends.
      let status = try await client.status()
      #expect(status.suspendReasons == (code == 0 ? [] : ["session-locked"]))
    }
  }
}

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SwitchTests {
  @Test func `tagroute on and off need a polkit permission and last across a daemon restart`() async throws {
    let desktop = try await Desktop()
    let installation = desktop.installation
    #expect(try await installation.tagroute("off").status == .exited(Names.ExitCode.unavailable))
    try await desktop.startScanning()
    let refused = try await installation.tagroute("off")
    #expect(refused.status == .exited(Names.ExitCode.notAllowed))
    #expect(refused.log.contains { $0.contains("switch scanning off") })
    try await desktop.status(\.scanning)

    _ = try await PolkitStandIn.start(on: desktop.systemBus, allowing: [Names.PolkitAction.configure])
    let off = "off; commands and sessions may still use the reader\n"
    #expect(try await installation.output("off") == "scanning: \(off)")
    #expect(try await installation.output("status").hasPrefix(off))
    try await desktop.status { !$0.scanning && !$0.enabled && $0.suspendReasons == ["disabled"] }
    let counters = try await desktop.installation.simulate("counters")
    #expect(counters.contains("field=off"))

    try await desktop.daemon.exit(after: SIGKILL)
    try await desktop.installation.startDaemon()
    try await desktop.daemon.line(containing: Desktop.readerReady)
    try await desktop.status { !$0.enabled && $0.suspendReasons.contains("disabled") }
    #expect(try await installation.object("on")["enabled"] as? Bool == true)
    try await desktop.status(\.scanning)
  }
}

/// After `tagroute off`, only commands and reader sessions use the reader.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SwitchedOffTests {
  private static let actions: Set = [Names.PolkitAction.configure, Names.PolkitAction.readTags]

  @Test func `no status after off says that a reader scans`() async throws {
    let desktop = try await Desktop()
    let installation = desktop.installation
    _ = try await PolkitStandIn.start(on: desktop.systemBus, allowing: Self.actions)
    try await desktop.startScanning()
    for _ in 0..<10 {
      #expect(try await installation.object("off")["scanning"] as? Bool == false)
      let status = try await installation.object("status")
      #expect(status["scanning"] as? Bool == false)
      #expect((status["readers"] as? [[String: Any]])?.map { $0["state"] as? String } == ["ready"])
      #expect(try await installation.output("on") == "scanning: on\n")
      try await desktop.status(\.scanning)
    }
  }

  @Test func `a command may read a tag, which gives no notification`() async throws {
    let desktop = try await Desktop()
    let installation = desktop.installation
    _ = try await PolkitStandIn.start(on: desktop.systemBus, allowing: Self.actions)
    let server = try await desktop.startWithServer()
    try await desktop.status(\.scanning)
    _ = try await installation.output("off")
    try await desktop.place(try Tag(1))
    #expect(try await installation.output("read").contains(Tag.text(1)))
    try await desktop.status { $0.suspendReasons == ["disabled"] && !$0.scanning }
    try await installation.simulate("remove")
    _ = try await installation.output("on")
    try await desktop.status(\.scanning)
    // The daemon does not announce a tag that is there when the reader begins to scan. A window has six commands.
    try await installation.simulate("wait 12")
    try await desktop.place(try Tag(2))
    #expect(try await desktop.within("a notification of a tap") { try await server.nextTap() }.body == Tag.text(2))
  }
}

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct MachineSleepTests {
  @Test func `the field is off when the machine goes to sleep`() async throws {
    let desktop = try await Desktop(scan: ["Sessions=logind"])
    let logind = try await LogindStandIn.start(
      on: desktop.systemBus, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    let server = try await desktop.startWithServer()
    await logind.untilHeld(1)
    // While a tag rests, presence checks keep the field on.
    try await desktop.tap(1, isShownOn: server)
    try await logind.prepareForSleep(true)
    await logind.untilHeld(0)
    #expect(try await desktop.installation.simulate("counters").contains("field=off"))
    try await desktop.status { !$0.scanning && $0.suspendReasons == ["sleeping"] }
    try await logind.prepareForSleep(false)
    await logind.untilHeld(1)
    try await desktop.status(\.scanning)
    let log = try await desktop.daemon.notable()
    #expect(!log.contains { $0.contains("not waited for") })
  }

  @Test func `a reader process that hangs does not keep the machine awake`() async throws {
    let desktop = try await Desktop(scan: ["Sessions=logind"])
    let logind = try await LogindStandIn.start(
      on: desktop.systemBus, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    try await desktop.start()
    await logind.untilHeld(1)
    try await desktop.status(\.scanning)
    let reader = try await desktop.reader
    reader.signal(SIGSTOP)
    try await logind.prepareForSleep(true)
    // The daemon kills the reader process or stops waiting for it. Either way the machine goes to sleep.
    await logind.untilHeld(0)
    try await logind.prepareForSleep(false)
    await logind.untilHeld(1)
    try await desktop.status(\.scanning)
  }
}
