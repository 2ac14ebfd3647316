import Bus
import Glibc
import NDEF
import TestKit
import Testing

@testable import IntegrationTests

/// Runs the commands of docs/handlers.md exactly as printed, in a session with an agent.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct HandlerPageTests {
  /// Time to build a package with its dependencies while other tests run.
  private static let patience = Duration.seconds(600)
  private static func blocks(_ kind: String, of section: String) throws -> [String] {
    try DocumentationPage("docs/handlers.md").texts(kind, of: section)
  }

  /// Prepares a home with the built programs, and with the sources at the path that the page uses. The session bus
  /// reads its services from this home.
  private func shell(in desktop: Desktop) throws -> [String: String] {
    let directory = desktop.installation.directory
    let bus = try #require(desktop.installation.sessionBus)
    // This sudo installs no package. If a package is missing, a later command fails.
    try directory.write("#!/bin/sh\n[ \"$1 $2\" = 'apt install' ]\n", to: "bin/sudo", mode: 0o755)
    try directory.write("", to: "home/.local/empty")
    try directory.write("", to: "home/share/dbus-1/empty")
    for (path, target) in [
      ("bin/tagroute", try BuiltProducts.program("tagroute")), ("home/.local/share", directory.file("home/share")),
      ("home/share/dbus-1/services", bus.servicesDirectory), ("home/tagroute", repositoryRoot),
    ] { try #require(symlink(target, directory.file(path)) == 0, "\(path)") }
    var environment = desktop.installation.environment
    environment["PATH"] = "\(directory.file("bin")):\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")"
    return environment
  }

  @Test(arguments: ["Python", "C", "Swift"]) func `the commands of the page lead to a handler that works`(
    language: String
  ) async throws {
    let starter = "`the commands of the page lead to a handler that works`_\(language)"
    let shared = "Install and tap the app"
    let commands = try Self.blocks("sh", of: "In \(language)") + Self.blocks("sh", of: shared)
    let expected = try #require(try Self.blocks("text", of: shared).first)
    let desktop = try await Desktop(starter: starter)
    let environment = try shell(in: desktop)
    let server = try await desktop.startWithServer()

    var output = ""
    for command in commands {
      let process = try ChildProcess("/bin/sh", ["-eu", "-c", command], environment: environment, starter: starter)
      let status = try await process.exit(within: Self.patience)
      let log = await process.log()
      try #require(status == .exited(0), "\(command)\(log.joined(separator: "\n"))")
      output = await process.standardOutput()
    }
    #expect(output == expected)

    let (id, link) = ("org.example.Hello", "https://hello.example.com/7")
    try await desktop.place(Tag(1, uri: link))
    let shown = try await desktop.notification(on: server)
    // If the tests do not run as root, the entry is not installed by the system, and the agent asks the user.
    try await server.click(shown, action: shown.actions.contains("allow") ? "allow" : "open")
    try await desktop.agent.line(containing: "was handed to \(id)")
    // The handler prints to the output of the bus, as the page says.
    let printed = try await #require(desktop.installation.sessionBus).end(within: .seconds(30))
    #expect(printed.contains("link: \(link)"))
  }
}
