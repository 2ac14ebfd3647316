import EventLoop
import Glibc
import Routing
import TestKit
import Testing
import UniversalLinks

@testable import Handlers
@testable import HandlersTests

/// Programs of rules that are missing, hang or fail.
@Suite(.timeLimit(.minutes(5))) struct RuleCommandTests {
  private let data: DataDirectory
  private let launcher: Launcher

  init() throws {
    data = try DataDirectory()
    launcher = Launcher(
      connection: nil, settling: .zero, environment: data.environment, on: EventLoop(label: "test"))
  }

  private func command(_ program: String) throws -> TapCommand {
    let file = RuleFile(Array("[Rule a]\nText=a\nRun=\(program);\n".utf8), file: "f", origin: .user)
    let rule = try #require(file.rules.first, "\(file.problems)")
    return try #require(TapCommand(rule, uri: nil))
  }

  private func install(_ name: String, _ script: String, mode: UInt32 = 0o755) throws -> String {
    try data.temporary.write(script, to: "bin/\(name)", mode: mode)
  }

  private func report() throws -> String {
    String(decoding: try readFile(data.temporary.file("report")), as: UTF8.self)
  }

  private func fails(_ program: String) async throws -> HandOverFailure.Code? {
    await launcher.run(try command(program), message: [1]).outcome.failure?.code
  }

  @Test func `a program that does not exist or cannot be run fails with its reason`() async throws {
    let folder = data.temporary.path
    let plain = try install("plain", "#!/bin/sh\n", mode: 0o644)
    try #require(mkdir("\(folder)/bin/folder", 0o755) == 0 && mkfifo("\(folder)/bin/pipe", 0o755) == 0)
    try #require(symlink("\(folder)/nowhere", "\(folder)/bin/dangling") == 0)
    try #require(symlink("loop", "\(folder)/bin/loop") == 0)
    for program in [
      "surely-not-installed", "\(folder)/nowhere", "\(folder)/nowhere/below", "/", "folder", "\(folder)/bin/folder",
      "pipe", "dangling", "loop", "\(plain)/below", "/dev/null", String(repeating: "a", count: 1000),
    ] {
      #expect(try await fails(program) == .commandMissing, "\(program)")
    }
    // root may execute a file only if the file has an execute bit.
    #expect(try await fails(plain) == .commandMissing)
    #expect(try await fails(try install("interpreter", "#!/nonexistent/interpreter\n")) == .notStarted)
    // A shell would run the last two as scripts.
    for contents in ["\u{7F}ELF nonsense", "", "touch '\(folder)/mark'\n"] {
      #expect(try await fails(try install("nonsense", contents)) == .notStarted, "\(contents)")
    }
    #expect(access("\(folder)/mark", F_OK) != 0)
    #expect(await launcher.run(try command("true"), message: []).outcome == .delivered)
    await launcher.allEnded()
  }

  @Test func `a rule whose programs do not end starts no more of them`() async throws {
    let gate = data.temporary.file("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    let end = open(gate, O_RDWR | O_CLOEXEC)
    try #require(end >= 0)
    defer { close(end) }
    _ = try install("hangs", "#!/bin/sh\nread line < '\(gate)'\n")
    for _ in 0..<RunningCommands.mostOfOwner { #expect(try await fails("hangs") == nil) }
    #expect(try await fails("hangs") == .tooManyPrograms)
    let line = [UInt8](repeating: 0x0A, count: RunningCommands.mostOfOwner)
    #expect(write(end, line, line.count) == line.count)
    await launcher.allEnded()
    #expect(try await fails("true") == nil)
    await launcher.allEnded()
  }

  @Test func `an app whose programs do not end is started no more without a click`() async throws {
    let gate = data.temporary.file("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    let end = open(gate, O_RDWR | O_CLOEXEC)
    try #require(end >= 0)
    defer { close(end) }
    _ = try install("hangs", "#!/bin/sh\nread line < '\(gate)'\n")
    let file = try data.entry("viewer", ["Exec=hangs %u"])
    let viewer = Application(desktopID: "viewer.desktop", name: "Viewer", file: file, origin: .system)
    let uri = try URI("https://example.com/")
    func failure(isByUser: Bool) async -> HandOverFailure? {
      let click = Launcher.Click(isByUser: isByUser)
      return await launcher.open(viewer, uri, message: nil, click: click).outcome.failure
    }
    for _ in 0..<RunningCommands.mostOfOwner { #expect(await failure(isByUser: false) == nil) }
    let refused = await failure(isByUser: false)
    #expect(refused?.code == .tooManyPrograms)
    #expect(refused?.description == "\(file): 16 programs of this app still run, so no other one is started")
    #expect(await failure(isByUser: true) == nil)
    let lines = [UInt8](repeating: 0x0A, count: RunningCommands.mostOfOwner + 1)
    #expect(write(end, lines, lines.count) == lines.count)
    await launcher.allEnded()
    // An entry that cannot be started takes no place.
    let missing = Application(
      desktopID: "viewer.desktop", name: "Viewer", file: data.temporary.file("none"), origin: .system)
    for _ in 0...RunningCommands.mostOfOwner {
      let outcome = await launcher.open(missing, uri, message: nil, click: Launcher.Click(isByUser: false)).outcome
      #expect(outcome.failure?.code == .entryMissing)
    }
    #expect(write(end, lines, 1) == 1)
    #expect(await failure(isByUser: false) == nil)
    await launcher.allEnded()
  }

  @Test func `a program that hangs does not keep the next one back`() async throws {
    let folder = data.temporary.path
    let gate = data.temporary.file("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    // Open for both, so that neither side waits for the other one to open it.
    let end = open(gate, O_RDWR | O_CLOEXEC)
    try #require(end >= 0)
    defer { close(end) }
    // It neither reads its input nor ends.
    _ = try install("hangs", "#!/bin/sh\nread line < '\(gate)'\necho ended >> '\(folder)/report'\n")
    let message = [UInt8](repeating: 1, count: 1 << 20)
    for _ in 0..<8 { #expect(await launcher.run(try command("hangs"), message: message).outcome == .delivered) }

    let pipe = data.temporary.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    _ = try install("next", "#!/bin/sh\nexec cat > '\(pipe)'\n")
    #expect(await launcher.run(try command("next"), message: [1, 2, 3]).outcome == .delivered)
    let read = try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
    #expect(read == [1, 2, 3])
    #expect(access(data.temporary.file("report"), F_OK) != 0, "it has not hung")

    let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 8)
    #expect(write(end, lines, lines.count) == lines.count)
    await launcher.allEnded()
    #expect(try report() == String(repeating: "ended\n", count: 8))
  }

  @Test(arguments: [
    ("exit 0", nil), ("exec <&-; exit 1", "ended with status 1"), ("exit 255", "ended with status 255"),
    ("exit 126", "ended with status 126, with which a shell reports a command that cannot be executed"),
    ("exit 127", "ended with status 127, with which a shell reports a missing command"),
    ("kill -KILL $$", "was killed by signal 9"), ("kill -TERM $$", nil),
  ])
  func `a program that ends with an error has failed`(script: String, failure: String?) async throws {
    let path = try install("p", "#!/bin/sh\n\(script)\n")
    let message = [UInt8](repeating: 1, count: 1 << 20)
    let patient = Launcher(
      connection: nil, settling: .seconds(240), environment: data.environment, on: EventLoop(label: "patient"))
    let ended = await patient.run(try command(path), message: message)
    let expected = failure.map { HandOverOutcome.failed(HandOverFailure(.commandFailed, "\(path) \($0)")) }
    #expect(ended.answer == nil && ended.outcome == expected ?? .delivered)

    // The same program, while the hand-over does not wait for it.
    let gate = data.temporary.file("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    _ = try install("p", "#!/bin/sh\nread line < '\(gate)'\n\(script)\n")
    let hasty = Launcher(connection: nil, settling: .zero, environment: data.environment, on: EventLoop(label: "hasty"))
    let started = await hasty.run(try command(path), message: message)
    #expect(started.outcome == .delivered)
    let file = try FileDescriptor(owning: await DedicatedThread.run { open(gate, O_WRONLY | O_CLOEXEC) })
    #expect(write(file.rawValue, "\n", 1) == 1)
    #expect(await started.answer?.outcome == expected ?? .delivered)
  }
}

@Suite(.timeLimit(.minutes(5))) struct RuleWatchTests {
  private static let rule = "[Rule a]\nUID=04-A2-19-5A\nShow=yes\n"
  private static let file = "config/tagroute/rules.d/a.conf"
  private let directory: TemporaryDirectory
  private let files: RuleFiles

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("", to: "config/tagroute/rules.d/.keep")
    files = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("config")], system: directory.file("etc"))
  }

  @Test func `changes are seen at once`() async throws {
    let loop = EventLoop(label: "rules")
    let store = RuleStore(
      files: files, directories: DataDirectories(user: nil, system: []), environment: [:], settling: .milliseconds(1),
      on: loop)
    await store.start()
    #expect(await store.rules.rules.isEmpty)
    let changes = await store.changes()
    try directory.write(Self.rule, to: Self.file)
    for await _ in changes where await store.rules.rules.map(\.name) == ["a"] { break }
    try directory.write("[Rule b]\nText=a\nnonsense\n", to: Self.file)
    for await _ in changes {
      let (rules, problems) = (await store.rules.rules, await store.problems)
      if rules.isEmpty && !problems.isEmpty { break }
    }
    try #require(unlink(directory.file(Self.file)) == 0)
    for await _ in changes where await store.problems.isEmpty { break }
  }

  @Test func `a directory that appears later is seen`() async throws {
    let loop = EventLoop(label: "rules")
    let later = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("later")], system: directory.file("none"))
    let store = RuleStore(
      files: later, directories: DataDirectories(user: nil, system: []), environment: [:], settling: .milliseconds(1),
      on: loop)
    await store.start()
    let changes = await store.changes()
    try directory.write(Self.rule, to: "later/tagroute/rules.d/a.conf")
    for await _ in changes where await store.rules.rules.map(\.name) == ["a"] { break }
  }
}
