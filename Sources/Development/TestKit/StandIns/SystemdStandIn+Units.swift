import Bus

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
