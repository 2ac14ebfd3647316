import Bus
import Dispatch
import EventLoop
import Glibc
import Journal
import Names
import Settings
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

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
      throw RigError("ListHandlers gave no array")
    }
    #expect(
      handlers.compactMap { $0.asDictionary?["id"]?.asString } == [
        "org.example.Menu.desktop", "org.example.Other.desktop",
      ])
  }
}

/// The agent's settings while it starts and while it ends.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct AgentRunTests {
  @Test func `a configuration that is being read when the agent ends is not applied`() async throws {
    let (session, system) = (try await PrivateBus.start(), try await PrivateBus.start(type: "system"))
    let directory = try TemporaryDirectory()
    // Holds the thread that reads the configuration.
    let gate = DispatchSemaphore(value: 0)
    let (readings, reading) = AsyncStream.makeStream(of: Void.self)
    let run = AgentRun(
      configuration: AgentConfiguration(), readAt: sampleTime,
      buses: (BusAddress(session.address), BusAddress(system.address)),
      files: AgentFiles(environment: ["HOME": directory.path]), log: Log(threshold: .error, prefixed: false)
    ) {
      reading.yield()
      gate.wait()
      var other = AgentConfiguration()
      other.inbox = false
      return .success(other)
    }
    let serving = Task { await run.serve() }
    let reload = await run.reload()
    // The agent is ready now, because it reads no configuration before.
    for await _ in readings { break }
    let file = directory.file(".local/state/tagroute/inbox.sqlite")
    #expect(access(file, F_OK) == 0)
    await run.end()
    gate.signal()
    await reload.value
    #expect(access(file, F_OK) == 0)
    serving.cancel()
    try await session.stop()
    try await system.stop()
  }

  @Test func `a start is cancelled if the end was requested before`() async throws {
    let (session, system) = (try await PrivateBus.start(), try await PrivateBus.start(type: "system"))
    let directory = try TemporaryDirectory()
    let run = AgentRun(
      configuration: AgentConfiguration(), readAt: sampleTime,
      buses: (BusAddress(session.address), BusAddress(system.address)),
      files: AgentFiles(environment: ["HOME": directory.path]), log: Log(threshold: .error, prefixed: false)
    ) { .success(AgentConfiguration()) }
    await run.end()
    // Otherwise it would serve until it has a reason to end.
    #expect(await run.serve() == 0)
    try await session.stop()
    try await system.stop()
  }

  @Test func `a reload requested during the start follows it, and systemd is notified of both in order`() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let rig = try await AgentRig(environment: ["NOTIFY_SOCKET": directory.file("notify")])
    // GIO waits for a writer of the FIFO, and there is none. The agent waits for GIO only up to a limit.
    try #require(mkfifo(rig.installation.directory.file("config/mimeapps.list"), 0o600) == 0)
    let owners = try await rig.client.owners(of: Names.Agent.busName)
    try await rig.installation.startAgent()
    let agent = try await rig.agent
    for await owner in owners where owner != nil { break }
    agent.signal(SIGHUP)
    let first = try await notifications.next { $0.contains("READY=1") || $0.contains("RELOADING=1") }
    #expect(first.hasPrefix("READY=1"))
    _ = try await notifications.next { $0.hasPrefix("RELOADING=1") }
    _ = try await notifications.next { $0.hasPrefix("READY=1") }
  }
}

/// The session in which a display manager asks who logs in.
@Suite(.timeLimit(.minutes(5))) struct LoginScreenTests {
  @Test func `at a login screen the agent exits normally and creates no files`() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let home = directory.file("home")
    try #require(mkdir(home, 0o700) == 0)
    let program = try BuiltProducts.program("tagroute-agent")
    // The agent neither reads this wrong configuration nor uses this missing bus.
    let configuration = try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    let result = try await ChildProcess.run(
      program, ["--config", configuration],
      environment: [
        "XDG_SESSION_CLASS": "greeter", "HOME": home, "NOTIFY_SOCKET": directory.file("notify"),
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
      ])
    #expect(result.status == .exited(0))
    #expect(result.log.count == 1 && result.log.allSatisfy { $0.contains("no user is logged in") }, "\(result.log)")
    // systemd would restart a service that ends before it is ready.
    _ = try await notifications.next { $0.hasPrefix("READY=1") }
    _ = try await notifications.next { $0 == "STOPPING=1" }
    #expect(rmdir(home) == 0, "the agent created files in the home folder")
  }
}

@Suite(.timeLimit(.minutes(5))) struct AssociationUpdateTests {
  @Test func `a cancelled update ends its process`() async throws {
    let directory = try TemporaryDirectory()
    let pipe = directory.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let program = try directory.write("#!/bin/sh\necho $$ > '\(pipe)'\nexec sleep 1000\n", to: "stand-in")
    #expect(chmod(program, 0o700) == 0)
    let update = AssociationUpdate(
      clock: ContinuousClock(), log: Log(threshold: .error, prefixed: false), program: program)
    let running = Task { await update.run() }
    let text = try await DedicatedThread.run { try? readFile(pipe) }
    let number = try #require(text.flatMap { Int32(String(decoding: $0, as: UTF8.self).split(separator: "\n")[0]) })
    running.cancel()
    await running.value
    // The process ended before its own end, and it was reaped.
    #expect(kill(number, 0) == -1 && errno == ESRCH)
  }
}
