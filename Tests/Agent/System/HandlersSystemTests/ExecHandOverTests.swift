import Bus
import EventLoop
import Glibc
import NDEF
import Routing
import TestKit
import Testing
import UniversalLinks

@testable import Handlers
@testable import HandlersTests

@Suite(.timeLimit(.minutes(5))) struct ExecHandOverTests {
  private let data: DataDirectory
  private let launcher: Launcher

  init() throws {
    data = try DataDirectory()
    var environment = data.environment
    environment["NOTIFY_SOCKET"] = "/run/ours"
    environment["XDG_ACTIVATION_TOKEN"] = "somebody else's"
    for name in Self.ours { environment[name] = "ours" }
    environment["JOURNAL_STREAM"] = "8:1"
    launcher = Launcher(connection: nil, environment: environment, on: EventLoop(label: "test"))
  }

  /// Variables that describe this process, set by systemd and the bus, and variables that redirect its paths in tests.
  private static let ours = [
    "INVOCATION_ID", "SYSTEMD_EXEC_PID", "MANAGERPID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
    "CREDENTIALS_DIRECTORY", "FDSTORE", "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "DBUS_STARTER_ADDRESS",
    "DBUS_STARTER_BUS_TYPE", "TAGROUTE_DEV", "TAGROUTE_SYS", "TAGROUTE_PROC", "TAGROUTE_LOG", "WATCHDOG_USEC",
    "TAGROUTE_UID", "TAGROUTE_TECHNOLOGY", "TAGROUTE_READER", "TAGROUTE_TIME", "TAGROUTE_TAP_ID", "TAGROUTE_URI",
  ]

  private static let tag = TagRead(
    id: "", time: 7, reader: "/readers/0", technology: "type-2", uid: [4, 0xA2], bytes: [])

  /// Installs a program that records how it was started, and an entry for it.
  ///
  /// Each process started by posix_spawn ignores the two signals that glibc reserves (32 and 33).
  private func install(_ exec: String, _ lines: [String] = []) throws -> Application {
    let folder = data.temporary.path
    try data.temporary.write(
      """
      #!/bin/sh
      exec > '\(folder)/report'
      printf 'argument=%s\\n' "$@"
      echo "token=$XDG_ACTIVATION_TOKEN startup=$DESKTOP_STARTUP_ID notify=$NOTIFY_SOCKET"
      grep -E '^SigBlk' /proc/self/status | tr -d '\\t'
      grep -E '^SigIgn' /proc/self/status | tr -d '\\t' | sed 's/0000000180000000/0/'
      echo "session=$(cut -d' ' -f6 /proc/$$/stat) process=$$" | sed -E 's/session=(.*) process=\\1$/leader/'
      echo "directory=$PWD"
      find /proc/$$/fd -mindepth 1 -lname '*/tagroute-test*' -printf 'open=%l\\n' | sort
      if echo x >&0; then echo writable; fi 2> /dev/null
      cat > '\(folder)/message'
      """, to: "bin/handler", mode: 0o755)
    let file = try data.entry("handler", ["Exec=\(exec)"] + lines)
    return Application(desktopID: "handler.desktop", name: "Handler", file: file, origin: .system)
  }

  private func report() async throws -> [String] {
    await launcher.allEnded()
    return String(decoding: try readFile(data.temporary.file("report")), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  @Test func `a handler gets the whole message on its standard input and the URI as one argument`() async throws {
    let application = try install("handler --link %u")
    let uri = try URI("https://menu.example.com/$(touch%20x);'&id?a=*#!")
    let message = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let click = Launcher.Click(activationToken: "token-1", tapID: "tap")
    #expect(await launcher.open(application, uri, message: message, click: click).outcome == .delivered)
    let report = try await report()
    #expect(
      report == [
        "argument=--link", "argument=https://menu.example.com/$(touch%20x);'&id?a=*#!",
        "token=token-1 startup=token-1 notify=", "SigBlk:0000000000000000", "SigIgn:0", "leader",
        "directory=\(data.temporary.path)", "open=\(data.temporary.file("bin/handler"))",
        "open=\(data.temporary.file("report"))",
      ])
    #expect(try readFile(data.temporary.file("message")) == message)
  }

  /// Flatpak forwards an argument between `@@u` and `@@` into the sandbox if it is a file, and leaves a link unchanged
  /// (flatpak-run(1), `--file-forwarding`).
  @Test func `a Flatpak export gets the link between its markers and the message on standard input`() async throws {
    _ = try install("unused")
    rename(data.temporary.file("bin/handler"), data.temporary.file("bin/flatpak"))
    let exec =
      "Exec=\(data.temporary.file("bin/flatpak")) run --branch=stable --command=menu --file-forwarding org.example.Menu @@u %u @@"
    let file = try data.entry("org.example.Menu", in: "flatpak/exports/share", [exec, "X-Flatpak=org.example.Menu"])
    let scan = HandlerScan(
      DataDirectories(user: nil, system: [data.temporary.file("flatpak/exports/share")]),
      environment: data.environment)
    let application = try #require(scan.declarations.first?.application)
    #expect(application.file == file)
    #expect(
      await launcher.open(application, try URI("https://menu.example.com/7"), message: [1, 2]).outcome == .delivered)
    #expect(
      try await report().prefix(8) == [
        "argument=run", "argument=--branch=stable", "argument=--command=menu", "argument=--file-forwarding",
        "argument=org.example.Menu", "argument=@@u", "argument=https://menu.example.com/7", "argument=@@",
      ])
    #expect(try readFile(data.temporary.file("message")) == [1, 2])
  }

  @Test func `a default application gets only the URI, and no token meant for another program`() async throws {
    let application = try install("handler %u", ["Path=/"])
    let browser = Registry(declarations: [], defaults: ["https": application])
    let route = browser.route(for: "https://example.com/")
    #expect(await launcher.open(route, message: [1, 2, 3]).outcome == .delivered)
    let report = try await report()
    #expect(report.prefix(2) == ["argument=https://example.com/", "token= startup= notify="])
    #expect(report.contains("directory=/"))
    #expect(try readFile(data.temporary.file("message")).isEmpty)
  }

  private func installRecorder() throws -> Application {
    try data.temporary.write("#!/bin/sh\nenv > '\(data.temporary.path)/report'\n", to: "bin/environment", mode: 0o755)
    let file = try data.entry("handler", ["Exec=environment %u"])
    return Application(desktopID: "handler.desktop", name: "Handler", file: file, origin: .system)
  }

  @Test func `a handler has the data of the tag in its environment`() async throws {
    let application = try installRecorder()
    let click = Launcher.Click(tag: Self.tag)
    #expect(
      await launcher.open(application, try URI("https://example.com/"), message: [1], click: click).outcome
        == .delivered)
    #expect(
      try await report().filter { $0.hasPrefix("TAGROUTE_") }.sorted() == [
        "TAGROUTE_READER=/readers/0", "TAGROUTE_TECHNOLOGY=type-2", "TAGROUTE_TIME=7", "TAGROUTE_UID=04-A2",
      ])
  }

  @Test func `an app that gets the link alone gets no data of the tag`() async throws {
    let application = try installRecorder()
    let click = Launcher.Click(tag: Self.tag)
    #expect(
      await launcher.open(application, try URI("https://example.com/"), message: nil, click: click).outcome
        == .delivered)
    #expect(try await report().filter { $0.hasPrefix("TAGROUTE_") } == [])
  }

  @Test func `a started program inherits no variables that describe the agent`() async throws {
    let application = try installRecorder()
    #expect(await launcher.open(application, try URI("https://example.com/"), message: []).outcome == .delivered)
    let names = Set(try await report().compactMap { $0.split(separator: "=").first.map(String.init) })
    #expect(names.isDisjoint(with: Self.ours), "\(names)")
    #expect(names.isSuperset(of: ["HOME", "JOURNAL_STREAM", "PATH"]))
  }

  @Test(arguments: ["handler", "handler %f", "handler %F"])
  func `a program that takes no link is started only with a message`(exec: String) async throws {
    let application = try install(exec)
    let uri = try URI("https://example.com/")
    let failure = try #require(await launcher.open(application, uri, message: nil).outcome.failure, "it was delivered")
    #expect(failure.code == .entryUnusable)
    #expect(failure.description == "\(application.file):5: Exec takes no link: it has neither %u nor %U")
    #expect(await launcher.open(application, uri, message: [1]).outcome == .delivered)
    #expect(try await report().first == "argument=")
    #expect(try readFile(data.temporary.file("message")) == [1])
  }

  @Test(
    arguments: [
      (
        ["Exec=surely-not-installed %u"], .programMissing,
        "org.example.Menu.desktop:5: the program of Exec is not installed"
      ),
      (
        ["Exec=Sources/../Packaging/test %u"], .programMissing,
        "org.example.Menu.desktop:5: the program of Exec is not installed"
      ),
      (
        ["Exec=menu \"%u\""], .entryUnusable,
        "org.example.Menu.desktop:5: Exec cannot be run: it has a field code inside quotes"
      ),
      (
        ["Exec=true", "Terminal=true"], .needsTerminal,
        "org.example.Menu.desktop: needs a terminal, which a tag does not open"
      ),
      (["Exec=true", "Path=/nonexistent"], .notStarted, "cannot start /usr/bin/true: No such file or directory"),
      (
        ["DBusActivatable=true"], .noCommand,
        "org.example.Menu.desktop: has no Exec, and the application cannot be reached over D-Bus"
      ),
    ] as [([String], HandOverFailure.Code, String)])
  func `a launch that is not possible fails with its reason`(
    lines: [String], code: HandOverFailure.Code, reason: String
  ) async throws {
    let file = try data.entry("org.example.Menu", lines)
    let application = Application(desktopID: "org.example.Menu.desktop", name: "Menu", file: file, origin: .system)
    let outcome = await launcher.open(application, try URI("https://example.com/"), message: []).outcome
    let failure = try #require(outcome.failure, "it was delivered")
    #expect(failure.code == code && failure.description.hasSuffix(reason), "\(failure)")
  }

  @Test func `an entry whose command changed since it was offered is not started`() async throws {
    let file = try data.entry("handler", ["Exec=true %u"])
    func offered(_ launch: String) -> Application {
      Application(desktopID: "handler.desktop", name: "Handler", file: file, origin: .user, launch: launch)
    }
    let uri = try URI("https://example.com/")
    #expect(await launcher.open(offered("true %u"), uri, message: []).outcome == .delivered)
    let changed = await launcher.open(offered("false %u"), uri, message: []).outcome
    #expect(changed.failure?.code == .entryChanged, "\(changed)")
  }

  @Test func `a missing entry and a refused route fail`() async throws {
    let gone = Application(desktopID: "gone.desktop", name: "", file: data.temporary.file("gone"), origin: .system)
    let uri = try URI("https://example.com/")
    #expect(await launcher.open(gone, uri, message: nil).outcome == .failed(HandOverFailure(.entryMissing, gone.file)))
    let refused = Registry().route(for: "javascript:1")
    #expect(
      await launcher.open(refused, message: []).outcome
        == .failed(HandOverFailure(.nowhere, "javascript links are never opened from a tag")))
  }

  @Test func `starting a program that cannot be executed throws an error`() async throws {
    let program = try data.temporary.write("\u{7F}ELF nonsense", to: "bin/nonsense", mode: 0o755)
    let process = DetachedProcess(
      program: program, arguments: ["nonsense"], environment: [:], workingDirectory: "/", input: nil)
    #expect(throws: SystemError.self) { try process.start() }
  }

  @Test func `every child process is reaped`() async throws {
    let reaper = ChildReaper(on: EventLoop(label: "test"))
    let process = DetachedProcess(
      program: "/bin/true", arguments: ["true"], environment: [:], workingDirectory: "/", input: [])
    let children = try (0..<20).map { _ in try process.start() }
    for child in children { await reaper.adopt(child, atEnd: { _ in }) }
    await reaper.allEnded()
    for child in children { #expect(waitpid(child, nil, WNOHANG) == -1 && errno == ECHILD) }
  }
}

