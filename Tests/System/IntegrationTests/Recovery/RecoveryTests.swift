import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestRig
import Testing

/// Programs that end, crash and restart: each tap is shown, a click hands it over once, and the next tag works.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RecoveryTests {
  // MARK: The notification server

  @Test func `a restarted notification server shows earlier taps again`() async throws {
    let (desktop, first) = try await Desktop.started()
    for number in 1...2 { try await desktop.tap(number, isShownOn: first) }
    await first.stop()
    let second = try await desktop.startServer()
    let shown = [try await desktop.notification(on: second), try await desktop.notification(on: second)]
    #expect(Set(shown.map(\.body)) == [Tag.text(1), Tag.text(2)])
    let wanted = try #require(shown.first { $0.body == Tag.text(2) })
    try await second.click(wanted)
    #expect(try await desktop.handed().message == Tag(2).message)
  }

  @Test func `a server without actions shows a tap and the inbox opens it`() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startWithServer(capabilities: ["body"])
    try await desktop.place(try Tag(1))
    let shown = try await desktop.notification(on: server)
    #expect(shown.actions.isEmpty)
    #expect(shown.body.hasPrefix(Tag.text(1)))
    let agent = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    let tap = try #require(try await agent.taps().first)
    try await agent.open(tap.id)
    #expect(try await desktop.handed().message == Tag(1).message)
  }

  // MARK: The agent

  @Test(arguments: [SIGKILL, SIGTERM]) func `a restarted agent shows a tap again`(signal: Int32) async throws {
    let (desktop, server) = try await Desktop.started(starter: "`a restarted agent shows a tap again`_\(signal)")
    try await desktop.tap(1, isShownOn: server)
    try await desktop.agent.exit(after: signal)

    try await desktop.installation.startAgent()
    let again = try await desktop.notification(on: server)
    #expect(again.body == Tag.text(1))
    try await server.click(again)
    #expect(try await desktop.handed().message == Tag(1).message)
    // A second click on the notification, as from a server that does not close it, hands over no second message.
    try await server.click(again)
    try await desktop.agent.line(containing: Desktop.registered)
    try await desktop.tap(2, isShownOn: server)
    #expect(await desktop.app.count == 1)
    #expect(await server.all.count == 3)
  }

  @Test func `a tap is kept while the agent is down`() async throws {
    let (desktop, server) = try await Desktop.started()
    let agent = try await desktop.agent
    // The agent hangs, so the daemon has sent the tap and has no reply. Then the agent is killed.
    agent.signal(SIGSTOP)
    try await desktop.place(try Tag(1))
    try await desktop.daemon.line(containing: "message of \(Tag(1).message.count) bytes")
    try await agent.exit(after: SIGKILL)
    #expect(await server.all.isEmpty)

    try await desktop.installation.startAgent()
    try await server.click(try await desktop.notification(on: server))
    #expect(try await desktop.handed().message == Tag(1).message)
    #expect(await server.all.count == 1)
  }

  // MARK: The daemon

  @Test func `a killed daemon leaves no reader process, and the next daemon works`() async throws {
    let (desktop, server) = try await Desktop.started()
    try await desktop.place(try Tag(1))
    let shown = try await desktop.notification(on: server)
    let reader = try await desktop.reader
    let daemon = try await desktop.daemon
    try await desktop.remove()
    let seen = try await desktop.agent.log().count
    try await daemon.exit(after: SIGKILL)
    try await desktop.within("the end of the reader process") { try await reader.end() }

    try await desktop.installation.startDaemon()
    try await desktop.agent.line(containing: Desktop.registered, after: seen)
    try await desktop.tap(2, isShownOn: server)
    // The earlier notification still works.
    try await server.click(shown)
    #expect(try await desktop.handed().message == Tag(1).message)
    #expect(await server.all.count == 2)
  }

  // MARK: The buses

  @Test func `taps survive a restart of the session bus`() async throws {
    let (desktop, first) = try await Desktop.started()
    try await desktop.tap(1, isShownOn: first)
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
  }
}
