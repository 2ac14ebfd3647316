import Bus
import EventLoop
import Journal
import Names
import Settings

/// The manager object on the bus, and the publication of changes.
@DaemonLoop final class ManagerObject {
  private let core: DaemonCore
  private let configuration: ConfigurationReload
  private let authorization: Authorization
  private let agents: AgentRegistrations
  private let readers: Readers
  private let traces: ReaderTraces
  private let sessions: SessionObjects
  private let inhibitors: Inhibitors
  private let masterSwitch: MasterSwitch
  /// Counts the calls that set the master switch.
  private var switches = 0
  private var storing: Task<Void, any Error>?
  /// The calls that wait until no reader scans, by the value of `switches`.
  private var stops: [Int: CheckedContinuation<Void, Never>] = [:]
  /// A reader that works stops in 50 milliseconds. A person should not wait for one that hangs until it is killed.
  private static let stopTimeout = Duration.seconds(5)
  /// The last published properties of each object.
  private var published: [ObjectPath: [String: Value]] = [:]

  init(
    _ core: DaemonCore, _ configuration: ConfigurationReload, _ authorization: Authorization,
    _ agents: AgentRegistrations, _ readers: Readers, _ traces: ReaderTraces, _ sessions: SessionObjects,
    _ inhibitors: Inhibitors, _ masterSwitch: MasterSwitch
  ) {
    (self.core, self.configuration, self.authorization) = (core, configuration, authorization)
    (self.agents, self.readers, self.traces) = (agents, readers, traces)
    (self.sessions, self.inhibitors, self.masterSwitch) = (sessions, inhibitors, masterSwitch)
  }

  /// The properties that can change.
  private var properties: [String: Value] {
    let (state, seats) = (core.state, core.state.seats)
    return [
      "Enabled": .boolean(seats.isEnabled), "Scanning": .boolean(state.readers.isScanning),
      "SuspendReasons": .strings(state.suspendReasons),
      "Readers": .objectPaths(state.readers.sorted.map(\.value.path)),
      "ConfigurationError": .string(configuration.error ?? ""), "ConfigurationTime": .uint64(configuration.time),
      "StationUser": .string(seats.station == nil ? "" : configuration.configuration.stationUser?.name ?? ""),
      "StationActive": .boolean(seats.stationInFront(of: Seats.defaultSeat) != nil),
    ]
  }

  /// Sends the properties that have changed since the last call. The first call for an object sends none.
  func publish() {
    let readers = core.state.readers.all.values
    let paths = Set(readers.map(\.path))
    published = published.filter { paths.contains($0.key) || $0.key.string == Names.Daemon.path }
    if let path = try? ObjectPath(Names.Daemon.path) {
      publish(properties, of: Names.Daemon.managerInterface, at: path)
    }
    for reader in readers {
      publish(reader.properties.values, of: Names.Daemon.readerInterface, at: reader.path)
    }
    guard !isStopping else { return }
    for number in stops.keys { endWait(number) }
  }

  private func publish(_ properties: [String: Value], of interface: String, at path: ObjectPath) {
    guard let connection = core.connection,
      let before = published.updateValue(properties, forKey: path), before != properties
    else { return }
    let names = properties.keys.filter { properties[$0] != before[$0] }
    Task { await connection.propertiesChanged(names, of: interface, at: path) }
  }

  var interface: ExportedInterface {
    func property(_ name: String, _ signature: Signature) -> ExportedProperty {
      ExportedProperty(name, signature) { [weak self] _ in await self?.properties[name] ?? .boolean(false) }
    }
    return ExportedInterface(
      Names.Daemon.managerInterface,
      methods: [
        ExportedMethod("RegisterAgent", in: [Argument("path", "o"), Argument("options", "a{sv}")], agents) {
          try await $0.register($1)
        },
        ExportedMethod("ReportConditions", in: [Argument("conditions", "a{sb}")], agents) {
          try $0.takeConditions($1)
        },
        ExportedMethod(
          "Inhibit", in: [Argument("who", "s"), Argument("why", "s")], out: [Argument("inhibitor", "h")], inhibitors
        ) { try await $0.inhibit($1) },
        ExportedMethod(
          "InhibitWithOptions", in: [Argument("who", "s"), Argument("why", "s"), Argument("options", "a{sv}")],
          out: [Argument("inhibitor", "h"), Argument("results", "a{sv}")], inhibitors
        ) { try await $0.inhibitWithOptions($1) },
        ExportedMethod("ListInhibitors", out: [Argument("inhibitors", "a(ssuu)")], inhibitors) { part, _ in
          part.list()
        },
        ExportedMethod(
          "StartReaderSession", in: [Argument("options", "a{sv}")], out: [Argument("session", "o")], sessions
        ) { try await $0.start($1) },
        ExportedMethod("ReadingAvailable", out: [Argument("available", "b")], sessions) {
          try await $0.readingAvailable($1)
        },
        ExportedMethod("CancelReaderSession", in: [Argument("session", "o")], sessions) { try $0.cancel($1) },
        ExportedMethod("RecordReader", in: [Argument("options", "a{sv}")], out: [Argument("trace", "h")], traces) {
          try await $0.start($1)
        },
        ExportedMethod("IdentifyReaders", in: [Argument("options", "a{sv}")], readers) { try $0.identify($1) },
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
    let attempt = "switch scanning \(isEnabled ? "on" : "off")"
    let uid = try await authorization.authorize(call, Names.PolkitAction.configure, to: attempt).uid
    // Switch off at once, without waiting for the disk.
    if !isEnabled { core.handle(.enabled(false)) }
    switches += 1
    let number = switches
    do {
      try await storeSwitch(isEnabled)
    } catch {
      core.log(.warning, "cannot store the master switch: \(error)")
      let meanwhile = isEnabled ? "scanning is not switched on" : "scanning is off only until the daemon stops"
      throw BusError(name: Names.Errors.failed, message: "cannot store Enabled: \(error); \(meanwhile)")
    }
    core.log(.notice, ofUser: uid, "\(call.sender) switched scanning \(isEnabled ? "on" : "off")")
    // A later call may have switched it again.
    if isEnabled, number == switches { core.handle(.enabled(true)) }
    if !isEnabled { try await waitForStop(number) }
  }

  /// Whether scanning is switched off, and a reader may still scan.
  private var isStopping: Bool { !core.state.seats.isEnabled && !core.state.readers.stopping.isEmpty }

  /// Returns when no reader scans, or when scanning is switched on again.
  private func waitForStop(_ number: Int) async throws(BusError) {
    guard isStopping else { return }
    let timer = DaemonLoop.schedule(after: Self.stopTimeout) { [weak self] in self?.endWait(number) }
    await withCheckedContinuation { stops[number] = $0 }
    timer.cancel()
    guard isStopping else { return }
    let readers = core.state.readers.stopping.map(\.label).joined(separator: ", ")
    throw .notPossible(
      "scanning is switched off, but not yet stopped on \(readers): try again, or unplug the reader")
  }

  private func endWait(_ number: Int) { stops.removeValue(forKey: number)?.resume() }

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
