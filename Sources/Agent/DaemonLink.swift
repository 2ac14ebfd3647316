import Bus
import EventLoop
import Journal
import Names

/// The agent's side of the system bus: registers with whoever is the daemon now, and takes its taps.
///
/// Follows the daemon's name, so that a daemon that restarts is registered with again, and knows by it who may call.
actor DaemonLink {
  private let connection: Connection
  private let log: Log
  private let receive: @Sendable ([String: Value]) async throws -> Void
  private let changed: @Sendable (Bool) async -> Void
  private var owner: String?
  private var registration: Task<Void, Never>?

  /// Whether the daemon has accepted this agent.
  private(set) var isRegistered = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - connection: to the system bus.
  ///   - log: where refusals are told.
  ///   - changed: is told whether the daemon has accepted this agent, at each change.
  ///   - receive: stores a tap; what it throws is the daemon's answer.
  init(
    connection: Connection, log: Log, changed: @escaping @Sendable (Bool) async -> Void,
    receive: @escaping @Sendable ([String: Value]) async throws -> Void
  ) {
    self.connection = connection
    self.log = log
    self.changed = changed
    self.receive = receive
  }

  /// Serves the daemon until the connection is closed.
  ///
  /// - Throws: `BusError` where the bus does not let us export or listen.
  func run() async throws(BusError) {
    let method = ExportedMethod("TagRead", in: [Argument("tap", "a{sv}")]) { [weak self] call in
      try await self?.tagRead(call)
      return []
    }
    try await connection.export(
      [ExportedInterface(Names.Daemon.agentInterface, methods: [method], limits: .tagMessage)],
      at: try ObjectPath(Names.Agent.tapReceiverPath))
    for await owner in try await connection.owners(of: Names.Daemon.busName) { await follow(owner) }
  }

  private func follow(_ owner: String?) async {
    self.owner = owner
    registration?.cancel()
    registration = nil
    await set(registered: false)
    guard let owner else {
      log(.notice, "the daemon is not on the system bus; waiting for it")
      return
    }
    registration = Task { await register(with: owner) }
  }

  /// Asks until the daemon says yes: a session may become one that it serves.
  private func register(with owner: String) async {
    var delay = Duration.milliseconds(500)
    var lastRefusal: String?
    while !Task.isCancelled, self.owner == owner {
      do {
        _ = try await connection.call(
          owner, try ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "RegisterAgent",
          [.objectPath(try ObjectPath(Names.Agent.tapReceiverPath)), .dictionary([:])])
        guard !Task.isCancelled, self.owner == owner else { return }
        log(.notice, "registered with the daemon")
        await set(registered: true)
        return
      } catch {
        guard !Task.isCancelled, self.owner == owner else { return }
        // Once each: a session that is never served would fill the log.
        if lastRefusal != error.message {
          log(.warning, "the daemon does not take this agent: \(error.message); asking again")
        }
        lastRefusal = error.message
        try? await Task.sleep(for: delay)
        delay = min(delay * 2, .seconds(30))
      }
    }
  }

  private func set(registered: Bool) async {
    guard registered != isRegistered else { return }
    isRegistered = registered
    await changed(registered)
  }

  private func tagRead(_ call: IncomingCall) async throws {
    guard call.sender == owner else {
      log(.warning, "\(call.sender), which is not the daemon, called TagRead; refused")
      throw BusError(
        name: Names.Errors.notAuthorized, message: "only the owner of \(Names.Daemon.busName) may call this")
    }
    try await receive(call.arguments.first?.asDictionary ?? [:])
  }
}
