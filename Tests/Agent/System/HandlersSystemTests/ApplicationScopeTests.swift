import Bus
import EventLoop
import Glibc
import Routing
import TestKit
import Testing
import UniversalLinks

@testable import HandlersTests

@testable import Handlers

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
        == "my-menu.desktop has no scope of its own: systemd said org.freedesktop.systemd1.UnitExists")
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