/// A started program gets a scope from the user's systemd. It is started even if systemd refuses or hangs.
@Suite(.timeLimit(.minutes(5))) struct ApplicationScopeTests {
  private let bus: PrivateBus
  private let data: DataDirectory
  private let launcher: Launcher
  private let lines: AsyncStream<String>
  private let uri: URI

  init() async throws {
    bus = try await PrivateBus.start()
    data = try DataDirectory()
    uri = try URI("https://menu.example.com/7")
    let loop = EventLoop(label: "test")
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    self.lines = lines
    launcher = Launcher(
      connection: try await Connection.open(BusAddress(bus.address), on: loop), environment: data.environment, on: loop
    ) { line.yield($0) }
  }

  /// Installs a program that writes its process id and its input to a FIFO, each on one line.
  private func install() throws -> Application {
    let output = data.temporary.file("output")
    #expect(mkfifo(output, 0o600) == 0)
    try data.temporary.write("#!/bin/sh\n(echo $$; cat) > '\(output)'\n", to: "bin/my-menu", mode: 0o755)
    let file = try data.entry("my-menu", ["Exec=my-menu %u"])
    return Application(desktopID: "my-menu.desktop", name: "My\nMenu", file: file, origin: .system)
  }

  /// The output of the program, after it has ended.
  private func output() async throws -> (process: UInt32, input: String) {
    let (_, printed, _) = try await ChildProcess.run("/bin/cat", [data.temporary.file("output")])
    let parts = printed.split(separator: "\n").map(String.init)
    return (try #require(parts.first.flatMap { UInt32($0) }), parts.count > 1 ? parts[1] : "")
  }

  @Test func `the scope has the application's name and process, and ends with the process`() async throws {
    let systemd = try await SystemdStandIn.start(on: bus.address)
    let application = try install()
    #expect(await launcher.open(application, uri, message: Array("message".utf8)).outcome == .delivered)
    let (process, input) = try await output()
    #expect(input == "message")
    let unit = try #require(await systemd.next())
    #expect(unit.name.wholeMatch(of: /app-tagroute-my\\x2dmenu-[0-9a-f]{1,8}\.scope/) != nil, "\(unit.name)")
    #expect(unit.mode == "fail")
    #expect(
      unit.properties == [
        "Description": .string("My Menu"), "PIDs": .array(element: "u", [.uint32(process)]),
        "Slice": .string("app.slice"), "CollectMode": .string("inactive-or-failed"),
        "SourcePath": .string(application.file),
      ])
    await launcher.allEnded()
    #expect(kill(pid_t(process), 0) == -1 && errno == ESRCH)
  }

  @Test func `if systemd refuses the scope, the program still runs and the log says so`() async throws {
    let systemd = try await SystemdStandIn.start(on: bus.address, .refuses)
    #expect(await launcher.open(try install(), uri, message: Array("message".utf8)).outcome == .delivered)
    #expect(try await output().input == "message")
    #expect(await systemd.next() != nil)
    #expect(
      await lines.first { _ in true }
        == "my-menu has no scope of its own: systemd said org.freedesktop.systemd1.UnitExists")
  }

  @Test func `a launch does not wait for systemd, and the process id is reserved until systemd replies`() async throws {
    let systemd = try await SystemdStandIn.start(on: bus.address, .hangs)
    #expect(await launcher.open(try install(), uri, message: Array("message".utf8)).outcome == .delivered)
    let (process, input) = try await output()
    #expect(input == "message")
    #expect(await systemd.next() != nil)
    // The program has ended, and its exit status has not been collected yet.
    let hasEnded = try await DedicatedThread.run {
      var information = siginfo_t()
      return waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == 0
    }
    #expect(hasEnded)
    await systemd.answer()
    await launcher.allEnded()
    #expect(kill(pid_t(process), 0) == -1 && errno == ESRCH)
  }

  @Test func `without systemd a launch logs no message and activates no service file`() async throws {
    try data.temporary.write(
      "[D-BUS Service]\nName=org.freedesktop.systemd1\nExec=/bin/sh -c 'touch \(data.temporary.file("started"))'\n",
      to: "systemd.service")
    #expect(
      symlink(data.temporary.file("systemd.service"), "\(bus.servicesDirectory)/org.freedesktop.systemd1.service") == 0)
    try await bus.restart()
    let loop = EventLoop(label: "test")
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let launcher = Launcher(
      connection: try await Connection.open(BusAddress(bus.address), on: loop), environment: data.environment, on: loop
    ) { line.yield($0) }
    #expect(await launcher.open(try install(), uri, message: Array("message".utf8)).outcome == .delivered)
    #expect(try await output().input == "message")
    await launcher.allEnded()
    line.finish()
    #expect(await lines.first { _ in true } == nil)
    #expect(access(data.temporary.file("started"), F_OK) != 0)
  }

  @Test func `an id is escaped as by systemd, and a long name is cut between two escapes`() async throws {
    let ids = ["org.example.Menu", "my-app", ".hidden", "a/b:c_d", "Ünïcode app", "\\x2d", "a\u{1}\u{7F}%%"]
    let systemd = try BuiltProducts.systemProgram("systemd-escape", package: "systemd")
    let (_, printed, _) = try await ChildProcess.run(systemd, ["--"] + ids)
    // It separates the names by spaces, which no escaped name has.
    #expect(
      ids.map { ApplicationScope.name(of: "\($0).desktop", random: 255) }
        == printed.split(whereSeparator: \.isWhitespace).map { "app-tagroute-\($0)-ff.scope" })
    let long = ApplicationScope.name(of: String(repeating: "é", count: 500), random: .max)
    #expect(long.utf8.count <= 255 && long.wholeMatch(of: /app-tagroute-(\\x[0-9a-f]{2})+-ffffffff\.scope/) != nil)
  }
}
