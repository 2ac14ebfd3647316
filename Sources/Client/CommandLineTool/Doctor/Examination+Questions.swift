import Bus
import EventLoop
import Glibc
import Names
import ReaderModels
import TagrouteClient

extension Examination {
  /// Examines the system without changing it, except that calls may start services on the buses. The results include
  /// failed questions.
  static func make(on loop: EventLoop) async -> Examination {
    let files = ExaminedFiles(ProcessEnvironment.current)
    var seen = Examination()
    seen.home = files.environment["HOME"]
    seen.setup = files.setup()
    seen.hasKernelModule = files.isLoaded(Diagnosis.kernelModule)
    seen.isKernelModuleKeptOff = files.isKeptOff(Diagnosis.kernelModule)
    seen.hasOwnModuleFile = files.hasOwnModuleFile
    seen.pcsc = files.pcsc()
    seen.policyFile = files.policy()
    seen.hasUdevRules = files.hasUdevRules
    seen.readerProgram = await ReaderProgramProbe.run(
      seen.setup.program(Names.Files.readerProgram), libraries: ["libnfc"])
    if !seen.pcsc.readers.isEmpty {
      seen.pcscReaderProgram = await ReaderProgramProbe.run(
        seen.setup.program(Names.Files.pcscReaderProgram), libraries: ["pcsc-lite", "libpcsclite"])
    }
    // Ask both buses at the same time, because a call on either may take long.
    let start = seen
    async let session = {
      var seen = start
      let agent = await seen.askSessionBus(on: loop)
      return (seen, agent)
    }()
    let daemon = await seen.askSystemBus(files, on: loop)
    let (asked, agent) = await session
    seen.takeSession(of: asked)
    seen.configuration = files.daemonConfiguration(
      arguments: daemon.flatMap { files.arguments(of: $0) } ?? seen.daemonUnit.value?.arguments)
    seen.agentConfiguration = files.agentConfiguration(
      arguments: agent.flatMap { files.arguments(of: $0) } ?? seen.agentUnit.value?.arguments)
    var versions = ["tagroute \(Names.version)"]
    for program in [seen.readerProgram, seen.pcscReaderProgram] {
      if case .loads(let library) = program { versions.append(library) }
    }
    if !seen.pcsc.readers.isEmpty { versions += seen.pcsc.drivers.compactMap(\.nameAndVersion) }
    seen.versions = versions + seen.versions + files.versions(seen.setup)
    return seen
  }

  /// Returns the daemon's process id; nil if it is not running.
  private mutating func askSystemBus(_ files: ExaminedFiles, on loop: EventLoop) async -> UInt32? {
    let bus: Connection
    do throws(BusError) {
      bus = try await Connection.open(.system, on: loop)
    } catch {
      systemBus = error
      return nil
    }
    daemon = await Answer { () throws(BusError) in try await DaemonClient(bus).status(timeout: Self.timeout) }
    daemonUnit = await Answer { () throws(BusError) in try await Self.unit(RunningProgram.daemon.unit, bus) }
    if daemonUnit.value != nil {
      setup.hasSystemd = true
      if let version = try? await Self.systemdVersion(bus) { versions.append("systemd \(version)") }
      polkitUnit = await Answer { () throws(BusError) in try await Self.unit(Setup.polkitUnit, bus) }
    }
    if !pcsc.readers.isEmpty {
      pcsc.socket = await Answer { () throws(BusError) in try await Self.unit(Setup.pcscdSocket, bus) }.value
    }
    polkitActions = await Answer { () throws(BusError) in
      let reply = try await bus.call(
        "org.freedesktop.PolicyKit1", ObjectPath("/org/freedesktop/PolicyKit1/Authority"),
        "org.freedesktop.PolicyKit1.Authority", "EnumerateActions", [.string("")], timeout: Self.timeout)
      return Set(reply.first?.asArray?.compactMap { $0.asStructure?.first?.asString } ?? [])
    }
    pcsc.asksPolkit = polkitActions.value?.contains(Diagnosis.pcscAction) == true
    let process = try? await Self.process(of: Names.Daemon.busName, bus)
    guard let status = daemon.value else { return process }
    daemonCredentials = process.flatMap { files.credentials(of: $0) }
    for reader in status.readers where ["absent", "failed"].contains(reader.state) {
      nodes[reader.path] = files.node(of: reader.device)
    }
    if status.suspendReasons.contains("inhibited") {
      inhibitors = (try? await DaemonClient(bus).inhibitors(timeout: Self.timeout)) ?? []
    }
    return process
  }

  private mutating func takeSession(of other: Examination) {
    (sessionBus, agent, handlers, notifications) = (other.sessionBus, other.agent, other.handlers, other.notifications)
    (agentUnit, graphicalSession) = (other.agentUnit, other.graphicalSession)
    (mqtt, mqttUnit, now) = (other.mqtt, other.mqttUnit, other.now)
  }

