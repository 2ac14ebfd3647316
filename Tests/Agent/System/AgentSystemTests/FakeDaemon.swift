import Bus
import EventLoop
import Names
import TestKit

/// The daemon from an agent's point of view: it accepts registrations and gives taps to the agent that registered last.
actor FakeDaemon {
  nonisolated let connection: Connection
  private var agents: [String] = []
  private var waiting: [CheckedContinuation<String, Never>] = []
  /// The conditions in registrations and reports of agents, in order. Refused ones are included.
  nonisolated let reports: AsyncStream<[String: Bool]>
  private let reporting: AsyncStream<[String: Bool]>.Continuation
  /// The options of registrations, in order.
  nonisolated let registrations: AsyncStream<[String: Value]>
  private let registering: AsyncStream<[String: Value]>.Continuation
  /// The calls to make the readers show themselves.
  nonisolated let identifications: AsyncStream<Void>
  private nonisolated let identifying: AsyncStream<Void>.Continuation
  private var refusals = 0
  private var registrationErrors: [BusError] = []
  private var reasons: [String] = []
  private var readers: [ObjectPath] = ["/org/tagroute/Tagroute1/readers/0"]
  private var gate: CheckedContinuation<Void, Never>?
  private var isHolding = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Returns when it owns the daemon's name. With `isFirstVersion`, it has only the method of the first version, and no
  /// property. A later version may have more `properties`.
  static func start(
    on address: String, isFirstVersion: Bool = false, _ properties: [ExportedProperty] = [],
    _ signals: [ExportedSignal] = []
  ) async throws -> FakeDaemon {
    let connection = try await Connection.open(BusAddress(address), on: EventLoop(label: "daemon"))
    let daemon = FakeDaemon(connection)
    let method = ExportedMethod("RegisterAgent", in: [Argument("path", "o"), Argument("options", "a{sv}")]) { _, call in
      try await daemon.register(call)
      return []
    }
    let report = ExportedMethod("ReportConditions", in: [Argument("conditions", "a{sb}")]) { _, call in
      try await daemon.report(call.arguments.first?.asBooleans ?? [:])
      return []
    }
    let identify = ExportedMethod("IdentifyReaders", in: [Argument("options", "a{sv}")]) { _, _ in
      daemon.identifying.yield()
      return []
    }
    let usual = [
      ExportedProperty("SuspendReasons", "as") { _ in .strings(await daemon.reasons) },
      ExportedProperty("Readers", "ao") { _ in .objectPaths(await daemon.readers) },
    ]
    try await connection.export(
      [
        ExportedInterface(
          Names.Daemon.managerInterface, methods: isFirstVersion ? [method] : [method, report, identify],
          properties: isFirstVersion ? [] : usual + properties, signals: signals)
      ], at: try ObjectPath(Names.Daemon.path))
    try await connection.standIn(for: Names.Daemon.busName)
    return daemon
  }

  private init(_ connection: Connection) {
    self.connection = connection
    (reports, reporting) = AsyncStream.makeStream()
    (registrations, registering) = AsyncStream.makeStream()
    (identifications, identifying) = AsyncStream.makeStream()
  }

  func refuse(reports count: Int) { refusals = count }

  /// Makes the next registrations fail with these errors. An agent that gets a late reply sees `timedOut`.
  func fail(registrations errors: [BusError]) { registrationErrors = errors }

  /// Holds back the reply to the next registration or report until `release()`.
  func hold() { isHolding = true }

  func release() {
    isHolding = false
    gate?.resume()
    gate = nil
  }

  /// Sets the reasons why no reader scans.
  func suspend(_ reasons: [String], readers count: Int = 1) async throws {
    self.reasons = reasons
    readers = try (0..<count).map { try ObjectPath("\(Names.Daemon.readersPath)/\($0)") }
    let path = try ObjectPath(Names.Daemon.path)
    await connection.propertiesChanged(["SuspendReasons", "Readers"], of: Names.Daemon.managerInterface, at: path)
  }

  private func wait() async {
    if isHolding { await withCheckedContinuation { gate = $0 } }
  }

  private func report(_ conditions: [String: Bool]) async throws {
    reporting.yield(conditions)
    await wait()
    guard refusals > 0 else { return }
    refusals -= 1
    throw BusError.failed("not now")
  }

  private func register(_ call: IncomingCall) async throws {
    guard call.arguments.first?.asObjectPath?.string == Names.Agent.tapReceiverPath else { return }
    if waiting.isEmpty { agents.append(call.sender) } else { waiting.removeFirst().resume(returning: call.sender) }
    agent = call.sender
    registering.yield(call.arguments.last?.asDictionary ?? [:])
    if let conditions = call.arguments.last?.asDictionary?["conditions"]?.asBooleans { reporting.yield(conditions) }
    await wait()
    if !registrationErrors.isEmpty { throw registrationErrors.removeFirst() }
  }

  private(set) var agent: String?

  /// Waits for the next registration that was not returned yet.
  func registration() async -> String {
    if !agents.isEmpty { return agents.removeFirst() }
    return await withCheckedContinuation { waiting.append($0) }
  }

  /// Calls `TagRead` on the agent that registered last.
  func give(_ tap: [String: Value]) async throws {
    try await callAgent("TagRead", [.dictionary(tap)])
  }

  /// Calls `TagRemoved` on the agent that registered last.
  func takeAway(_ tap: String) async throws {
    try await callAgent("TagRemoved", [.string(tap), .dictionary([:])])
  }

  /// Makes the agent that registered last show the sheet of a reader session.
  func showSession(_ options: [String: Value]) async throws {
    try await callAgent(
      "ShowReaderSession", [.objectPath("/org/tagroute/Tagroute1/sessions/1"), .dictionary(options)])
  }

  /// Shows and closes the sheets of this many reader sessions, and waits for no answer before the end.
  func flashSessions(_ count: Int) async throws {
    // Tasks that use this actor start in order, and each one sends at once.
    let calls = try (1...count).flatMap { number -> [Task<Void, any Error>] in
      let path = Value.objectPath(try ObjectPath("/org/tagroute/Tagroute1/sessions/\(number)"))
      return [
        Task { try await callAgent("ShowReaderSession", [path, .dictionary(["app": .string("transit")])]) },
        Task { try await callAgent("CloseReaderSession", [path, .string("closed"), .string("")]) },
      ]
    }
    for call in calls { try await call.value }
  }

  func callAgent(_ member: String, _ arguments: [Value]) async throws {
    _ = try await connection.call(
      agent ?? ":0.0", try ObjectPath(Names.Agent.tapReceiverPath), Names.Daemon.agentInterface, member, arguments)
  }

  func stop() async { await connection.crash() }
}
