package import Bus
import EventLoop

/// A screen saver on a private bus.
package actor ScreenSaverStandIn {
  private nonisolated let loop = EventLoop(label: "saver")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let name: String
  private let interface: String
  private let connection: Connection
  private var isActive: Bool?
  private var questions = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []

  private init(_ name: String, on address: BusAddress, isActive: Bool?) async throws {
    self.name = name
    interface = name == "org.gnome.Shell.ScreenShield" ? "org.gnome.ScreenSaver" : name
    self.isActive = isActive
    connection = try await Connection.open(address, on: loop)
  }

  /// Starts a screen saver, which owns its name when this returns. Its bus name is also its interface, except for GNOME
  /// Shell. If `isActive` is nil, the saver can only be inhibited, and reports no state. By default, its path
  /// corresponds to its interface.
  package static func start(
    _ name: String = "org.gnome.ScreenSaver", on address: BusAddress, isActive: Bool? = false,
    at path: ObjectPath? = nil
  ) async throws -> ScreenSaverStandIn {
    let saver = try await ScreenSaverStandIn(name, on: address, isActive: isActive)
    try await saver.begin(at: path)
    atEndOfTest { await saver.stop() }
    return saver
  }

  private var path: ObjectPath {
    get throws { try ObjectPath("/" + interface.split(separator: ".").joined(separator: "/")) }
  }

  private func begin(at path: ObjectPath?) async throws {
    let getActive = ExportedMethod("GetActive", out: [Argument("active", "b")]) { [weak self] _, _ in
      [.boolean(try await self?.answer() ?? false)]
    }
    let exported = ExportedInterface(
      interface, methods: [getActive], signals: [ExportedSignal("ActiveChanged", [Argument("active", "b")])])
    try await connection.export([exported], at: try path ?? self.path)
    try await connection.standIn(for: name)
  }

  private func answer() throws -> Bool {
    questions += 1
    for waiter in waiting { waiter.resume() }
    waiting = []
    guard let isActive else { throw BusError(name: BusError.Name.notSupported, message: "not implemented") }
    return isActive
  }

  /// Waits until a caller has asked whether the screen saver is active.
  package func asked() async {
    guard questions == 0 else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Becomes active or inactive, and announces it.
  package func setActive(_ active: Bool) async throws {
    isActive = active
    try await connection.emit(path: try path, interface: interface, member: "ActiveChanged", [.boolean(active)])
  }

  /// Announces a state under a name that it does not own, like an impostor.
  package func pretend(_ active: Bool, of other: String) async throws {
    let path = try ObjectPath("/" + other.split(separator: ".").joined(separator: "/"))
    try await connection.emit(path: path, interface: other, member: "ActiveChanged", [.boolean(active)])
  }

  /// Leaves the bus, as a crash would.
  package func stop() async { await connection.crash() }
}

/// A service on a private bus with one relevant property.
package actor PropertyStandIn {
  private nonisolated let loop = EventLoop(label: "property")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let name: String
  private let path: ObjectPath
  private let property: String
  private let connection: Connection
  private var value: Value

  private init(_ name: String, _ property: String, _ value: Value, on address: BusAddress) async throws {
    self.name = name
    self.property = property
    self.value = value
    path = try ObjectPath("/" + name.split(separator: ".").joined(separator: "/"))
    connection = try await Connection.open(address, on: loop)
  }

  /// Starts a service, which owns its name when this returns. Its bus name also determines its interface and its path.
  package static func start(
    _ name: String, _ property: String, _ value: Value, on address: BusAddress
  ) async throws -> PropertyStandIn {
    let service = try await PropertyStandIn(name, property, value, on: address)
    try await service.begin(value)
    atEndOfTest { await service.stop() }
    return service
  }

  private func begin(_ value: Value) async throws {
    let signature = value.asBool == nil ? "i" : "b"
    let exported = ExportedProperty(property, try Signature(signature), emits: .changed) { [weak self] _ in
      await self?.value ?? value
    }
    try await connection.export([ExportedInterface(name, properties: [exported])], at: path)
    try await connection.standIn(for: name)
  }

  /// Changes the property to a value of the same type, and announces it.
  package func set(_ value: Value) async {
    self.value = value
    await connection.propertiesChanged([property], of: name, at: path)
  }

  /// Leaves the bus, as a crash would.
  package func stop() async { await connection.crash() }
}
