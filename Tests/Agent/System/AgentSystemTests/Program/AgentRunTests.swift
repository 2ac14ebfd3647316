import Bus
import Dispatch
import EventLoop
import Glibc
import Journal
import Names
import Settings
import TestKit
import Testing

@testable import AgentTests

@testable import Agent

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
