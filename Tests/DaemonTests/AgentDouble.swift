import Bus
import EventLoop
import Names
import TestSupport

/// An agent that answers as a test tells it to.
actor AgentDouble {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  nonisolated let connection: Connection
  /// What the daemon gave, in order, those that were not stored too.
  nonisolated let taps: AsyncStream<[String: Value]>
  private let continuation: AsyncStream<[String: Value]>.Continuation
  private var failures: [BusError] = []

  init(on bus: PrivateBus, loop: EventLoop = EventLoop(label: "agent")) async throws {
    self.loop = loop
    connection = try await Connection.open(BusAddress(bus.address), on: loop)
    (taps, continuation) = AsyncStream.makeStream()
    let tagRead = ExportedMethod("TagRead", in: [Argument("tap", "a{sv}")]) { [weak self] call in
      try await self?.receive(call.arguments[0].asDictionary ?? [:])
      return []
    }
    try await connection.export(
      [ExportedInterface(Names.Daemon.agentInterface, methods: [tagRead], limits: .tagMessage)],
      at: try ObjectPath(Names.Agent.tapReceiverPath))
  }

  /// The next taps are not stored; the error says why.
  func fail(with errors: BusError...) { failures += errors }

  private func receive(_ tap: [String: Value]) throws {
    continuation.yield(tap)
    if !failures.isEmpty { throw failures.removeFirst() }
  }

  func register() async throws {
    try await call("RegisterAgent", [.objectPath(ObjectPath(Names.Agent.tapReceiverPath)), .dictionary([:])])
  }

  @discardableResult
  func call(_ member: String, _ arguments: [Value] = []) async throws -> [Value] {
    try await connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, member, arguments)
  }

  func report(_ conditions: [String: Bool]) async throws {
    let entries = conditions.map { DictionaryEntry(.string($0.key), .boolean($0.value)) }
    try await call("ReportConditions", [.dictionary(key: "s", value: "b", entries)])
  }

  func property(_ name: String) async throws -> Value? {
    let reply = try await connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), "org.freedesktop.DBus.Properties", "Get",
      [.string(Names.Daemon.managerInterface), .string(name)])
    return reply.first?.unwrapped
  }

  func setEnabled(_ isEnabled: Bool) async throws {
    _ = try await connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), "org.freedesktop.DBus.Properties", "Set",
      [.string(Names.Daemon.managerInterface), .string("Enabled"), .variant(.boolean(isEnabled))])
  }

  /// The name of the error that `body` ends with; nil where it does not.
  static func errorName(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? BusError)?.name ?? "\(error)"
    }
  }
}
