import Bus
import EventLoop
import Glibc
import NDEF
import TestKit
import Testing

/// The example handlers. The bus starts each of them after a click on a tap.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct HandlerExampleTests {
  private static let folder =
    repositoryRoot + "/Examples/tag-handler"

  /// Builds an example if necessary. Returns its command line.
  private func build(_ language: String, in directory: TemporaryDirectory) async throws -> String {
    switch language {
    case "Swift": return try BuiltProducts.program("tag-handler")
    // The Python of Debian, which has python3-gi.
    case "Python": return "/usr/bin/python3 \(Self.folder)/handler.py"
    default:
      let program = directory.file("handler")
      let (status, _, log) = try await ChildProcess.run(
        "/bin/sh",
        [
          "-c", "cc -Wall -Wextra -Werror -Wno-unused-parameter -o \"$1\" \"$0\" $(pkg-config --cflags --libs gio-2.0)",
          "\(Self.folder)/handler.c", program,
        ])
      #expect(status == .exited(0), "\(log)")
      return program
    }
  }

  @Test(arguments: ["Swift", "Python", "C"]) func `an example handler prints the records of a clicked tag`(
    language: String
  ) async throws {
    let desktop = try await Desktop(starter: "`an example handler prints the records of a clicked tag`_\(language)")
    let directory = desktop.installation.directory
    let id = "org.example.\(language)Handler"
    let entry = try readFile("\(Self.folder)/\(id).desktop")
    try directory.write(entry, to: "share/applications/\(id).desktop")
    let command = try await build(language, in: directory)
    let output = directory.file("output")
    #expect(mkfifo(output, 0o600) == 0)
    let script = try directory.write("#!/bin/sh\nexec \(command) > '\(output)'\n", to: "start", mode: 0o755)
    let bus = try #require(desktop.installation.sessionBus)
    let installed = String(decoding: try readFile("\(Self.folder)/\(id).service"), as: UTF8.self)
    let program = "/usr/local/libexec/\(language.lowercased())-handler"
    try #require(installed.contains("Exec=\(program)\n"))
    let service = try directory.write(installed.replacing(program, with: script), to: "\(id).service")
    #expect(symlink(service, "\(bus.servicesDirectory)/\(id).service") == 0)
    let client = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "test-client"))
    _ = try await client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    let server = try await desktop.startWithServer()

    let link = "https://\(language.lowercased()).example.com/7"
    let printed = try ChildProcess("/bin/cat", [output], environment: [:], starter: "\(#function)_\(language)")
    try await desktop.place(Tag(1, uri: link, others: [.wellKnown("T", payload: Array("\u{2}en\u{1B}[31m".utf8))]))
    let shown = try await desktop.notification(on: server)
    // If the tests do not run as root, the entry is not installed by the system, and the agent asks the user.
    try await server.click(shown, action: shown.actions.contains("allow") ? "allow" : "open")
    try await printed.line(containing: "record 2")
    let lines = await printed.log()
    #expect(
      lines == [
        "link: \(link)", "tag: 04-00-00-00-00-00-01 type-2",
        "record 1: 1 U: .\(language.lowercased()).example.com/7", "record 2: 1 T: .en.[31m",
      ])
    try await desktop.agent.line(containing: "was handed to \(id)")
    printed.signal(SIGKILL)
  }
}

/// The examples with the real daemon and a simulated transit card, which returns at most 12 blocks at once.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TransitCardTests {
  @Test(arguments: ["swift", "python"]) func `the history of a card is printed`(language: String) async throws {
    let (desktop, _) = try await Desktop.scanning(starter: "`the history of a card is printed`_\(language)")
    try await desktop.installation.simulate("tap --type transit")
    let script = repositoryRoot + "/Examples/suica.py"
    let process =
      language == "swift"
      ? try await desktop.installation.start("suica")
      : try await desktop.installation.start("/usr/bin/python3", [script])
    let status = try await process.exit()
    let log = await process.log()
    #expect(status == .exited(0), "\(log)")
    #expect(log.count == 20)
    #expect(log.first == "2024-11-28  E30F → E310  ¥1000")
    #expect(log.last == "2024-11-09  E322 → E323  ¥4990")
  }
}
