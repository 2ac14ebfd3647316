import Bus
import Glibc
import NDEF
import TestKit
import Testing

/// The content of a tag stays between the tag, the agent and the app: no log and no signal contains it.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PrivacyTests {
  /// Content of the tags that no log and no signal may contain.
  private static let secrets = ["s3cret", "menu.example.com", "04c0ffee", "04 c0 ff ee", "192, 255, 238"]

  private static func tag(_ number: Int, type: Int, uri: String) throws -> (command: String, message: [UInt8]) {
    let message = try NDEFMessage(
      records: NDEFMessage.uri(uri).records + [TextRecord("s3cret words", language: "en").record()]
    ).encoded()
    return ("--type \(type) --uid 04c0ffee00000\(number)", message)
  }

  private static let tags = [
    (2, "https://menu.example.com/table/s3cret"), (4, "https://menu.example.com/s3cret"),
    (2, "https://s3cret@menu.example.com/table"), (2, "javascript:s3cret()"), (4, "https://s3cret.example.net/"),
  ]

  @Test func `no log and no signal contains the content of a tag`() async throws {
    let desktop = try await Desktop(log: "info")
    let monitors = [try await monitor(desktop.systemBus), try await monitor(desktop.sessionBus)]
    let server = try await desktop.startWithServer()
    let (daemon, agent) = (try await desktop.daemon, try await desktop.agent)
    for (number, (type, uri)) in Self.tags.enumerated() {
      let (command, message) = try Self.tag(number, type: type, uri: uri)
      let file = try desktop.installation.directory.write(message, to: "tag\(number)")
      let seen = await agent.log().count
      try await desktop.installation.simulate("tap --ndef \(file) \(command)")
      let line = try await agent.line(after: seen) { $0.contains(" offered") }
      guard !line.contains("is not offered: ") else { continue }
      let shown = try await server.nextTap()
      #expect(shown.body.hasPrefix(line.contains("is offered") ? "menu.example.com/" : "s3cret.example.net"))
      // The first tap is handed over and the others stay. A killed reader process and a killed agent could then log
      // content.
      if number == 0 {
        try await server.click(shown)
        #expect(try await desktop.handed().message == message)
      }
    }
    try await kill(desktop.reader, in: daemon)
    try await agent.exit(after: SIGKILL)
    try await desktop.installation.startAgent()
    #expect(try await server.nextTap().body == "menu.example.com/s3cret")
    #expect(try await server.nextTap().body == "s3cret.example.net")
    for command in ["status", "handlers"] { _ = try await desktop.installation.tagroute(command, "--json") }

    let after = try await desktop.agent
    for process in [daemon, agent, after] {
      let log = await process.log()
      #expect(!log.isEmpty)
      #expect(Self.telling(log).isEmpty, "\(process.name)")
    }
    // The monitors have seen signals of Tagroute on both buses.
    try await monitors[0].line(containing: "interface=org.freedesktop.DBus.Properties; member=PropertiesChanged")
    try await monitors[1].line(containing: "interface=org.tagroute.Agent1; member=TapReceived")
    try await monitors[1].line(containing: "interface=org.tagroute.Agent1; member=TapClosed")
    for monitor in monitors { #expect(Self.telling(await monitor.log()).isEmpty) }
  }

  /// The lines with content that can only come from a tag.
  private static func telling(_ lines: [String]) -> [String] {
    lines.filter { line in secrets.contains { line.lowercased().contains($0) } }
  }

  /// Starts a monitor that prints every signal on a bus.
  private func monitor(_ address: BusAddress) async throws -> ChildProcess {
    let program = try BuiltProducts.systemProgram("dbus-monitor", package: "dbus-bin")
    let process = try ChildProcess(program, ["--address", address.description, "type='signal'"])
    try await process.line(containing: "member=NameLost")
    return process
  }

  private func kill(_ reader: ForeignProcess, in daemon: ChildProcess) async throws {
    let seen = await daemon.log().count
    reader.signal(SIGKILL)
    try await daemon.line(containing: "is ignored until it is removed", after: seen)
  }
}

