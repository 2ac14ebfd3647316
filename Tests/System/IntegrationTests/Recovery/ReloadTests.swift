import Bus
import EventLoop
import Glibc
import NDEF
import Names
import TagrouteClient
import TestRig
import Testing

/// Changes the configuration of running programs, with a reader, a tag and an app.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReloadTests {
  private static let isRead = "the configuration was read again: "

  @Test func `the daemon keeps its configuration if the file has an error, and reloads the fixed file`() async throws {
    let (desktop, server) = try await Desktop.started()
    let (daemon, reader) = (try await desktop.daemon, try await desktop.reader)
    let directory = desktop.installation.directory
    let good = String(decoding: try readFile(directory.file("tagroute.conf")), as: UTF8.self)

    // A tag rests while the configuration changes.
    try await desktop.place(Tag(1))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(1)))
    try directory.write(good + "[Tags]\nSmartPosters=perhaps\n", to: "tagroute.conf")
    daemon.signal(SIGHUP)
    try await daemon.line(containing: "until then the previous configuration stays in force")
    try await desktop.status { $0.configurationError.contains("perhaps") }
    #expect(try await output(desktop, "status").contains("the previous one stays in force"))
    #expect(try await output(desktop, "doctor").contains("tagrouted uses the previous configuration"))

    try directory.write(good.replacing("[Reader]\n", with: "[Reader]\nTechnologies=type-2\n"), to: "tagroute.conf")
    daemon.signal(SIGHUP)
    try await daemon.line(containing: Self.isRead + "changed: Technologies")
    try await desktop.status { $0.configurationError.isEmpty && $0.scanning }
    // The resting tag was announced before. The same reader process ignores a tag of an unwanted type and reads the
    // next tag.
    try await desktop.remove()
    try await desktop.place(Tag(2, type: 4))
    try await daemon.line(containing: "is ignored: type-4a is not configured")
    try await desktop.place(Tag(3))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(3)))
    #expect(!reader.isGone)
  }

  @Test func `readers are added and removed with the configuration`() async throws {
    let (desktop, server) = try await Desktop.started()
    let (daemon, first) = (try await desktop.daemon, try await desktop.reader)
    let places = try Places(desktop)
    let second = try await places.startReader("second")
    let third = try await places.startReader("third")
    try await desktop.status(\.scanning)

    // A tag that lies on an added reader was not announced before, so it is announced at the first attempt.
    try await places.place(Tag(1), on: second)
    try await places.name(["reader", "second"])
    #expect(try await desktop.notification(on: server).body == Tag.text(1))
    let two = try await places.readers(["reader", "second"])
    #expect(two["reader"] == "\(Names.Daemon.readersPath)/0")
    try await places.place(Tag(2), on: second)
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    #expect(await server.all.map(\.body) == [1, 2].map(Tag.text))
    try await desktop.place(Tag(3))
    #expect(try await desktop.notification(on: server).body == Tag.text(3))

    // One reader replaces another, while tags rest on both.
    let leaving = try #require(try daemon.children().first { $0.identifier != first.identifier })
    try await places.name(["reader", "third"])
    try await leaving.end()
    #expect(try await places.answer(of: second, "counters").contains("field=off"))
    let changed = try await places.readers(["reader", "third"])
    #expect(changed["reader"] == two["reader"] && changed["third"] != two["second"])
    try await places.place(Tag(4), on: third)
    #expect(try await desktop.notification(on: server).body == Tag.text(4))
    #expect(!first.isGone)

    // The first reader is removed as well.
    try await places.name(["third"])
    try await first.end()
    #expect(try await places.answer(of: try await desktop.simulator, "counters").contains("field=off"))
    #expect(try await places.readers(["third"]) == ["third": changed["third"]])
    try await places.remove(from: third)
    try await places.place(Tag(5), on: third)
    #expect(try await desktop.notification(on: server).body == Tag.text(5))
    // No tag was announced twice.
    #expect(await server.all.map(\.body) == [1, 2, 3, 4, 5].map(Tag.text))
    for reader in [second, third] { reader.signal(SIGTERM) }
  }

  @Test func `the agent reports that it does not use the new configuration`() async throws {
    let desktop = try await Desktop()
    try await desktop.start()
    let (agent, directory) = (try await desktop.agent, desktop.installation.directory)
    try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    agent.signal(SIGHUP)
    try await agent.line(containing: "until then the previous configuration stays in force")
    // The file is fixed, but the agent has not reloaded it.
    try directory.write("[Inbox]\nInbox=off\n", to: "agent.conf")
    #expect(
      try await output(desktop, "doctor").contains(
        "tagroute-agent uses the previous configuration, because the new one has an error:"))
    #expect(try await output(desktop, "status").contains("agent.conf:2: "))
    agent.signal(SIGHUP)
    try await agent.line(containing: Self.isRead + "new are Inbox")
    #expect(try await !output(desktop, "doctor").contains("uses the previous configuration"))
    #expect(try await !output(desktop, "status").contains("agent.conf"))
  }

  /// Several readers, each with its own simulator.
  private struct Places {
    private let desktop: Desktop
    private let configuration: String

    init(_ desktop: Desktop) throws {
      self.desktop = desktop
      let file = desktop.installation.directory.file("tagroute.conf")
      configuration = String(decoding: try readFile(file), as: UTF8.self)
    }

    private func device(_ name: String) -> String { "pn532_uart:\(desktop.installation.directory.file(name))" }

    func startReader(_ name: String) async throws -> ChildProcess {
      let reader = try await desktop.installation.start(
        "tagroute-simulator", ["--link", desktop.installation.directory.file(name), "--timing", "fast"], input: true)
      try await reader.line(containing: "ready")
      return reader
    }

    /// Configures these readers, and waits until the daemon has reloaded.
    func name(_ names: [String]) async throws {
      let daemon = try await desktop.daemon
      let seen = await daemon.log().count
      try desktop.installation.directory.write(
        configuration.replacing(device("reader"), with: names.map(device).joined(separator: ";")),
        to: "tagroute.conf")
      daemon.signal(SIGHUP)
      try await daemon.line(containing: ReloadTests.isRead + "changed: Devices", after: seen)
    }

    /// Waits until the daemon has exactly these readers and all of them scan. Returns their object paths.
    func readers(_ names: [String]) async throws -> [String: String] {
      let devices = names.map(device)
      try await desktop.status { status in
        status.readers.map(\.device) == devices && status.readers.allSatisfy { $0.state == "scanning" }
      }
      let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "test-client"))
      let paths = try await client.status().readers.map(\.path)
      return Dictionary(uniqueKeysWithValues: zip(names, paths))
    }

    func place(_ tag: Tag, on reader: ChildProcess) async throws {
      let file = try desktop.installation.directory.write(tag.message, to: "tags/\(tag.uid).ndef")
      _ = try await answer(of: reader, "tap --type \(tag.type) --ndef \(file) --uid \(tag.uid)")
    }

    func remove(from reader: ChildProcess) async throws {
      let daemon = try await desktop.daemon
      let seen = await daemon.log().count
      _ = try await answer(of: reader, "remove")
      try await daemon.line(containing: Desktop.tagAway, after: seen)
    }

    func answer(of reader: ChildProcess, _ command: String) async throws -> String {
      let seen = await reader.log().count
      try await reader.send(command)
      let answer = try await reader.line(after: seen) { $0.hasPrefix("ok") || $0.hasPrefix("error") }
      try #require(answer.hasPrefix("ok"), "\(answer)")
      return answer
    }
  }

  private func output(_ desktop: Desktop, _ command: String) async throws -> String {
    let process = try await desktop.installation.start("tagroute", [command])
    try await process.exit()
    return await process.standardOutput()
  }
}
