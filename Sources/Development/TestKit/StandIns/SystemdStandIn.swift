package import Bus
import EventLoop
import Glibc
import Rig

/// A stand-in for systemd, the system's or the user's, on a private bus. It starts transient units and reports the
/// state of units.
package actor SystemdStandIn {
  /// One call of `StartTransientUnit`.
  package struct Unit: Sendable, Hashable {
    package let name: String
    /// How to handle conflicting jobs.
    package let mode: String
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

extension SystemdStandIn {
  /// The properties of a unit that callers ask for (org.freedesktop.systemd1(5)).
  package struct UnitState: Sendable {
    /// `LoadState`.
    package var load = "loaded"
    /// `ActiveState`.
    package var active = "active"
    /// `SubState`.
    package var sub = "running"
    /// `UnitFileState`.
    package var file = "enabled"
    /// `LoadError`, its message.
    package var loadError = ""
    /// `ExecMainStatus` of a program that has exited by itself; nil if it has not.
    package var exitStatus: Int32?
    /// `NRestarts`.
    package var restarts: UInt32 = 0
    /// The entries of `DeviceAllow`, as in a unit: `/dev/ttyS0 r`. Without letters, `rw` is meant. Any entry closes all
    /// other devices.
    package var devices: [String] = []
    /// The argument vector in `ExecStart`.
    package var arguments: [String] = []

    /// A unit that is loaded and running.
    package init() {}
  }

  /// Sets the state of a unit. A unit without a state is not installed. The name has its ending. `change` starts with a
  /// unit that is loaded and running.
  package func setUnit(_ name: String, _ change: (inout UnitState) -> Void = { _ in }) async throws {
    var state = UnitState()
    change(&state)
    if states.updateValue(state, forKey: name) == nil { try await export(name) }
  }

  /// The object of a unit. Every name has one: a unit without a state is exported as not found.
  func load(_ name: String) async throws -> Value {
    if states[name] == nil {
      states[name] = UnitState()
      states[name]?.load = "not-found"
      states[name]?.active = "inactive"
      try await export(name)
    }
    return .objectPath(try path(of: name))
  }

  private func path(of name: String) throws -> ObjectPath {
    let escaped = name.utf8.map { byte in
      Character(Unicode.Scalar(byte)).isLetter ? String(Unicode.Scalar(byte)) : "_\(String(byte, radix: 16))"
    }
    return try ObjectPath("/org/freedesktop/systemd1/unit/\(escaped.joined())")
  }

  private func export(_ name: String) async throws {
    func property(
      _ property: String, _ signature: Signature, _ read: @escaping @Sendable (UnitState) -> Value
    ) -> ExportedProperty {
      ExportedProperty(property, signature, emits: .none) { [weak self] _ in
        read(await self?.states[name] ?? UnitState())
      }
    }
    let command: Signature = "(sasbttttuii)"
    let unit = ExportedInterface(
      "org.freedesktop.systemd1.Unit",
      properties: [
        property("LoadState", "s") { .string($0.load) },
        property("ActiveState", "s") { .string($0.active) },
        property("SubState", "s") { .string($0.sub) },
        property("UnitFileState", "s") { .string($0.file) },
        property("LoadError", "(ss)") { .structure([.string(""), .string($0.loadError)]) },
      ])
    let service = ExportedInterface(
      "org.freedesktop.systemd1.Service",
      properties: [
        property("Result", "s") { .string($0.exitStatus == nil ? "success" : "exit-code") },
        property("ExecMainCode", "i") { .int32($0.exitStatus == nil ? 0 : 1) },
        property("ExecMainStatus", "i") { .int32($0.exitStatus ?? 0) },
        property("NRestarts", "u") { .uint32($0.restarts) },
        property("DevicePolicy", "s") { _ in .string("auto") },
        property("DeviceAllow", "a(ss)") { state in
          .array(
            element: "(ss)",
            state.devices.map { device in
              let words = device.split(separator: " ").map(String.init)
              return .structure([.string(words.first ?? ""), .string(words.count > 1 ? words[1] : "rw")])
            })
        },
        property("ExecStart", "a(sasbttttuii)") { state in
          .array(
            element: command,
            state.arguments.isEmpty
              ? []
              : [
                .structure(
                  [.string(state.arguments[0]), .strings(state.arguments), .boolean(false)]
                    + [Value](repeating: .uint64(0), count: 4) + [.uint32(0), .int32(0), .int32(0)])
              ])
        },
      ])
    try await connection.export([unit, service], at: path(of: name))
  }
}

/// The socket on which a service reports to systemd, one message per datagram.
package final class NotifySocket: Sendable {
  private let messages: AsyncStream<String>
  private let watch: DescriptorWatch
  private let loop = EventLoop(label: "notify")

  /// Creates the socket at a path, as in `NOTIFY_SOCKET`.
  package init(_ path: String) throws {
    let descriptor = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw SystemError("bind \(path)") }
    let (messages, continuation) = AsyncStream.makeStream(of: String.self)
    self.messages = messages
    watch = try DescriptorWatch(descriptor, on: loop) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { continuation.yield(String(decoding: buffer[..<count], as: UTF8.self)) }
    }
  }

  /// The next message that `matches` accepts. Skips all others before it.
  package func next(where matches: (String) -> Bool) async throws -> String {
    for await message in messages where matches(message) { return message }
    throw RigError("systemd was not told")
  }
}
