import EventLoop
import TagrouteClient
import TestKit
import Testing

/// `tagroute demo` with the sample app, on a desktop where the user's own agent runs.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SampleDemoTests {
  @Test func `a click on the notification opens the sample app, and the user's agent gets no tap`() async throws {
    let (desktop, server) = try await Desktop.started()
    let environment = desktop.installation.environment.merging(["DISPLAY": ":99"]) { $1 }
    let demo = try ChildProcess(
      BuiltProducts.program("tagroute"), ["demo", "--examples", "\(repositoryRoot)/Config/examples"],
      environment: environment)
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "Open in Menu")
    try await server.click(shown)
    let status = try await demo.exit()
    let log = await demo.log()
    #expect(status == .exited(0), "\(log)")
    #expect(log.contains("· the app prints: record 2: well-known T: Table 7, by the window"), "\(log)")
    let agent = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    #expect(try await agent.taps().isEmpty)
  }
}