/// Compares docs/privacy.md with the files that Tagroute stores for a user.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PrivacyPageTests {
  /// All files and folders below a folder, with their modes. Does not follow links.
  private static func modes(below folder: String) -> [String: mode_t] {
    var modes: [String: mode_t] = [:]
    for name in fileNames(in: folder) ?? [] {
      var information = stat()
      guard lstat("\(folder)/\(name)", &information) == 0 else { continue }
      modes["\(folder)/\(name)"] = information.st_mode
      if information.st_mode & S_IFMT == S_IFDIR { modes.merge(Self.modes(below: "\(folder)/\(name)")) { $1 } }
    }
    return modes
  }

  /// The user has one tap in the inbox, one on the screen, and stored choices.
  @Test func `no other user can read the stored files, and the commands of the page delete them`() async throws {
    let desktop = try await Desktop(isSystems: false)
    let server = try await desktop.startWithServer()
    try await desktop.place(Tag(1))
    let shown = try await desktop.notification(on: server)
    try await server.click(shown, action: shown.actions.contains("allow") ? "allow" : "open")
    _ = try await desktop.handed()
    try await desktop.agent.line(containing: "was handed to")
    for command in [
      ["handlers", "prefer", HandlerStandIn.desktopID, "menu.example.com"],
      ["handlers", "block", "other.desktop", "menu.example.com"],
    ] { #expect(try await desktop.installation.tagroute(command).status == .exited(0)) }
    try await desktop.remove()
    try await desktop.place(Tag(2))
    _ = try await desktop.notification(on: server)
    let directory = desktop.installation.directory
    let modes = Self.modes(below: directory.file("state")).merging(Self.modes(below: directory.file("config"))) { $1 }
    for name in [
      "state/tagroute/inbox.sqlite", "state/tagroute/inbox.sqlite-wal", "state/tagroute/inbox.sqlite-shm",
      "config/tagroute/handlers.conf", "config/intentapps.list",
    ] { #expect(modes[directory.file(name)] != nil, "\(name) in \(modes.keys.sorted())") }
    for (path, mode) in modes { #expect(mode & 0o777 == (mode & S_IFMT == S_IFDIR ? 0o700 : 0o600), "\(path)") }

    let list = directory.file("config/intentapps.list")
    let others = "\n[Default Applications]\norg.freedesktop.Terminal1=org.example.Terminal.desktop;\n"
    try directory.write(try readFile(list) + others.utf8, to: "config/intentapps.list", mode: 0o600)
    try directory.write("[Inbox]\n", to: "config/tagroute/agent.conf")
    try directory.write("", to: "home/.local/empty")
    // Stops the agent, as systemd does for the second command of the page.
    let agent = try await desktop.agent
    try directory.write(
      "#!/bin/sh\n[ \"$*\" = '--user stop tagroute-agent' ] || exit 1\n/bin/kill \(agent.identifier)\n"
        + "exec tail --pid=\(agent.identifier) -f /dev/null\n",
      to: "bin/systemctl", mode: 0o755)
    for (path, target) in [
      ("bin/tagroute", try BuiltProducts.program("tagroute")), ("home/.config", directory.file("config")),
      ("home/.local/state", directory.file("state")),
    ] { try #require(symlink(target, directory.file(path)) == 0, "\(path)") }
    var environment = desktop.installation.environment
    environment["PATH"] = "\(directory.file("bin")):/usr/bin:/bin"

    let page = try DocumentationPage("docs/privacy.md")
    let commands = try #require(try page.texts("sh", of: "Deleting it all").first)
    let (status, _, log) = try await ChildProcess.run(
      "/bin/sh", ["-eu", "-c", commands], environment: environment)
    #expect(status == .exited(0), "\(log)")

    let left = Self.modes(below: directory.file("state")).merging(Self.modes(below: directory.file("config"))) { $1 }
    #expect(left.keys.sorted() == [list])
    let rest = String(decoding: try readFile(list), as: UTF8.self)
    #expect(!rest.contains("tagroute") && !rest.contains("example.com"), "\(rest)")
    #expect(rest.contains("org.freedesktop.Terminal1=org.example.Terminal.desktop;"))
    #expect(try await agent.exit() == .exited(0))
  }
}
