package import Bus
import EventLoop

/// A stand-in for NetworkManager on a private bus: one device, and profiles that are added and activated.
package actor NetworkManagerStandIn {
  /// What happens to a network that is to be joined.
  package enum Mood: Sendable {
    case joins
    /// It does not accept the password.
    case wantsAnotherPassword
    case refuses(BusError)
    /// It stays between the two.
    case hangs
    /// It is added, but the call gets no reply.
    case addsWithoutReply
  }

  /// What a caller has asked for.
  package enum Request: Sendable, Hashable {
    /// Add a profile with these settings and options, and activate it on this device.
    case add([String: [String: Value]], device: String, options: [String: Value])
    /// Replace the settings of the profile, and write them to a file if the flags say so.
    case update([String: [String: Value]], flags: UInt32)
    /// Remove the profile.
    case delete
  }

  private static let path: ObjectPath = "/org/freedesktop/NetworkManager"
  private static let device: ObjectPath = "/org/freedesktop/NetworkManager/Devices/1"
  private static let settings: ObjectPath = "/org/freedesktop/NetworkManager/Settings"
  private static let active: ObjectPath = "/org/freedesktop/NetworkManager/ActiveConnection/1"
  private static let name = "org.freedesktop.NetworkManager"

  private let connection: Connection
  private var mood: Mood
  private let deviceType: UInt32
  private let deviceState: UInt32
  private let isEnabled: Bool
  /// `NMActiveConnectionState`.
  private var state: UInt32 = 0
  private struct Profile {
    let path: ObjectPath
    var settings: [String: [String: Value]]
  }

  /// By UUID.
  private var profiles: [String: Profile] = [:]
  private var lastNumber = 0
  /// Calls that get no reply before the end.
  private var withoutReply: [CheckedContinuation<Void, Never>] = []
  private let requests: Arrivals<Request>

  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Starts the stand-in, which owns its name when this returns. The device is a Wi-Fi device (2) that is not connected
  /// (30), or one of another type or state.
  package static func start(
    on address: BusAddress, _ mood: Mood = .joins, deviceType: UInt32 = 2, deviceState: UInt32 = 30,
    isEnabled: Bool = true
  ) async throws -> NetworkManagerStandIn {
    let connection = try await Connection.open(address, on: EventLoop(label: "network-manager"))
    let manager = NetworkManagerStandIn(connection, mood, deviceType, deviceState, isEnabled)
    try await manager.begin()
    atEndOfTest { await manager.stop() }
    return manager
  }

  private init(_ connection: Connection, _ mood: Mood, _ deviceType: UInt32, _ deviceState: UInt32, _ isEnabled: Bool) {
    self.connection = connection
    self.mood = mood
    self.deviceType = deviceType
    self.deviceState = deviceState
    self.isEnabled = isEnabled
    requests = Arrivals(of: "request to NetworkManager", on: connection.loop)
  }

  /// The next request that no earlier call of this function has returned, as soon as it arrives.
  package func next() async throws -> Request { try await requests.next() }

  /// All requests so far.
  package var all: [Request] { requests.all }

  /// From now on, networks fare like this.
  package func change(to mood: Mood) { self.mood = mood }

  package var passwords: [String] {
    profiles.values.compactMap { $0.settings["802-11-wireless-security"]?["psk"]?.asString }.sorted()
  }

  /// Leaves the bus, as a crash would.
  package func stop() async {
    for call in withoutReply { call.resume() }
    withoutReply = []
    await connection.crash()
  }

  private func begin() async throws {
    try await connection.export([manager()], at: Self.path)
    try await connection.export([deviceInterface()], at: Self.device)
    try await connection.export([settingsInterface()], at: Self.settings)
    try await connection.export([activeInterface()], at: Self.active)
    try await connection.standIn(for: Self.name)
  }

  private func manager() -> ExportedInterface {
    ExportedInterface(
      Self.name,
      methods: [
        ExportedMethod("GetDevices", in: [], out: [Argument("devices", "ao")]) { _, _ in
          [.objectPaths([NetworkManagerStandIn.device])]
        },
        ExportedMethod(
          "AddAndActivateConnection2",
          in: [
            Argument("connection", "a{sa{sv}}"), Argument("device", "o"), Argument("specific_object", "o"),
            Argument("options", "a{sv}"),
          ],
          out: [Argument("path", "o"), Argument("active_connection", "o"), Argument("result", "a{sv}")]
        ) { [weak self] _, call in try await self?.add(call) ?? [] },
      ],
      properties: [
        ExportedProperty("WirelessEnabled", "b", emits: .changed) { [weak self] _ in
          .boolean(self?.isEnabled ?? false)
        }
      ])
  }

  private func deviceInterface() -> ExportedInterface {
    ExportedInterface(
      "org.freedesktop.NetworkManager.Device",
      properties: [
        ExportedProperty("DeviceType", "u", emits: .const) { [weak self] _ in .uint32(self?.deviceType ?? 0) },
        ExportedProperty("State", "u", emits: .changed) { [weak self] _ in .uint32(self?.deviceState ?? 0) },
      ])
  }

  private func settingsInterface() -> ExportedInterface {
    ExportedInterface(
      "org.freedesktop.NetworkManager.Settings",
      methods: [
        ExportedMethod(
          "GetConnectionByUuid", in: [Argument("uuid", "s")], out: [Argument("connection", "o")]
        ) { [weak self] _, call in
          guard let path = await self?.path(of: call.arguments[0].asString ?? "") else {
            throw BusError(
              name: "org.freedesktop.NetworkManager.Settings.InvalidConnection", message: "there is no such profile")
          }
          return [.objectPath(path)]
        }
      ])
  }

  private func profileInterface(_ uuid: String) -> ExportedInterface {
    ExportedInterface(
      "org.freedesktop.NetworkManager.Settings.Connection",
      methods: [
        ExportedMethod("GetSettings", in: [], out: [Argument("settings", "a{sa{sv}}")]) { [weak self] _, _ in
          [await self?.settings(of: uuid) ?? .dictionary([:])]
        },
        ExportedMethod(
          "Update2", in: [Argument("settings", "a{sa{sv}}"), Argument("flags", "u"), Argument("args", "a{sv}")],
          out: [Argument("result", "a{sv}")]
        ) { [weak self] _, call in
          await self?.update(
            uuid, NetworkManagerStandIn.groups(call.arguments[0]), flags: call.arguments[1].asUInt32 ?? 0)
          return [.dictionary([:])]
        },
        ExportedMethod("Delete", in: [], out: []) { [weak self] _, _ in
          await self?.delete(uuid)
          return []
        },
      ])
  }

  private func activeInterface() -> ExportedInterface {
    ExportedInterface(
      "org.freedesktop.NetworkManager.Connection.Active",
      properties: [
        ExportedProperty("State", "u", emits: .changed) { [weak self] _ in .uint32(await self?.readState() ?? 0) }
      ],
      signals: [ExportedSignal("StateChanged", [Argument("state", "u"), Argument("reason", "u")])])
  }

  private func request(_ request: Request) { requests.append(request) }

  private func path(of uuid: String) -> ObjectPath? { profiles[uuid]?.path }

  private func update(_ uuid: String, _ settings: [String: [String: Value]], flags: UInt32) {
    profiles[uuid]?.settings = settings
    request(.update(settings, flags: flags))
  }

  private func delete(_ uuid: String) {
    profiles[uuid] = nil
    request(.delete)
  }

  private func add(_ call: IncomingCall) async throws -> [Value] {
    let added = Self.groups(call.arguments[0])
    request(
      .add(added, device: call.arguments[1].asObjectPath?.string ?? "", options: call.arguments[3].asDictionary ?? [:]))
    if case .refuses(let error) = mood { throw error }
    let uuid = added["connection"]?["uuid"]?.asString ?? ""
    guard profiles[uuid] == nil else {
      throw BusError(name: "org.freedesktop.NetworkManager.Settings.UuidExists", message: "there is such a profile")
    }
    lastNumber += 1
    let path = try ObjectPath("\(Self.settings)/\(lastNumber)")
    profiles[uuid] = Profile(path: path, settings: added)
    state = 1
    try await connection.export([profileInterface(uuid)], at: path)
    if case .addsWithoutReply = mood { await withCheckedContinuation { withoutReply.append($0) } }
    return [.objectPath(path), .objectPath(Self.active), .dictionary([:])]
  }

  private static func groups(_ settings: Value) -> [String: [String: Value]] {
    settings.asDictionary?.compactMapValues(\.asDictionary) ?? [:]
  }

  /// The settings of the profile, without the password.
  private func settings(of uuid: String) -> Value {
    var groups = profiles[uuid]?.settings ?? [:]
    groups["802-11-wireless-security"]?["psk"] = nil
    return .dictionary(
      key: "s", value: "a{sv}",
      groups.sorted { $0.key < $1.key }.map { DictionaryEntry(.string($0.key), .dictionary($0.value)) })
  }

  /// The caller follows the signals before it reads the state. So the end comes after that.
  private func readState() async -> UInt32 {
    let before = state
    switch mood {
    case .joins where before == 1: await finish(2, reason: 1)
    case .wantsAnotherPassword where before == 1: await finish(4, reason: 9)
    default: break
    }
    return before
  }

  private func finish(_ state: UInt32, reason: UInt32) async {
    self.state = state
    try? await connection.emit(
      path: Self.active, interface: "org.freedesktop.NetworkManager.Connection.Active", member: "StateChanged",
      [.uint32(state), .uint32(reason)])
  }
}
