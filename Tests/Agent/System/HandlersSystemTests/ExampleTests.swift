import EventLoop
import Glibc
import Handlers
import Routing
import TestKit
import Testing

@testable import HandlersTests

/// The example of the documentation, checked in the way that its readers use it.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
  private let examples: String

  init() {
    examples = "\(repositoryRoot)/Config/examples"
  }

  @Test func `the desktop entry is valid`() async throws {
    let validator = try BuiltProducts.systemProgram("desktop-file-validate", package: "desktop-file-utils")
    let (_, _, log) = try await ChildProcess.run(validator, ["\(examples)/org.example.Menu.desktop"])
    // The specification allows a group named after an interface in Implements=. The validator does not know that yet.
    let others = log.filter { !$0.contains("file contains group \"org.tagroute.Handler1\", but groups extending") }
    #expect(others.isEmpty)
  }

  @Test func `the entry and the program work together`() async throws {
    let data = try DataDirectory()
    let text = String(decoding: try readFile("\(examples)/org.example.Menu.desktop"), as: UTF8.self)
    try data.temporary.write(text, to: "system/applications/org.example.Menu.desktop")
    try data.temporary.write(
      try readFile("\(examples)/tagroute-example-menu"), to: "bin/tagroute-example-menu", mode: 0o755)
    let (registry, problems) = await data.loaded()
    #expect(problems.isEmpty)
    #expect(registry.route(for: "https://a.example.org/").kind == .universalLink)
    let output = data.temporary.file("output")
    #expect(mkfifo(output, 0o600) == 0)
    var environment = data.environment
    environment["MENU_OUTPUT"] = output
    let launcher = Launcher(connection: nil, environment: environment, on: EventLoop(label: "test"))
    let message: [UInt8] =
      [0x91, 1, 15, 0x55, 4] + Array("menu.example.c".utf8) + [0x51, 1, 8, 0x54, 2] + Array("en\u{1B}[31m".utf8)
    let outcome = await launcher.open(registry.route(for: "https://menu.example.com/7"), message: message).outcome
    #expect(outcome == .delivered)
    let (_, printed, _) = try await ChildProcess.run("/bin/cat", [output])
    #expect(
      printed == """
        link: https://menu.example.com/7
        record 1: well-known U: https://menu.example.c
        record 2: well-known T: \\x1b[31m

        """)
  }
}
