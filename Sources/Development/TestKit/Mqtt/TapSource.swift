package import Bus
import EventLoop
import Glibc
import Names

/// A tap that a test gives to an agent.
package struct SampleTap: Sendable, Hashable {
  /// Makes the tap distinct from others.
  package let number: Int
  /// When the tag was read, in microseconds since 1970.
  package let time: UInt64
  package let message: [UInt8]

  /// - Parameters:
  ///   - number: less than 2^40.
  ///   - age: how long ago the tag was read. A negative one is in the future.
  ///   - padding: the number of bytes that make the message longer.
  ///   - host: that of the link.
  package init(_ number: Int, age: Duration = .zero, padding: Int = 0, host: String = "menu.example.com") {
    self.number = number
    time = UInt64(clamping: Self.now - Int64(age / .microseconds(1)))
    message = Self.message("\(host)/table/\(number)" + String(repeating: "x", count: padding))
  }

  /// The UUID.
  package var id: String {
    let digits = String(number, radix: 16)
    return "01234567-89ab-4cde-8f01-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  package var uid: [UInt8] { [4, 0] + (0..<5).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

  /// The dictionary of `TagRead`.
  package var values: [String: Value] {
    [
      "id": .string(id), "message": .bytes(message), "technology": .string("type-2"), "uid": .bytes(uid),
      "reader": .string("\(Names.Daemon.readersPath)/0"), "time": .uint64(time),
    ]
  }

  /// The present time in microseconds since 1970.
  package static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  /// A record with an `https` link, long if it has to be.
  private static func message(_ rest: String) -> [UInt8] {
    let payload = [4] + Array(rest.utf8)
    let isShort = payload.count < 256
    let length = isShort ? [UInt8(payload.count)] : (0..<4).reversed().map { UInt8(payload.count >> ($0 * 8) & 0xFF) }
    return [isShort ? 0xD1 : 0xC1, 1] + length + [UInt8(ascii: "U")] + payload
  }
}

/// A stand-in for the daemon, with one reader. It gives taps to the agent that registered last.
package actor TapSource {
  private let connection: Connection
  private var agent: String?

  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Returns when it owns the daemon's name.
  package static func start(on address: BusAddress) async throws -> TapSource {
    let connection = try await Connection.open(address, on: EventLoop(label: "tap-source"))
    let source = TapSource(connection)
    let reader: ObjectPath = "/org/tagroute/Tagroute1/readers/0"
    let manager = ExportedInterface(
      Names.Daemon.managerInterface,
      methods: [
        ExportedMethod("RegisterAgent", in: [Argument("path", "o"), Argument("options", "a{sv}")]) { _, call in
          await source.register(call.sender)
          return []
        },
        ExportedMethod("ReportConditions", in: [Argument("conditions", "a{sb}")]) { _, _ in [] },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("Enabled", "b", emits: .changed) { _ in .boolean(true) },
        ExportedProperty("Scanning", "b", emits: .changed) { _ in .boolean(true) },
        ExportedProperty("SuspendReasons", "as", emits: .changed) { _ in .strings([]) },
        ExportedProperty("Readers", "ao", emits: .changed) { _ in .objectPaths([reader]) },
      ])
    let properties = ExportedInterface(
      Names.Daemon.readerInterface,
      properties: [
        ExportedProperty("Name", "s", emits: .changed) { _ in .string("PN532") },
        ExportedProperty("Device", "s", emits: .const) { _ in .string("pn532_uart:/dev/x") },
        ExportedProperty("Seat", "s", emits: .const) { _ in .string("seat0") },
        ExportedProperty("State", "s", emits: .changed) { _ in .string("scanning") },
        ExportedProperty("StateReason", "s", emits: .changed) { _ in .string("") },
      ])
    try await connection.export([manager], at: try ObjectPath(Names.Daemon.path), objectManager: true)
    try await connection.export([properties], at: reader)
    try await connection.standIn(for: Names.Daemon.busName)
    return source
  }

  private init(_ connection: Connection) { self.connection = connection }

  private func register(_ sender: String) { agent = sender }

  /// Gives a tap, and returns once the agent has stored it.
  package func give(_ tap: SampleTap) async throws {
    _ = try await connection.call(
      agent ?? ":0.0", try ObjectPath(Names.Agent.tapReceiverPath), Names.Daemon.agentInterface, "TagRead",
      [.dictionary(tap.values)])
  }

  /// Gives taps one after the other, so that the agent stores them in this order.
  package func give(_ taps: [SampleTap]) async throws { for tap in taps { try await give(tap) } }
}

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
