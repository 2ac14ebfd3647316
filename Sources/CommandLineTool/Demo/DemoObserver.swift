import Bus
import EventLoop
import Rig
import TagrouteClient

/// Observes an installation through the public interfaces.
struct DemoObserver {
  private let installation: Installation
  private let daemon: DaemonClient
  let agent: AgentClient
  private let events: AsyncStream<AgentClient.Event>

  init(_ installation: Installation) async throws {
    self.installation = installation
    let loop = EventLoop(label: "demo")
    let environment = installation.environment
    daemon = try await DaemonClient.connect(
      to: BusAddress(environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? ""), on: loop)
    agent = try await AgentClient.connect(to: BusAddress(environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""), on: loop)
    events = try await agent.events()
  }

  /// Reports if one of the two programs ends.
  private func ends() async -> AsyncStream<String> {
    let (ends, continuation) = AsyncStream.makeStream(of: String.self)
    for process in [await installation.daemon, await installation.agent] {
      guard let process else { continue }
      // A separate task, because waiting for a process cannot be cancelled.
      Task {
        if let status = try? await process.exit(within: .seconds(3600)) {
          continuation.yield("\(process.name) has ended: \(status)")
        }
      }
    }
    return ends
  }

  func waitUntilScanning() async throws {
    let changes = try await daemon.changes()
    try await within(seconds: 30, "scanning") {
      for await _ in changes {
        if let status = try? await daemon.status(), status.scanning { return }
      }
    }
  }

  /// Returns the tap's id.
  func waitForNotification() async throws -> String {
    try await within(seconds: 30, "the tap") {
      for await event in events {
        if case .received(let id) = event { return id }
      }
      throw RigError("the session bus is gone")
    }
  }

  /// Returns the tap's state.
  func waitForEnd(of tap: String) async throws -> String {
    try await within(seconds: 300, "the click") {
      for await event in events {
        if case .closed(tap, let state) = event { return state }
      }
      throw RigError("the session bus is gone")
    }
  }

  /// What the sample app printed; it inherits the agent's standard output.
  func output() async -> [String] {
    guard let agent = await installation.agent else { return [] }
    _ = try? await agent.line(containing: "record 2")
    return await agent.standardOutput().split(separator: "\n").map(String.init)
  }

  private func within<Result: Sendable>(
    seconds: Int, _ what: String, _ wait: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await wait() }
      group.addTask {
        try await Task.sleep(for: .seconds(seconds))
        return nil
      }
      group.addTask {
        for await end in await ends() { throw RigError(end) }
        throw CancellationError()
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() ?? nil else {
        throw RigError("waited \(seconds) seconds for \(what) in vain")
      }
      return result
    }
  }
}
