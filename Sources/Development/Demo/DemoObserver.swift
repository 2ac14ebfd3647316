import Bus
import EventLoop
import Names
import Rig
import TagrouteClient

/// Observes an installation through the public interfaces.
struct DemoObserver {
  private let installation: Installation
  private let daemon: DaemonClient
  let agent: AgentClient
  private let events: AsyncStream<AgentClient.Event>
  /// The most that a step takes that no person has to do.
  private static let limit = Duration.seconds(60)

  /// `agentName` is the name of the agent on the session bus.
  init(_ installation: Installation, agentName: String = Names.Agent.busName) async throws {
    self.installation = installation
    let loop = EventLoop(label: "demo")
    let environment = installation.environment
    daemon = try await DaemonClient.connect(to: BusAddress(environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? ""), on: loop)
    let session = try await Connection.open(BusAddress(environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""), on: loop)
    agent = try AgentClient(session, busName: agentName)
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
    let isScanning: Bool? = try await first(within: Self.limit) {
      for await _ in changes {
        if let status = try? await daemon.status(), status.scanning { return true }
      }
      return false
    }
    guard isScanning != true else { return }
    let reasons = try await daemon.status().suspendReasons.joined(separator: ", ")
    throw RigError("the reader does not scan for tags (\(reasons.isEmpty ? "no reason is known" : reasons))")
  }

  /// Returns the tap's id.
  func waitForNotification() async throws -> String {
    let id: String? = try await first(within: Self.limit) {
      for await event in events {
        if case .received(let id) = event { return id }
      }
      throw RigError("the session bus is gone")
    }
    guard let id else { throw RigError("the agent got no tap") }
    return id
  }

  /// Waits until the tap has ended, but at most `limit`. Returns the tap as the inbox has it then.
  func waitForEnd(of tap: String, within limit: Duration = Self.limit) async throws -> TapDescription {
    _ = try await first(within: limit) {
      for await event in events {
        if case .closed(tap, _) = event { return }
      }
      throw RigError("the session bus is gone")
    }
    guard let description = try await agent.taps(id: tap).first else { throw RigError("the inbox has no tap \(tap)") }
    return description
  }

  /// What the sample app printed; it inherits the agent's standard output.
  func output() async -> [String] {
    guard let agent = await installation.agent else { return [] }
    _ = try? await agent.line(containing: "record 2")
    return await agent.standardOutput().split(separator: "\n").map(String.init)
  }

  /// The result of `wait`; nil after `limit`. Fails if a program ends.
  private func first<Result: Sendable>(
    within limit: Duration, _ wait: @escaping @Sendable () async throws -> Result
  ) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await wait() }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      group.addTask {
        for await end in await ends() { throw RigError(end) }
        throw CancellationError()
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}
