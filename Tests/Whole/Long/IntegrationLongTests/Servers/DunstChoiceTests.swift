import TestKit
import Testing

@testable import IntegrationTests

/// The question on a real notification server: dunst, under an X server without a screen.
@Suite(.timeLimit(.minutes(2))) struct DunstChoiceTests {
  @Test func `dunst shows the question and the agent remembers the answer`() async throws {
    let dunst = try BuiltProducts.systemProgram("dunst", package: "dunst")
    let control = try BuiltProducts.systemProgram("dunstctl", package: "dunst")
    let screen = try await VirtualScreen()
    let desktop = try await Desktop(environment: ["DISPLAY": screen.display], isSystems: false)
    // The program that dunst runs to choose an action.
    let menu = try desktop.installation.directory.write(
      "#!/bin/sh\nexec grep -m 1 '^#Allow and Open'\n", to: "choose", mode: 0o755)
    let settings = try desktop.installation.directory.write("[global]\n    dmenu = \(menu)\n", to: "dunstrc")
    let server = try await desktop.installation.start(dunst, ["-conf", settings])
    try await desktop.start()
    let agent = try await desktop.agent
    for (number, title, action) in [
      (1, "menu.example.com links: allow “Menu” to open them?", ["context"]),
      // The action of the middle mouse button.
      (2, "Open in Menu", ["action", "0"]),
    ] {
      let seen = await agent.log().count
      try await desktop.place(try Tag(number))
      _ = try await agent.line(after: seen) { $0.hasSuffix(" is shown") }
      #expect(try await desktop.installation.start(control, action).exit() == .exited(0))
      #expect(try await desktop.handed().message == (try Tag(number).message))
      let history = try await desktop.installation.start(control, ["history"])
      #expect(try await history.exit() == .exited(0))
      #expect(await history.standardOutput().contains(title))
    }
    server.signal(15)
    await desktop.stop()
    screen.process.signal(15)
  }
}
