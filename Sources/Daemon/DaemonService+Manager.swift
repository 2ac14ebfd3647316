import Bus
import EventLoop
import Journal
import Names
import Session

/// The properties of the manager object.
struct ManagerProperties: Hashable, Sendable {
  var enabled = true
  var scanning = false
  var suspendReasons: [String] = []
  var readers: [ObjectPath] = []
  /// The mistake in the configuration that was read last; empty if it is in force.
  var configurationError = ""
  /// When the configuration in force was read, in microseconds since 1970.
  var configurationTime: UInt64 = 0

  /// The names of the properties that differ from `other`.
  func differences(from other: ManagerProperties) -> [String] {
    var names: [String] = []
    if enabled != other.enabled { names.append("Enabled") }
    if scanning != other.scanning { names.append("Scanning") }
    if suspendReasons != other.suspendReasons { names.append("SuspendReasons") }
    if readers != other.readers { names.append("Readers") }
    if configurationError != other.configurationError { names.append("ConfigurationError") }
    if configurationTime != other.configurationTime { names.append("ConfigurationTime") }
    return names
  }
}

extension DaemonService {
  var properties: ManagerProperties {
    ManagerProperties(
      enabled: state.isEnabled, scanning: state.isScanning, suspendReasons: state.suspendReasons,
      readers: state.readers.sorted { $0.key < $1.key }.map(\.value.path),
      configurationError: configurationError ?? "", configurationTime: configurationTime)
  }

  /// Sends the properties that have changed since the last call.
  func publish() {
    guard let connection else { return }
    let present = properties
    let names = present.differences(from: published)
    published = present
    if !names.isEmpty, let path = try? ObjectPath(Names.Daemon.path) {
      Task { await connection.propertiesChanged(names, of: Names.Daemon.managerInterface, at: path) }
    }
    for (id, reader) in state.readers {
      let before = publishedReaders.updateValue(reader.properties, forKey: id)
      var names: [String] = []
      if before?.name != reader.properties.name { names.append("Name") }
      if before?.state != reader.properties.state { names.append("State") }
      if before?.stateReason != reader.properties.stateReason { names.append("StateReason") }
      if before?.seat != reader.properties.seat { names.append("Seat") }
      if before?.technologies != reader.properties.technologies { names.append("Technologies") }
      guard before != nil, !names.isEmpty else { continue }
      Task { await connection.propertiesChanged(names, of: Names.Daemon.readerInterface, at: reader.path) }
    }
  }

  func managerInterface() -> ExportedInterface {
    ExportedInterface(
      Names.Daemon.managerInterface,
      methods: [
        ExportedMethod("RegisterAgent", in: [Argument("path", "o"), Argument("options", "a{sv}")]) { [weak self] call in
          try await self?.registerAgent(call) ?? []
        },
        ExportedMethod("ReportConditions", in: [Argument("conditions", "a{sb}")]) { [weak self] call in
          try await self?.reportConditions(call) ?? []
        },
        ExportedMethod(
          "Inhibit", in: [Argument("who", "s"), Argument("why", "s")], out: [Argument("inhibitor", "h")]
        ) { [weak self] call in
          try await self?.inhibit(call) ?? []
        },
        ExportedMethod(
          "InhibitWithOptions", in: [Argument("who", "s"), Argument("why", "s"), Argument("options", "a{sv}")],
          out: [Argument("inhibitor", "h"), Argument("results", "a{sv}")]
        ) { [weak self] call in
          try await self?.inhibitWithOptions(call) ?? []
        },
        ExportedMethod("ListInhibitors", out: [Argument("inhibitors", "a(ssuu)")]) { [weak self] _ in
          await self?.listInhibitors() ?? []
        },
        ExportedMethod(
          "StartReaderSession", in: [Argument("options", "a{sv}")], out: [Argument("session", "o")]
        ) { [weak self] call in
          try await self?.startReaderSession(call) ?? []
        },
        ExportedMethod("CancelReaderSession", in: [Argument("session", "o")]) { [weak self] call in
          try await self?.cancelReaderSession(call) ?? []
        },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { .uint32(Names.interfaceVersion) },
        ExportedProperty("Enabled", "b") { [weak self] in
          .boolean(await self?.properties.enabled ?? false)
        } set: { [weak self] value, call in
          try await self?.setEnabled(value.asBool ?? false, call)
        },
        ExportedProperty("Scanning", "b") { [weak self] in .boolean(await self?.properties.scanning ?? false) },
        ExportedProperty("SuspendReasons", "as") { [weak self] in
          .strings(await self?.properties.suspendReasons ?? [])
        },
        ExportedProperty("Readers", "ao") { [weak self] in .objectPaths(await self?.properties.readers ?? []) },
        ExportedProperty("ConfigurationError", "s") { [weak self] in
          .string(await self?.properties.configurationError ?? "")
        },
        ExportedProperty("ConfigurationTime", "t") { [weak self] in
          .uint64(await self?.properties.configurationTime ?? 0)
        },
      ])
  }

  private func setEnabled(_ isEnabled: Bool, _ call: IncomingCall) async throws {
    let uid = try await authorize(call, Names.PolkitAction.configure, to: "switch scanning \(isEnabled ? "on" : "off")")
      .uid
    // Switch off at once, without waiting for the disk.
    if !isEnabled { handle(.enabled(false)) }
    switches += 1
    let number = switches
    do {
      try await storeSwitch(isEnabled)
    } catch {
      log(.warning, "cannot store the master switch: \(error)")
      let meanwhile = isEnabled ? "scanning is not switched on" : "scanning is off only until the daemon stops"
      throw BusError(name: Names.Errors.failed, message: "Enabled: \(error): \(meanwhile)")
    }
    log(.notice, ofUser: uid, "\(call.sender) switched scanning \(isEnabled ? "on" : "off")")
    // A later call may have switched it again.
    if isEnabled, number == switches { handle(.enabled(true)) }
  }

  /// Stores the switch on another thread, because the disk may be slow. Calls run one after the other.
  private func storeSwitch(_ isEnabled: Bool) async throws {
    let before = storing
    let task = Task { [masterSwitch] in
      _ = await before?.result
      try await DedicatedThread.run { Result { () throws(SystemError) in try masterSwitch.store(isEnabled) } }.get()
    }
    storing = task
    try await task.value
  }
}