  /// Returns the agent's process id; nil if it is not running.
  private mutating func askSessionBus(on loop: EventLoop) async -> UInt32? {
    let bus: Connection
    do throws(BusError) {
      bus = try await Connection.open(.session, on: loop)
    } catch {
      sessionBus = error
      return nil
    }
    let client: AgentClient
    do throws(BusError) {
      client = try AgentClient(bus)
    } catch {
      agent = .failed(error)
      return nil
    }
    agent = await Answer { () throws(BusError) in try await client.status(timeout: Self.timeout) }
    agentUnit = await Answer { () throws(BusError) in try await Self.unit(RunningProgram.agent.unit, bus) }
    if agentUnit.value != nil {
      graphicalSession = await Answer { () throws(BusError) in try await Self.unit("graphical-session.target", bus) }
    }
    if agent.value.flatMap({ $0 }) != nil {
      handlers = await Answer { () throws(BusError) in
        try await client.reloadHandlers(timeout: Self.timeout)
        return try await client.handlers(timeout: Self.timeout)
      }
    }
    if agent.value.flatMap({ $0 })?.outgoing?.isOfInterest == true {
      mqtt = await Answer { () throws(BusError) in try await MqttStatus.current(bus, timeout: Self.timeout) }
      mqttUnit = await Answer { () throws(BusError) in try await Self.unit(RunningProgram.mqtt.unit, bus) }
    }
    now = SystemClock.now
    notifications = await Answer { () throws(BusError) in
      let information = try await Self.notifications("GetServerInformation", bus)
      let capabilities = try await Self.notifications("GetCapabilities", bus).first?.asStrings ?? []
      return NotificationServer(
        name: information.first?.asString ?? "", version: information.count > 2 ? information[2].asString ?? "" : "",
        capabilities: Set(capabilities))
    }
    return try? await Self.process(of: Names.Agent.busName, bus)
  }

  private static func notifications(_ member: String, _ bus: Connection) async throws(BusError) -> [Value] {
    try await bus.call(
      "org.freedesktop.Notifications", ObjectPath("/org/freedesktop/Notifications"), "org.freedesktop.Notifications",
      member, timeout: timeout)
  }

  /// The id of the process that owns a name.
  private static func process(of name: String, _ bus: Connection) async throws(BusError) -> UInt32? {
    try await bus.call(
      "org.freedesktop.DBus", ObjectPath("/org/freedesktop/DBus"), "org.freedesktop.DBus",
      "GetConnectionUnixProcessID", [.string(name)], timeout: timeout
    ).first?.asUInt32
  }

  // MARK: systemd

  private static let systemd = "org.freedesktop.systemd1"
  private static let managerPath = "/org/freedesktop/systemd1"

  private static func systemdVersion(_ bus: Connection) async throws(BusError) -> String? {
    try await properties(ObjectPath(managerPath), "Manager", bus)["Version"]?.asString
  }

  /// Asks the systemd instance on this bus: the system's or the user's.
  private static func unit(_ name: String, _ bus: Connection) async throws(BusError) -> Unit {
    let reply = try await bus.call(
      systemd, ObjectPath(managerPath), "\(systemd).Manager", "LoadUnit", [.string(name)], timeout: timeout,
      autoStart: false)
    guard let path = reply.first?.asObjectPath else { throw .failed("LoadUnit gave no path") }
    let all = try await properties(path, "Unit", bus)
    var unit = Unit(
      load: all["LoadState"]?.asString ?? "", active: all["ActiveState"]?.asString ?? "",
      sub: all["SubState"]?.asString ?? "", file: all["UnitFileState"]?.asString ?? "",
      loadError: all["LoadError"]?.asStructure?.last?.asString ?? "")
    // The timestamp is 0 if the unit was never started. Then there is no result.
    unit.missesCondition =
      all["ConditionResult"]?.asBool == false && all["ConditionTimestamp"]?.asUInt64 ?? 0 != 0
    guard name.hasSuffix(".service"), unit.load == "loaded" else { return unit }
    let service = try await properties(path, "Service", bus)
    unit.result = service["Result"]?.asString ?? ""
    // CLD_EXITED. For other codes the status is a signal.
    if service["ExecMainCode"]?.asInt32 == 1 { unit.exitStatus = service["ExecMainStatus"]?.asInt32 }
    unit.restarts = service["NRestarts"]?.asUInt32 ?? 0
    let command = service["ExecStart"]?.asArray?.first?.asStructure ?? []
    unit.arguments = command.count > 1 ? command[1].asStrings ?? [] : []
    if let policy = service["DevicePolicy"]?.asString,
      policy != "auto" || service["DeviceAllow"]?.asArray?.isEmpty == false
    {
      let allowed = (service["DeviceAllow"]?.asArray ?? []).compactMap { entry -> AllowedDevice? in
        guard let words = entry.asStructure, let name = words.first?.asString else { return nil }
        return AllowedDevice(name: name, access: words.count > 1 ? words[1].asString ?? "" : "")
      }
      // systemd.resource-control(5): all policies but `strict` allow pseudo devices, including pseudo-terminals.
      unit.devices = allowed + (policy == "strict" ? [] : [AllowedDevice(name: "char-pts", access: "rw")])
    }
    return unit
  }

  private static func properties(
    _ path: ObjectPath, _ interface: String, _ bus: Connection
  ) async throws(BusError) -> [String: Value] {
    try await bus.call(
      systemd, path, "org.freedesktop.DBus.Properties", "GetAll", [.string("\(systemd).\(interface)")],
      timeout: timeout, autoStart: false
    ).first?.asDictionary ?? [:]
  }

  /// Long enough for a service that starts on demand, and short enough to report one that hangs.
  private static let timeout = Duration.seconds(10)
}
