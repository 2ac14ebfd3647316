import Bus
import EventLoop
import Names

/// The daemon as an agent sees it: takes registrations, and gives taps to the last agent that came.
actor FakeDaemon {
  private let connection: Connection
  private var agents: [String] = []
  private var waiting: [CheckedContinuation<String, Never>] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Owns the daemon's name when this returns.
  static func start(on address: String) async throws -> FakeDaemon {
    let connection = try await Connection.open(BusAddress(address), on: EventLoop(label: "daemon"))
    let daemon = FakeDaemon(connection)
    let method = ExportedMethod("RegisterAgent", in: [Argument("path", "o"), Argument("options", "a{sv}")]) { call in
      await daemon.register(call)
      return []
    }
    try await connection.export(
      [ExportedInterface(Names.Daemon.managerInterface, methods: [method])], at: try ObjectPath(Names.Daemon.path))
    _ = try await connection.requestName(Names.Daemon.busName)
    return daemon
  }

  private init(_ connection: Connection) { self.connection = connection }

  private func register(_ call: IncomingCall) {
    guard call.arguments.first?.asObjectPath?.string == Names.Agent.tapReceiverPath else { return }
    if waiting.isEmpty { agents.append(call.sender) } else { waiting.removeFirst().resume(returning: call.sender) }
    agent = call.sender
  }

  private(set) var agent: String?

  /// The next registration that no earlier call of this has returned.
  func registration() async -> String {
    if !agents.isEmpty { return agents.removeFirst() }
    return await withCheckedContinuation { waiting.append($0) }
  }

  /// Calls `TagRead` on the agent that registered last.
  func give(_ tap: [String: Value]) async throws {
    _ = try await connection.call(
      agent ?? ":0.0", try ObjectPath(Names.Agent.tapReceiverPath), Names.Daemon.agentInterface, "TagRead",
      [.dictionary(tap)])
  }

  /// Leaves the bus, as a crash would.
  func stop() async { await connection.close() }
}
