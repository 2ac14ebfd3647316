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
  /// The NDEF message.
  package let message: [UInt8]

  /// - Parameters:
  ///   - number: less than 2^40.
  ///   - age: how long ago the tag was read. A negative one is in the future.
  ///   - padding: the number of bytes that make the message longer.
  package init(_ number: Int, age: Duration = .zero, padding: Int = 0) {
    self.number = number
    time = UInt64(clamping: Self.now - Int64(age / .microseconds(1)))
    message = Self.message("menu.example.com/table/\(number)" + String(repeating: "x", count: padding))
  }

  /// The UUID.
  package var id: String {
    let digits = String(number, radix: 16)
    return "01234567-89ab-4cde-8f01-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// The tag's UID.
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

  /// The connection's loop.
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
