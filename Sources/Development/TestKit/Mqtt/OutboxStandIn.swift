package import Bus
import EventLoop
import Names

/// A stand-in for the agent that only has an outbox: `TakeOutgoing`, `AcknowledgeOutgoing` and `OutgoingAvailable`.
///
/// For measurements with many stations: an agent for each would measure the agents.
package actor OutboxStandIn {
  private let connection: Connection
  /// The taps that wait, lowest sequence first.
  private var waiting: [(sequence: UInt64, tap: SampleTap)] = []
  private var lastSequence: UInt64 = 0
  private var emptied: [CheckedContinuation<Void, Never>] = []
  /// When `AcknowledgeOutgoing` named a tap, by its id.
  package private(set) var acknowledged: [String: ContinuousClock.Instant] = [:]

  /// The connection's loop.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Returns when it owns the agent's name.
  package static func start(on address: BusAddress) async throws -> OutboxStandIn {
    let connection = try await Connection.open(address, on: EventLoop(label: "outbox"))
    let outbox = OutboxStandIn(connection)
    let interface = ExportedInterface(
      Names.Agent.interface,
      methods: [
        ExportedMethod("TakeOutgoing", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]) {
          _, call in [.dictionaries(await outbox.take(call.arguments.first?.asDictionary ?? [:]))]
        },
        ExportedMethod("AcknowledgeOutgoing", in: [Argument("ids", "as")]) { _, call in
          await outbox.acknowledge(call.arguments.first?.asStrings ?? [])
          return []
        },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(Names.interfaceVersion) },
        ExportedProperty("Outgoing", "a{sv}", emits: .none) { _ in .dictionary(await outbox.counts) },
      ], signals: [ExportedSignal("OutgoingAvailable")])
    try await connection.export([interface], at: try ObjectPath(Names.Agent.path))
    try await connection.standIn(for: Names.Agent.busName)
    return outbox
  }

  private init(_ connection: Connection) { self.connection = connection }

  /// Stores a tap.
  package func store(_ tap: SampleTap) async throws {
    lastSequence += 1
    waiting.append((lastSequence, tap))
    try await connection.emit(
      path: try ObjectPath(Names.Agent.path), interface: Names.Agent.interface, member: "OutgoingAvailable")
  }

  /// Returns when every stored tap was acknowledged.
  package func isEmpty() async {
    if !waiting.isEmpty { await withCheckedContinuation { emptied.append($0) } }
  }

  private var counts: [String: Value] {
    ["on": .boolean(true), "waiting": .uint32(UInt32(waiting.count)), "dropped": .uint64(0)]
  }

  private func take(_ options: [String: Value]) -> [[String: Value]] {
    let after = options["after-sequence"]?.asUInt64 ?? 0
    let limit = Int(options["limit"]?.asUInt32 ?? 20)
    // The sequences increase, so the first one is found without a look at each.
    let start = waiting.first.map { first in
      after < first.sequence ? 0 : waiting.firstIndex { $0.sequence > after } ?? waiting.count
    }
    return waiting.dropFirst(start ?? 0).prefix(limit).map { sequence, tap in
      tap.values.merging([
        "sequence": .uint64(sequence), "uri": .string("https://menu.example.com/table/\(tap.number)"),
        "title": .string("menu.example.com/table/\(tap.number)"), "state": .string("received"), "handler": .string(""),
        "reason": .string(""), "state-reason": .string(""), "state-reason-code": .string(""),
        "state-time": .uint64(tap.time),
      ]) { given, _ in given }
    }
  }

  private func acknowledge(_ ids: [String]) {
    let ids = Set(ids)
    let now = ContinuousClock.now
    for id in ids { acknowledged[id] = now }
    waiting.removeAll { ids.contains($0.tap.id) }
    guard waiting.isEmpty else { return }
    for continuation in emptied { continuation.resume() }
    emptied = []
  }
}
