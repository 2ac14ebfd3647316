import Bus
import Glibc
import Names
import TestKit
import Testing

@testable import AgentTests

/// The real agent with an `agent.conf` that changes while it runs.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReloadTests {
  private static let isRead = "the configuration was read again: "

  private func write(_ text: String, _ rig: AgentRig) throws {
    try rig.installation.directory.write(text, to: "agent.conf")
  }

  private func tap(_ number: Int, _ uri: String, _ rig: AgentRig) async throws {
    try await rig.daemon.give(tapValues(number, message: try uriMessage(uri)))
  }

  @Test func `each changed setting applies to the next tap`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    try await tap(1, "https://menu.example.com/1", rig)
    #expect(try await server.next().timeout == -1)
    try write("[Notifications]\nTimeout=7\n[Links]\nSmartPosters=no\n", rig)
    agent.signal(SIGHUP)
    try await agent.line(containing: Self.isRead + "new are SmartPosters, Timeout")
    try await tap(2, "https://menu.example.com/2", rig)
    #expect(try await server.next().timeout == 7000)
    // The call does the same and returns when the settings are applied.
    try write("[Notifications]\nTimeout=8\n", rig)
    _ = try await rig.call("Reload")
    try await tap(3, "https://menu.example.com/3", rig)
    #expect(try await server.next().timeout == 8000)
    _ = try await rig.call("Reload")
    try await agent.line(containing: Self.isRead + "nothing has changed")
  }

  @Test func `with the inbox off only taps on the screen are kept, and turning it on keeps taps again`()
    async throws
  {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    let file = rig.installation.directory.file("state/tagroute/inbox.sqlite")
    let signals = try await rig.signals()
    try await tap(1, "https://menu.example.com/1", rig)
    try await server.click(try await server.next())
    #expect(await signals.closed(1) == "delivered")
    try await tap(2, "https://menu.example.com/2", rig)
    let shown = try await server.next()
    #expect(access(file, F_OK) == 0)

    try write("[Inbox]\nInbox=off\n", rig)
    _ = try await rig.call("Reload")
    #expect(access(file, F_OK) != 0)
    #expect(try await rig.state(2) == "shown")
    #expect(try await rig.tap(1).isEmpty)
    try await server.click(shown)
    #expect(await signals.closed(2) == "delivered")
    #expect(try await rig.call("ListInbox", [.dictionary([:])]).first?.asArray?.isEmpty == true)
    try await tap(3, "https://menu.example.com/3", rig)
    let third = try await server.next()

    try write("", rig)
    _ = try await rig.call("Reload")
    #expect(access(file, F_OK) == 0)
    #expect(try await rig.state(3) == "shown")
    try await server.click(third)
    #expect(await signals.closed(3) == "delivered")
    #expect(try await rig.state(3) == "delivered")
    // The tap is in the file, so the next agent has it.
    try await agent.exit(after: SIGTERM)
    try await rig.startAgent()
    #expect(try await rig.state(3) == "delivered")
  }

  @Test func `a broken file keeps the former settings, and the caller gets the error`() async throws {
    let rig = try await AgentRig()
    let server = try await rig.startServer()
    try write("[Notifications]\nTimeout=7\n", rig)
    let agent = try await rig.startAgent()
    let time = try #require(try await rig.property("ConfigurationTime")?.asUInt64)
    #expect(try await rig.property("ConfigurationError")?.asString == "")
    try write("[Notifications]\nTimeout=8\n[Inbox]\nInbox=perhaps\n", rig)
    agent.signal(SIGHUP)
    try await agent.line(containing: "agent.conf:4: ")
    try await agent.line(containing: "until then the previous configuration stays in force")
    let error = await #expect(throws: BusError.self) { try await rig.call("Reload") }
    #expect(error?.name == Names.Errors.invalidConfiguration)
    #expect(error?.message.contains("agent.conf:4: ") == true)
    #expect(try await rig.property("ConfigurationError")?.asString == error?.message)
    #expect(try await rig.property("ConfigurationTime")?.asUInt64 == time)
    try await tap(1, "https://menu.example.com/1", rig)
    #expect(try await server.next().timeout == 7000)
    // A call about handlers still gets its reply.
    let handlers = try await rig.installation.start("tagroute", ["handlers", "--check"])
    #expect(try await handlers.exit() == .exited(0))
    try write("[Notifications]\nTimeout=9\n", rig)
    _ = try await rig.call("Reload")
    try await tap(2, "https://menu.example.com/2", rig)
    #expect(try await server.next().timeout == 9000)
    #expect(try await rig.property("ConfigurationError")?.asString == "")
    #expect(try #require(try await rig.property("ConfigurationTime")?.asUInt64) > time)
  }

  @Test func `listing handlers does not apply a changed configuration`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    let file = rig.installation.directory.file("state/tagroute/inbox.sqlite")
    try await tap(1, "https://menu.example.com/1", rig)
    _ = try await server.next()
    try write("[Inbox]\nInbox=off\n", rig)
    for arguments in [["handlers"], ["handlers", "--check"], ["doctor"]] {
      try await rig.installation.start("tagroute", arguments).exit()
      #expect(access(file, F_OK) == 0, "\(arguments)")
    }
    #expect(await !agent.log().contains { $0.contains(Self.isRead) })
    _ = try await rig.call("Reload")
    #expect(access(file, F_OK) != 0)
  }

  @Test func `a check reports errors without a bus`() async throws {
    let directory = try TemporaryDirectory()
    let program = try BuiltProducts.program("tagroute-agent")
    let file = try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    let wrong = try await ChildProcess.run(program, ["--check", "--config", file], environment: [:])
    #expect(wrong.status == .exited(Names.ExitCode.configuration))
    #expect(wrong.log.first?.hasPrefix("tagroute-agent: \(file):2: ") == true)
    try directory.write("[Inbox]\nInbox=off\n", to: "agent.conf")
    let right = try await ChildProcess.run(program, ["--check", "--config", file], environment: [:])
    #expect(right.status == .exited(0) && right.log.isEmpty && right.output.isEmpty)
  }
}
