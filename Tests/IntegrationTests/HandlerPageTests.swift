import Bus
import Glibc
import NDEF
import TestSupport
import Testing

/// What docs/handlers.md has people paste, run as it stands by somebody whose session has an agent.
@Suite(.timeLimit(.minutes(15))) struct HandlerPageTests {
  /// A package is built with what it stands on, beside other tests.
  private static let patience = Duration.seconds(600)
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  /// The code blocks of a language (`sh`, `text`) in a section of the page.
  private static func blocks(_ kind: String, of section: String) throws -> [String] {
    let page = String(decoding: try readFile("\(root)/docs/handlers.md"), as: UTF8.self)
    var blocks: [String] = []
    var (isInSection, block) = (false, String?.none)
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if let begun = block {
        if line == "```" { (blocks, block) = (blocks + [begun], nil) } else { block = begun + line + "\n" }
      } else if line.hasPrefix("## ") {
        isInSection = line == "## \(section)"
      } else if isInSection, line == "```\(kind)" {
        block = ""
      }
    }
    return blocks
  }

  /// A home whose data the session's bus knows, with the programs of the build and the sources where the page expects them.
  ///
  /// - Returns: the environment of a shell in the session.
  private func shell(in desktop: Desktop) throws -> [String: String] {
    let directory = desktop.installation.directory
    let bus = try #require(desktop.installation.sessionBus)
    // Nothing is installed with it: what it would install is there, or the commands that follow fail.
    try directory.write("#!/bin/sh\n[ \"$1 $2\" = 'apt install' ]\n", to: "bin/sudo", mode: 0o755)
    try directory.write("", to: "home/.local/empty")
    try directory.write("", to: "home/share/dbus-1/empty")
    for (path, target) in [
      ("bin/tagroute", try BuiltProducts.program("tagroute")), ("home/.local/share", directory.file("home/share")),
      ("home/share/dbus-1/services", bus.servicesDirectory), ("home/tagroute", Self.root),
    ] { try #require(symlink(target, directory.file(path)) == 0, "\(path)") }
    var environment = desktop.installation.environment
    environment["PATH"] = "\(directory.file("bin")):\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")"
    return environment
  }

  @Test(arguments: ["Python", "C", "Swift"]) func whatThePageSaysEndsInAHandlerThatWorks(language: String) async throws
  {
    let starter = "whatThePageSaysEndsInAHandlerThatWorks_\(language)"
    let commands = try Self.blocks("sh", of: "In \(language)")
    let expected = try #require(try Self.blocks("text", of: "In \(language)").first)
    let desktop = try await Desktop(starter: starter)
    let environment = try shell(in: desktop)
    let server = try await desktop.startServer()
    try await desktop.start()

    var output = ""
    for command in commands {
      let process = try ChildProcess(
        "/bin/sh", ["-eu", "-c", command], environment: environment, starter: starter)
      let status = try await process.exit(within: Self.patience)
      let log = await process.log()
      try #require(status == .exited(0), "\(command)\(log.joined(separator: "\n"))")
      output = await process.standardOutput()
    }
    #expect(output == expected)

    let (id, link) = ("org.example.Hello\(language)", "https://hello-\(language.lowercased()).example.com/7")
    try await desktop.place(Tag(1, uri: link))
    let shown = try await desktop.notification(on: server)
    // Whoever is not root has no entry of root's, and is asked.
    try await server.click(shown, action: shown.actions.contains("allow") ? "allow" : "open")
    try await desktop.agent.line(containing: "was handed to \(id).desktop")
    // Where the bus's own output goes, as the page says.
    let printed = try await #require(desktop.installation.sessionBus).end(within: .seconds(30))
    #expect(printed.contains("link: \(link)"))
    await desktop.stop()
  }
}
