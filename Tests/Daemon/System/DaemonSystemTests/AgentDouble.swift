import Bus
import EventLoop
import Names
import TestKit

actor AgentDouble {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  nonisolated let connection: Connection
  /// All taps that the daemon sent, in order, also those that the agent did not store.
  nonisolated let taps: AsyncStream<[String: Value]>
  private let continuation: AsyncStream<[String: Value]>.Continuation
  /// The daemon's calls about reader sessions, in order.
  nonisolated let sheets: AsyncStream<IncomingCall>
  private var failures: [BusError] = []

  init(on bus: PrivateBus, loop: EventLoop = EventLoop(label: "agent")) async throws {
    self.loop = loop
    connection = try await Connection.open(BusAddress(bus.address), on: loop)
    (taps, continuation) = AsyncStream.makeStream()
    let told: AsyncStream<IncomingCall>.Continuation
    (sheets, told) = AsyncStream.makeStream()
    let sheet = [
      ("ShowReaderSession", ["o", "a{sv}"]), ("UpdateReaderSession", ["o", "a{sv}"]),
      ("CloseReaderSession", ["o", "s", "s"]),
    ].map { name, types in
      ExportedMethod(name, in: types.enumerated().map { Argument("a\($0.offset)", $0.element) }) { _, call in
        told.yield(call)
        return []
      }
    }
    let tagRead = ExportedMethod("TagRead", in: [Argument("tap", "a{sv}")]) { [weak self] _, call in
      try await self?.receive(call.arguments[0].asDictionary ?? [:])
      return []
    }
    try await connection.export(
      [ExportedInterface(Names.Daemon.agentInterface, methods: [tagRead] + sheet, limits: .tagMessage)],
      at: try ObjectPath(Names.Agent.tapReceiverPath))
  }

  /// Replies to the next taps with these errors, one for each tap.
  func fail(with errors: BusError...) { failures += errors }

  private func receive(_ tap: [String: Value]) throws {
    continuation.yield(tap)
    if !failures.isEmpty { throw failures.removeFirst() }
  }

  func register(reporting conditions: Value? = nil) async throws {
    let options: [String: Value] = conditions.map { ["conditions": $0] } ?? [:]
    try await call("RegisterAgent", [.objectPath(ObjectPath(Names.Agent.tapReceiverPath)), .dictionary(options)])
  }

  @discardableResult
  func call(_ member: String, _ arguments: [Value] = []) async throws -> [Value] {
    try await connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, member, arguments)
  }

  func report(_ conditions: [String: Bool]) async throws {
    try await call("ReportConditions", [.booleans(conditions)])
  }

  /// Sends the reports in order. It waits for the replies of a batch before it sends the next batch.
  func report(_ conditions: [[String: Bool]]) async throws {
    var rest = conditions[...]
    while !rest.isEmpty {
      // A batch is smaller than the number of calls that a peer may have in progress. The tasks of this actor start in
      // the order of their creation.
      let calls = rest.prefix(50).map { conditions in Task { try await report(conditions) } }
      for call in calls { try await call.value }
      rest = rest.dropFirst(calls.count)
    }
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

  /// Asks for an inhibitor that also lends a reader.
  @discardableResult
  func borrowReader(for who: String = "a", why: String = "b") async throws -> [Value] {
    try await call("InhibitWithOptions", [.string(who), .string(why), .dictionary(["release-reader": .boolean(true)])])
  }

  /// The name of the error that `body` throws; nil if it throws none.
  static func errorName(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? BusError)?.name ?? "\(error)"
    }
  }
}

extension AsyncStream<[String: Value]> {
  func next() async throws -> [String: Value] {
    for await tap in self { return tap }
    throw RigError("the agent received no tap")
  }

  func nextMessage() async throws -> [UInt8]? { try await next()["message"]?.asBytes }
}

/// A URI record with `http://www.` before the text.
func link(_ text: String) -> [UInt8] { [0xD1, 0x01, UInt8(text.utf8.count + 1), 0x55, 0x01] + Array(text.utf8) }
