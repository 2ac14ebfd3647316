import EventLoop
import Glibc
import TestRig
import Testing

/// Cards without a message, with the real daemon and the real agent.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct BareTagRuleTests {
  @Test func `a rule runs for a bank card with its UID, and other cards are only kept`() async throws {
    let desktop = try await Desktop()
    let directory = desktop.installation.directory
    let pipe = directory.file("recorded")
    try #require(mkfifo(pipe, 0o600) == 0)
    let script = """
      #!/bin/sh
      { printf '%s %s\\n' "$TAGROUTE_UID" "$TAGROUTE_TECHNOLOGY"; exec cat; } > '\(pipe)'
      """
    let program = try directory.write(script, to: "recorder", mode: 0o755)
    try directory.write(
      "[Rule card]\nUID=04-A2-19-5A\nRun=\(program);\nAsk=no\n", to: "config/tagroute/rules.d/card.conf")
    let server = try await desktop.startWithServer()

    try await desktop.installation.simulate("tap --type payment --uid 04A2195A")
    let recorded = try await desktop.within("the program of the rule") {
      try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
    }
    // The standard input is empty.
    #expect(String(decoding: recorded, as: UTF8.self) == "04-A2-19-5A type-4a\n")
    #expect(try await desktop.notification(on: server).summary == "Started “card”")

    try await desktop.remove()
    try await desktop.installation.simulate("tap --type payment --uid random")
    try await desktop.agent.line(containing: "is not offered: the tag has no message")
    // The next tag has the next notification.
    try await desktop.tap(2, isShownOn: server)
  }
}
