import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestSupport
import Testing

/// Whatever ends, goes away or comes back: what was read is shown, once clicked is handed over once, and the next tag works.
@Suite(.timeLimit(.minutes(5))) struct RecoveryTests {
  // MARK: The notification server

  @Test func aTapWaitsForANotificationServer() async throws {
    let desktop = try await Desktop()
    try await desktop.start()
    try await desktop.place(try Tag(1))
    try await desktop.agent.line(containing: "is offered")
    let server = try await desktop.startServer()
    try await server.click(try await desktop.notification(on: server))
    #expect(try await desktop.handed().message == Tag(1).message)
    await desktop.stop()
  }

  @Test func aRestartedNotificationServerShowsWhatWasShown() async throws {
    let desktop = try await Desktop()
    let first = try await desktop.startServer()
    try await desktop.start()
    for number in 1...2 {
      try await desktop.place(try Tag(number))
      _ = try await desktop.notification(on: first)
    }
    await first.stop()
    let second = try await desktop.startServer()
    let shown = [try await desktop.notification(on: second), try await desktop.notification(on: second)]
    #expect(Set(shown.map(\.body)) == [Tag.text(1), Tag.text(2)])
    let wanted = try #require(shown.first { $0.body == Tag.text(2) })
    try await second.click(wanted)
    #expect(try await desktop.handed().message == Tag(2).message)
    await desktop.stop()
  }

  @Test func aServerWithoutActionsShowsItAndTheInboxOpensIt() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer(capabilities: ["body"])
    try await desktop.start()
    try await desktop.place(try Tag(1))
    let shown = try await desktop.notification(on: server)
    #expect(shown.actions.isEmpty)
    #expect(shown.body.hasPrefix(Tag.text(1)))
    let agent = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    let tap = try #require(try await agent.taps().first)
    try await agent.open(tap.id)
    #expect(try await desktop.handed().message == Tag(1).message)
    await desktop.stop()
  }

  // MARK: The agent

  @Test(arguments: [SIGKILL, SIGTERM]) func anAgentThatIsStartedAgainShowsItAgain(signal: Int32) async throws {
    let desktop = try await Desktop(starter: "anAgentThatIsStartedAgainShowsItAgain_\(signal)")
    let server = try await desktop.startServer()
    try await desktop.start()
    try await desktop.place(try Tag(1))
    _ = try await desktop.notification(on: server)
    let agent = try await desktop.agent
    agent.signal(signal)
    try await agent.exit()

    try await desktop.installation.startAgent()
    let again = try await desktop.notification(on: server)
    #expect(again.body == Tag.text(1))
    try await server.click(again)
    #expect(try await desktop.handed().message == Tag(1).message)
    // A click that comes twice, as from a server that closes nothing, opens nothing twice.
    try await server.click(again)
    try await desktop.agent.line(containing: Desktop.registered)
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    #expect(await desktop.app.count == 1)
    #expect(await server.all.count == 3)
    await desktop.stop()
  }

  @Test func aTapIsKeptWhileTheAgentIsAway() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    try await desktop.start()
    let agent = try await desktop.agent
    // It hangs, so that the daemon has given it the tap and has no answer, and then it is gone.
    agent.signal(SIGSTOP)
    try await desktop.place(try Tag(1))
    try await desktop.daemon.line(containing: "message of \(Tag(1).message.count) bytes")
    agent.signal(SIGKILL)
    try await agent.exit()
    #expect(await server.all.isEmpty)

    try await desktop.installation.startAgent()
    try await server.click(try await desktop.notification(on: server))
    #expect(try await desktop.handed().message == Tag(1).message)
    #expect(await server.all.count == 1)
    await desktop.stop()
  }

  // MARK: The daemon

  @Test func aKilledDaemonLeavesNoReaderProcessAndServesAgain() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    try await desktop.start()
    try await desktop.place(try Tag(1))
    let shown = try await desktop.notification(on: server)
    let reader = try await desktop.reader
    let daemon = try await desktop.daemon
    try await desktop.remove()
    let seen = try await desktop.agent.log().count
    daemon.signal(SIGKILL)
    try await daemon.exit()
    try await desktop.within("the end of the reader process") { try await reader.end() }

    try await desktop.installation.startDaemon()
    try await desktop.agent.line(containing: Desktop.registered, after: seen)
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    // What was shown before is as good as ever.
    try await server.click(shown)
    #expect(try await desktop.handed().message == Tag(1).message)
    #expect(await server.all.count == 2)
    await desktop.stop()
  }

  // MARK: The buses

  @Test func theSystemBusComesBack() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    try await desktop.start()
    let agent = try await desktop.agent
    // Read and given to an agent that hangs; then there is no bus on which it could answer.
    agent.signal(SIGSTOP)
    try await desktop.place(try Tag(1))
    try await desktop.daemon.line(containing: "message of \(Tag(1).message.count) bytes")
    let seen = await agent.log().count
    try await desktop.installation.systemBus.stop()
    agent.signal(SIGCONT)
    try await desktop.installation.systemBus.restart()
    try await agent.line(containing: Desktop.registered, after: seen)
    #expect(try await desktop.notification(on: server).body == Tag.text(1))
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    #expect(await server.all.count == 2)
    await desktop.stop()
  }

  @Test func theSessionBusComesBack() async throws {
    let desktop = try await Desktop()
    let first = try await desktop.startServer()
    try await desktop.start()
    try await desktop.place(try Tag(1))
    _ = try await desktop.notification(on: first)
    await first.stop()
    let bus = try #require(desktop.installation.sessionBus)
    try await bus.stop()
    let agent = try await desktop.agent
    let seen = await agent.log().count
    try await desktop.place(try Tag(2))
    try await agent.line(containing: "is offered", after: seen)

    try await bus.restart()
    let second = try await desktop.startServer()
    let shown = [try await desktop.notification(on: second), try await desktop.notification(on: second)]
    #expect(Set(shown.map(\.body)) == [Tag.text(1), Tag.text(2)])
    for notification in shown { try await second.click(notification) }
    let messages = [try await desktop.handed().message, try await desktop.handed().message]
    #expect(try Set(messages) == [Tag(1).message, Tag(2).message])
    await desktop.stop()
  }
}
