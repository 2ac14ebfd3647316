import Bus
import EventLoop
import Glibc
import Journal
import Names
import Presence
import Settings

extension DaemonService {
  /// The properties of the manager object that can change.
  private var properties: [String: Value] {
    [
      "Enabled": .boolean(state.isEnabled), "Scanning": .boolean(state.isScanning),
      "SuspendReasons": .strings(state.suspendReasons),
      "Readers": .objectPaths(state.readers.sorted { $0.key < $1.key }.map(\.value.path)),
      "ConfigurationError": .string(configurationError ?? ""), "ConfigurationTime": .uint64(configurationTime),
      "StationUser": .string(state.station == nil ? "" : configuration.stationUser?.name ?? ""),
      "StationActive": .boolean(state.stationInFront(of: DaemonState.defaultSeat) != nil),
    ]
  }

  /// Sends the properties that have changed since the last call. The first call for an object sends none.
  func publish() {
    if let path = try? ObjectPath(Names.Daemon.path) {
      publish(properties, of: Names.Daemon.managerInterface, at: path)
    }
    for reader in state.readers.values {
      publish(reader.properties.values, of: Names.Daemon.readerInterface, at: reader.path)
    }
  }

  private func publish(_ properties: [String: Value], of interface: String, at path: ObjectPath) {
    guard connection != nil, let before = published.updateValue(properties, forKey: path), before != properties else {
      return
    }
    let names = properties.keys.filter { properties[$0] != before[$0] }
    // A task that uses this actor starts on its loop, so the signals keep their order.
    Task { await self.connection?.propertiesChanged(names, of: interface, at: path) }
  }

  func managerInterface() -> ExportedInterface {
    func property(_ name: String, _ signature: Signature) -> ExportedProperty {
      ExportedProperty(name, signature) { [weak self] _ in await self?.properties[name] ?? .boolean(false) }
    }
    return ExportedInterface(
      Names.Daemon.managerInterface,
      methods: [
        ExportedMethod("RegisterAgent", in: [Argument("path", "o"), Argument("options", "a{sv}")]) {
          [weak self] _, call in
          try await self?.registerAgent(call) ?? []
        },
        ExportedMethod("ReportConditions", in: [Argument("conditions", "a{sb}")]) { [weak self] _, call in
          try await self?.reportConditions(call) ?? []
        },
        ExportedMethod(
          "Inhibit", in: [Argument("who", "s"), Argument("why", "s")], out: [Argument("inhibitor", "h")]
        ) { [weak self] _, call in
          try await self?.inhibit(call) ?? []
        },
        ExportedMethod(
          "InhibitWithOptions", in: [Argument("who", "s"), Argument("why", "s"), Argument("options", "a{sv}")],
          out: [Argument("inhibitor", "h"), Argument("results", "a{sv}")]
        ) { [weak self] _, call in
          try await self?.inhibitWithOptions(call) ?? []
        },
        ExportedMethod("ListInhibitors", out: [Argument("inhibitors", "a(ssuu)")]) { [weak self] _, _ in
          await self?.listInhibitors() ?? []
        },
        ExportedMethod(
          "StartReaderSession", in: [Argument("options", "a{sv}")], out: [Argument("session", "o")]
        ) { [weak self] _, call in
          try await self?.startReaderSession(call) ?? []
        },
        ExportedMethod("ReadingAvailable", out: [Argument("available", "b")]) { [weak self] _, call in
          try await self?.readingAvailable(call) ?? []
        },
        ExportedMethod("CancelReaderSession", in: [Argument("session", "o")]) { [weak self] _, call in
          try await self?.cancelReaderSession(call) ?? []
        },
        ExportedMethod("IdentifyReaders", in: [Argument("options", "a{sv}")]) { [weak self] _, call in
          try await self?.identifyReaders(call) ?? []
        },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(Names.interfaceVersion) },
        ExportedProperty("Enabled", "b") { [weak self] _ in
          await self?.properties["Enabled"] ?? .boolean(false)
        } set: { [weak self] value, call in
          try await self?.setEnabled(value.asBool ?? false, call)
        },
        property("Scanning", "b"), property("SuspendReasons", "as"), property("Readers", "ao"),
        property("ConfigurationError", "s"), property("ConfigurationTime", "t"),
        property("StationUser", "s"), property("StationActive", "b"),
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
      throw BusError(name: Names.Errors.failed, message: "cannot store Enabled: \(error); \(meanwhile)")
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

/// The switch of background scanning. A file keeps it over a restart.
///
/// The file contains `yes` or `no`; without the file scanning is on. If the file cannot be read or has another content,
/// scanning stays off, because it may have been switched off. Storing waits for the disk.
struct MasterSwitch: Sendable {
  private let directory: String

  init(directory: String) { self.directory = directory }

  /// The switch in the first directory of systemd's `STATE_DIRECTORY`, or in the standard directory.
  static func standard() -> MasterSwitch {
    let given = getenv("STATE_DIRECTORY").flatMap { String(cString: $0).split(separator: ":").first.map(String.init) }
    return MasterSwitch(directory: given ?? Names.Files.daemonState)
  }

  private var path: String { "\(directory)/enabled" }

  struct Stored: Hashable, Sendable {
    var isEnabled: Bool
    /// A problem with the file and its remedy, for the log.
    var problem: String?
  }

  func load() -> Stored {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      let error = SystemError("read \(path)")
      return [ENOENT, ENOTDIR].contains(error.number) ? Stored(isEnabled: true) : off("\(error)")
    }
    let file = FileDescriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(file.rawValue, &bytes, bytes.count)
    guard count >= 0 else { return off("\(SystemError("read \(path)"))") }
    switch String(decoding: bytes.prefix(count), as: UTF8.self) {
    case "yes\n", "yes": return Stored(isEnabled: true)
    case "no\n", "no": return Stored(isEnabled: false)
    default: return off("\(path) contains neither yes nor no")
    }
  }

  private func off(_ problem: String) -> Stored {
    let remedy = "scanning stays off until you run `tagroute on`, or remove the file and restart tagrouted"
    return Stored(isEnabled: false, problem: "\(problem): \(remedy)")
  }

  /// Stores the switch. After a failure the file has the old value.
  func store(_ isEnabled: Bool) throws(SystemError) {
    _ = mkdir(directory, 0o755)
    try FileDescriptor.replace(path, with: Array((isEnabled ? "yes\n" : "no\n").utf8), mode: 0o644)
  }
}
