import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

@testable import IntegrationTests

/// Kills each program at each step of a tap.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct KillTableTests {
  @Test(arguments: KillTable.Step.allCases, KillTable.Victim.allCases)
  func `after a kill the tap is in one correct state and the next tag works`(
    step: KillTable.Step, victim: KillTable.Victim
  ) async throws {
    try await KillTable.run(
      step, victim,
      starter: "`after a kill the tap is in one correct state and the next tag works`_\(step)_\(victim)")
  }

  // MARK: A handler program

  /// Writes only to files, because its inherited output is the agent's.
  private static let program = """
    #!/bin/sh
    exec > /dev/null 2>&1
    cat > "$0.message"
    echo started >> "$0.starts"
    read line < "$0.go"
    echo "$line" > "$0.went"
    """

  @Test func `a program outlives the agent that started it`() async throws {
    let desktop = try await Desktop()
    let directory = desktop.installation.directory
    let program = try directory.write(Self.program, to: "program", mode: 0o755)
    for fifo in [".go", ".went"] { try #require(mkfifo(program + fifo, 0o600) == 0) }
    try directory.write(
      HandlerStandIn.desktopEntry.replacing("Exec=/bin/true", with: "Exec=\(program) %u")
        .replacing("DBusActivatable=true\n", with: "").replacing("menu.example.com", with: "program.example"),
      to: "share/applications/org.example.Program.desktop")
    let server = try await desktop.startWithServer()
    // If the tests do not run as root, the entry is not installed by the system, and the agent asks the user.
    let choice = ["handlers", "prefer", "org.example.Program", "program.example"]
    #expect(try await desktop.installation.start("tagroute", choice).exit() == .exited(0))
    let tag = try Tag(1, uri: "https://program.example/1")
    try await desktop.place(tag)
    let agent = try await desktop.agent
    try await server.click(try await desktop.notification(on: server))
    try await agent.line(containing: "is delivered")
    try await desktop.remove()
    try await agent.exit(after: SIGKILL)
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)

    let line = try await desktop.within("the program") {
      try await DedicatedThread.run {
        let go = open(program + ".go", O_WRONLY | O_CLOEXEC)
        guard go >= 0, write(go, "on\n", 3) == 3, close(go) == 0 else { return "" }
        return (try? String(decoding: readFile(program + ".went"), as: UTF8.self)) ?? ""
      }
    }
    #expect(line == "on\n")
    #expect(try readFile(program + ".message") == tag.message)
    #expect(try String(decoding: readFile(program + ".starts"), as: UTF8.self) == "started\n")
    let client = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    #expect(try await client.taps().map(\.state) == ["delivered"])
    #expect(await server.onScreen.isEmpty)
  }
}

/// Kills each process at each step of a tap and of a reader session.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct CardKillTableTests {
  typealias Step = CardKill.Step
  typealias Victim = CardKill.Victim

  @Test(arguments: Step.taps, Victim.allCases)
  func `after a kill a tap is announced once`(step: Step, victim: Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: false, starter: "`after a kill a tap is announced once`_\(step)_\(victim)")
  }

  @Test(arguments: Step.taps, Victim.allCases)
  func `after a kill a tag that is gone is not announced later`(step: Step, victim: Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: true,
      starter: "`after a kill a tag that is gone is not announced later`_\(step)_\(victim)")
  }

  @Test(arguments: Step.sessions, Victim.allCases)
  func `after a kill the tag of a session is not announced`(step: Step, victim: Victim) async throws {
    try await CardKill.run(
      step, victim, isRemoved: false,
      starter: "`after a kill the tag of a session is not announced`_\(step)_\(victim)")
  }
}
