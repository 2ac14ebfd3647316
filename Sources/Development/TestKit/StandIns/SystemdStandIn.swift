package import Bus
import EventLoop

/// A stand-in for systemd, the system's or the user's, on a private bus. It starts transient units and reports the
/// state of units.
package actor SystemdStandIn {
  /// One call of `StartTransientUnit`.
  package struct Unit: Sendable, Hashable {
    /// The unit's name.
    package let name: String
    /// How to handle conflicting jobs.
    package let mode: String
    /// Its properties.
    package let properties: [String: Value]
  }

  /// The behaviour when called.
  package enum Mood: Sendable {
    /// Replies with a job.
    case takes
    /// Replies with an error.
    case refuses
    /// Does not reply until `answer()`.
    case hangs
  }

  let connection: Connection
  /// The units that were set or asked for, by name.
  var states: [String: UnitState] = [:]
  private let mood: Mood
  private let (answers, answering) = AsyncStream.makeStream(of: Void.self)
  private nonisolated let (units, started) = AsyncStream.makeStream(of: Unit.self)

  /// The connection's loop.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Starts the stand-in, which owns its name when this returns.
  package static func start(on address: String, _ mood: Mood = .takes) async throws -> SystemdStandIn {
    let connection = try await Connection.open(BusAddress(address), on: EventLoop(label: "systemd"))
    let systemd = SystemdStandIn(connection, mood)
    let method = ExportedMethod(
      "StartTransientUnit",
      in: [
        Argument("name", "s"), Argument("mode", "s"), Argument("properties", "a(sv)"), Argument("aux", "a(sa(sv))"),
      ],
      out: [Argument("job", "o")]
    ) { _, call in
      try await systemd.take(call)
      return [.objectPath("/org/freedesktop/systemd1/job/1")]
    }
    let load = ExportedMethod("LoadUnit", in: [Argument("name", "s")], out: [Argument("unit", "o")]) { _, call in
      [try await systemd.load(call.arguments[0].asString ?? "")]
    }
    let version = ExportedProperty("Version", "s", emits: .const) { _ in .string("0 (a stand-in)") }
    let manager = ExportedInterface("org.freedesktop.systemd1.Manager", methods: [method, load], properties: [version])
    try await connection.export([manager], at: "/org/freedesktop/systemd1")
    try await connection.standIn(for: "org.freedesktop.systemd1")
    return systemd
  }

  private init(_ connection: Connection, _ mood: Mood) {
    self.connection = connection
    self.mood = mood
  }

  /// The next unit that a caller asked for.
  package nonisolated func next() async -> Unit? {
    for await unit in units { return unit }
    return nil
  }

  /// Replies to all pending calls.
  package func answer() { answering.finish() }

  private func take(_ call: IncomingCall) async throws {
    var properties: [String: Value] = [:]
    for property in call.arguments[2].asArray ?? [] {
      guard case .structure(let members) = property, members.count == 2, let name = members[0].asString,
        case .variant(let value) = members[1]
      else { throw BusError.invalidArguments("a property is no (sv)") }
      properties[name] = value
    }
    started.yield(
      Unit(name: call.arguments[0].asString ?? "", mode: call.arguments[1].asString ?? "", properties: properties))
    switch mood {
    case .takes: return
    case .refuses: throw BusError(name: "org.freedesktop.systemd1.UnitExists", message: "it is there")
    case .hangs: for await _ in answers {}
    }
  }
}
