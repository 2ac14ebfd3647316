import Glibc
import TagrouteClient
import TestKit
import Testing

/// Two sessions of one user at one screen. The user has one agent, which serves the first of them.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct TwoSessionsTests {
  @Test func `status and doctor say that the agent serves the other session, and the fix moves the agent`() async throws
  {
    let desktop = try await Desktop(scan: ["Sessions=logind"])
    let logind = try await LogindStandIn.start(
      on: desktop.systemBus, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    try await desktop.start()
    try await desktop.status(\.scanning)
    try await logind.update("2") { ($0.isActive, $0.state) = (false, "online") }
    try await logind.add(LogindStandIn.Session(id: "5", uid: getuid()))
    try await desktop.status { $0.suspendReasons == ["no-agent"] && !$0.scanning }

    let lines = try await desktop.installation.output("status").split(separator: "\n")
    #expect(lines.first == "not scanning: no agent is registered for the reader's seat")
    let elsewhere = ": registered for a session that is not the active one at the reader's seat"
    #expect(lines.contains { $0.hasPrefix("agent ") && $0.hasSuffix(elsewhere) }, "\(lines)")
    let problem = try await desktop.wrong()["scanning"]
    #expect(problem?.text.hasPrefix("the active session at the reader's seat has no agent") == true, "\(lines)")
    // The programs come from a build, so there is no unit to restart.
    #expect(
      problem?.remedy?.hasPrefix("end tagroute-agent and start it again") == true, "\(String(describing: problem))")

    try await desktop.agent.exit(after: SIGTERM)
    try await desktop.installation.startAgent()
    try await desktop.status(\.scanning)
    let after = try await desktop.installation.output("status").split(separator: "\n")
    #expect(after.first == "scanning" && after.contains { $0.hasSuffix(": registered") }, "\(after)")
  }
}
