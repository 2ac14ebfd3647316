import TestSupport
import Testing

/// The question on a real notification server: dunst, under an X server without a screen.
@Suite(.timeLimit(.minutes(2))) struct DunstChoiceTests {
  @Test func theQuestionIsAskedByDunstAndItsAnswerRemembered() async throws {
    let dunst = try BuiltProducts.systemProgram("dunst", package: "dunst")
    let control = try BuiltProducts.systemProgram("dunstctl", package: "dunst")
    let screen = try await VirtualScreen()
    let desktop = try await Desktop(environment: ["DISPLAY": screen.display], isSystems: false)
    let server = try await desktop.installation.start(dunst, ["-conf", "/dev/null"])
    try await desktop.start()
    let agent = try await desktop.agent
    for (number, title) in [(1, "Allow “Menu” to open links of menu.example.com?"), (2, "Open in Menu")] {
      let seen = await agent.log().count
      try await desktop.place(try Tag(number))
      _ = try await agent.line(after: seen) { $0.hasSuffix(" is shown") }
      // What the middle button of a mouse does.
      #expect(try await desktop.installation.start(control, ["action", "0"]).exit() == .exited(0))
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
