import Bus
import Glibc
import Names
import TestKit
import Testing

@testable import AgentTests

/// The program as the system sees it.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct AgentProgramTests {
  @Test func `a second agent names the running process and exits with its own code`() async throws {
    let rig = try await AgentRig()
    let first = try await rig.startAgent()
    let second = try await rig.installation.start("tagroute-agent")
    #expect(try await second.exit() == .exited(Names.ExitCode.alreadyRunning))
    let log = await second.log()
    #expect(log.contains { $0.contains("process \(first.identifier) ") && $0.contains(Names.Agent.busName) })
  }

  @Test func `an agent started by hand exits if the bus has started one already`() async throws {
    let rig = try await AgentRig()
    let (installation, bus) = (rig.installation, try #require(rig.installation.sessionBus))
    let service = try installation.directory.write(
      """
      [D-BUS Service]
      Name=\(Names.Agent.busName)
      Exec=/usr/bin/env DBUS_SYSTEM_BUS_ADDRESS=\(installation.systemBus.address) \
      \(try BuiltProducts.program("tagroute-agent")) --config \(installation.directory.file("agent.conf"))

      """, to: "\(Names.Agent.busName).service")
    try #require(symlink(service, "\(bus.servicesDirectory)/\(Names.Agent.busName).service") == 0)
    let busName = "org.freedesktop.DBus"
    _ = try await rig.client.call(busName, "/org/freedesktop/DBus", busName, "ReloadConfig")
    // The first call makes the bus start the agent.
    #expect(try await rig.call("ListInbox", [.dictionary([:])]).count == 1)
    let first = try await rig.client.credentials(of: Names.Agent.busName)
    let second = try await installation.start("tagroute-agent")
    #expect(try await second.exit() == .exited(Names.ExitCode.alreadyRunning))
    let pid = try #require(first.pid)
    #expect(await second.log().contains { $0.contains("process \(pid) ") })
    // The first agent still answers and has the inbox.
    #expect(try await rig.call("ListInbox", [.dictionary([:])]).count == 1)
    kill(pid_t(pid), SIGTERM)
    await installation.stop()
  }

  @Test func `SIGTERM ends the agent and closes its notifications`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent(firstID: 12)
    let agent = try await rig.agent
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    _ = try await server.next()
    try await agent.line(containing: "tap \(tapID(1)) is shown")
    #expect(try await agent.exit(after: 15) == .exited(0))
    #expect(try await server.nextClosed() == 12)
  }

  @Test func `without a session bus the agent says so and exits`() async throws {
    let program = try BuiltProducts.program("tagroute-agent")
    let result = try await ChildProcess.run(
      program, [], environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus", "HOME": "/nonexistent"])
    #expect(result.status == .exited(Names.ExitCode.unavailable))
    #expect(result.log.contains { $0.contains("session bus") })
  }

  @Test func `both interfaces match their documentation`() async throws {
    let rig = try await AgentRig.withAgent()
    for (connection, name, path, interface) in [
      (rig.client, Names.Agent.busName, Names.Agent.path, Names.Agent.interface),
      (
        try await Connection.open(BusAddress(rig.installation.systemBus.address), on: rig.client.loop),
        try #require(await rig.daemon.agent), Names.Agent.tapReceiverPath, Names.Daemon.agentInterface
      ),
    ] {
      let reply = try await connection.call(
        name, try ObjectPath(path), "org.freedesktop.DBus.Introspectable", "Introspect")
      let actual = InterfaceDescription(of: interface, in: reply.first?.asString ?? "")
      let documented = try InterfaceDescription(documented: interface)
      #expect(!documented.members.isEmpty)
      #expect(actual == documented)
    }
  }

  @Test func `ListHandlers and Resolve answer as documented`() async throws {
    let rig = try await AgentRig.withAgent()
    let route = try await rig.call("Resolve", [.string("https://menu.example.com/a")]).first?.asDictionary
    #expect(route?["kind"] == .string("universal-link"))
    #expect(route?["handler"] == .string("org.example.Menu.desktop"))
    #expect(route?["trusted"] == .boolean(true))
    let refused = try await rig.call("Resolve", [.string("javascript:alert(1)")]).first?.asDictionary
    #expect(refused?["kind"] == .string("refused"))
    #expect(refused?["uri"] == .string("javascript:alert(1)"))
    #expect(refused?["handler"] == nil)
    let long = "https://menu.example.com/" + String(repeating: "a", count: 8192)
    let error = await #expect(throws: BusError.self) { try await rig.call("Resolve", [.string(long)]) }
    #expect(error?.name == Names.Errors.invalidArgument)

    try rig.installation.directory.write(
      "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true\nImplements=org.tagroute.Handler1;\n\n"
        + "[org.tagroute.Handler1]\nDomains=other.example.com;*.other.example.com;\n",
      to: "share/applications/org.example.Other.desktop")
    _ = try await rig.call("Reload")
    guard case .array(_, let handlers)? = try await rig.call("ListHandlers").first else {
      Issue.record("ListHandlers gave no array")
      return
    }
    #expect(
      handlers.compactMap { $0.asDictionary?["id"]?.asString } == [
        "org.example.Menu.desktop", "org.example.Other.desktop",
      ])
  }
}
