package import Bus
import EventLoop
import Names

/// A stand-in for `tagrouted` and `tagroute-agent`, with values that a test sets.
package actor DaemonDouble {
  private nonisolated let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let connection: Connection
  private var scanning = false
  private var reasons = ["session-locked", "something-new"]

  /// Connects to a bus that serves as both the system bus and the session bus.
  package init(on address: String) async throws {
    loop = EventLoop(label: "double")
    connection = try await Connection.open(BusAddress(address), on: loop)
  }

  /// Takes the daemon's name, with one reader and two suspend reasons.
  package func start() async throws {
    let manager = ExportedInterface(
      Names.Daemon.managerInterface,
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string("9.8.7") },
        ExportedProperty("Enabled", "b", emits: .changed) { _ in .boolean(true) },
        ExportedProperty("Scanning", "b", emits: .changed) { _ in .boolean(await self.scanning) },
        ExportedProperty("SuspendReasons", "as", emits: .changed) { _ in .strings(await self.reasons) },
        ExportedProperty("Readers", "ao", emits: .changed) { _ in
          .objectPaths(["/org/tagroute/Tagroute1/readers/1"])
        },
      ])
    let reader = ExportedInterface(
      Names.Daemon.readerInterface,
      properties: [
        ExportedProperty("Name", "s", emits: .changed) { _ in .string("pn532\u{202E}") },
        ExportedProperty("Device", "s", emits: .const) { _ in .string("pn532_uart:/dev/x") },
        ExportedProperty("Seat", "s", emits: .const) { _ in .string("seat0") },
        ExportedProperty("State", "s", emits: .changed) { _ in .string("failed") },
        ExportedProperty("StateReason", "s", emits: .changed) { _ in .string("it is taken by pcscd") },
        ExportedProperty("Technologies", "as", emits: .changed) { _ in .strings(["type-2", "type-9"]) },
        ExportedProperty("Counters", "a{st}", emits: .none) { _ in
          .dictionary(key: "s", value: "t", [DictionaryEntry(.string("placements"), .uint64(7))])
        },
      ])
    try await connection.export([manager], at: "/org/tagroute/Tagroute1", objectManager: true)
    try await connection.export([reader], at: "/org/tagroute/Tagroute1/readers/1")
    try await connection.standIn(for: Names.Daemon.busName)
  }

  /// Reports from now on that scanning is suspended for these reasons, without a signal.
  package func doesNotScan(for reasons: [String]) {
    scanning = false
    self.reasons = reasons
  }

  /// Takes the agent's name, with one working and one broken handler. If `isRegistered`, it reports that the daemon has
  /// accepted it.
  package func startAgent(
    isRegistered: Bool = false, version: String = "1.2.3", outgoing: [String: Value]? = nil
  ) async throws {
    let outbox = outgoing.map { values in
      ExportedProperty("Outgoing", "a{sv}", emits: .none) { _ in .dictionary(values) }
    }
    let agent = ExportedInterface(
      Names.Agent.interface,
      methods: [
        ExportedMethod(
          "Resolve", in: [Argument("uri", "s")], out: [Argument("route", "a{sv}")]
        ) { _, call in
          let uri = call.arguments.first?.asString ?? ""
          guard uri.utf8.count <= 8192 else {
            throw BusError(name: Names.Errors.invalidArgument, message: "the URI is longer than 8 KiB")
          }
          return [
            .dictionary([
              "uri": .string(uri), "kind": .string("none"), "candidates": .strings([]), "trusted": .boolean(false),
              "reason": .string("nobody"), "steps": .strings(["uri: it is well-formed"]),
            ])
          ]
        },
        ExportedMethod("ListHandlers", in: [], out: [Argument("handlers", "aa{sv}")]) { _, _ in
          [
            .dictionaries([
              [
                "id": .string("org.example.Menu.desktop"), "name": .string("Menu"), "path": .string("/m"),
                "domains": .strings(["menu.example.com"]), "schemes": .strings(["x-menu"]), "trusted": .boolean(false),
                "origin": .string("store"), "preferred": .strings(["x-menu:"]), "blocked": .strings([]),
              ],
              [
                "id": .string("broken.desktop"), "name": .string("Broken"), "problem": .string("no Exec"),
                "path": .string("/usr/share/applications/broken.desktop"), "line": .uint32(3),
              ],
            ])
          ]
        },
        ExportedMethod("Reload") { _, _ in [] },
        ExportedMethod("ReloadHandlers") { _, _ in [] },
        ExportedMethod("SetLocked", in: [Argument("locked", "b")]) { _, _ in [] },
        ExportedMethod("Prefer", in: [Argument("handler", "s"), Argument("claim", "s")]) { _, _ in [] },
        ExportedMethod("Block", in: [Argument("handler", "s"), Argument("claim", "s")]) { _, _ in [] },
        ExportedMethod("Forget", in: [Argument("handler", "s"), Argument("claim", "s")]) { _, _ in
          throw BusError(name: Names.Errors.failed, message: "intentapps.list:3: is damaged")
        },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(version) },
        ExportedProperty("Registered", "b", emits: .changed) { _ in .boolean(isRegistered) },
      ] + [outbox].compactMap { $0 })
    try await connection.export([agent], at: "/org/tagroute/Agent1")
    try await connection.standIn(for: Names.Agent.busName)
  }

  /// Starts scanning, and announces it.
  package func beginScanning() async {
    (scanning, reasons) = (true, [])
    await connection.propertiesChanged(
      ["Scanning", "SuspendReasons"], of: Names.Daemon.managerInterface, at: "/org/tagroute/Tagroute1")
  }

  /// Announces that the tap `an-id` was delivered.
  package func deliverTap() async throws {
    try await connection.emit(
      path: "/org/tagroute/Agent1", interface: Names.Agent.interface, member: "TapClosed",
      [.string("an-id"), .string("delivered")])
  }
}
