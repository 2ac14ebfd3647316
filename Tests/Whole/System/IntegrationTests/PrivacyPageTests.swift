import Glibc
import TestKit
import Testing

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

    let page = String(decoding: try readFile("\(repositoryRoot)/docs/privacy.md"), as: UTF8.self)
    let commands = try #require(page.split(separator: "```sh\n").dropFirst().first?.split(separator: "```").first)
    let (status, _, log) = try await ChildProcess.run(
      "/bin/sh", ["-eu", "-c", String(commands)], environment: environment)
    #expect(status == .exited(0), "\(log)")

    let left = Self.modes(below: directory.file("state")).merging(Self.modes(below: directory.file("config"))) { $1 }
    #expect(left.keys.sorted() == [list])
    let rest = String(decoding: try readFile(list), as: UTF8.self)
    #expect(!rest.contains("tagroute") && !rest.contains("example.com"), "\(rest)")
    #expect(rest.contains("org.freedesktop.Terminal1=org.example.Terminal.desktop;"))
    #expect(try await agent.exit() == .exited(0))
  }
}
