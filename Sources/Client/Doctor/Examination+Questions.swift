import Bus
package import EventLoop
import Glibc
import Names
import ReaderModels
import TagrouteClient

extension Examination {
  /// Examines the system without changing it, except that calls may start services on the buses. The results include
  /// failed questions.
  package static func make(on loop: EventLoop) async -> Examination {
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
    // Ask everybody at the same time, because any of them may take long.
    let start = seen
    async let readerProgram = ReaderProgramProbe.run(
      start.setup.program(Names.Files.readerProgram), libraries: ["libnfc"])
    async let pcscReaderProgram =
      start.pcsc.readers.isEmpty
      ? .notAsked
      : ReaderProgramProbe.run(
        start.setup.program(Names.Files.pcscReaderProgram), libraries: ["pcsc-lite", "libpcsclite"])
    async let session = {
      var seen = start
      let agent = await seen.askSessionBus(on: loop)
      return (seen, agent)
    }()
    let daemon = await seen.askSystemBus(files, on: loop)
    let (asked, agent) = await session
    seen.takeSession(of: asked)
    (seen.readerProgram, seen.pcscReaderProgram) = await (readerProgram, pcscReaderProgram)
    seen.configuration = files.daemonConfiguration(
      arguments: daemon.flatMap { files.arguments(of: $0) } ?? seen.daemonUnit.value?.arguments)
    seen.agentConfiguration = files.agentConfiguration(
      arguments: agent.flatMap { files.arguments(of: $0) } ?? seen.agentUnit.value?.arguments)
    seen.rules = files.rules()
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
    let bus: BusQuestions
    do throws(BusError) {
      bus = BusQuestions(try await Connection.open(.system, on: loop))
    } catch {
      systemBus = error
      return nil
    }
    let usesPCSC = !pcsc.readers.isEmpty
    async let daemon = Answer { () throws(BusError) in
      try await DaemonClient(bus.connection).status(timeout: bus.timeout)
    }
    async let inhibitors = try? DaemonClient(bus.connection).inhibitors(timeout: bus.timeout)
    async let daemonUnit = Answer { () throws(BusError) in try await bus.unit(RunningProgram.daemon.unit) }
    async let polkitUnit = Answer { () throws(BusError) in try await bus.unit(Setup.polkitUnit) }
    async let pcscdSocket = usesPCSC ? try? bus.unit(Setup.pcscdSocket) : nil
    async let version = try? bus.systemdVersion()
    async let polkitActions = Answer { () throws(BusError) in try await bus.polkitActions() }
    async let process = try? bus.process(of: Names.Daemon.busName)
    (self.daemon, self.daemonUnit, self.polkitActions) = await (daemon, daemonUnit, polkitActions)
    if self.daemonUnit.value != nil { setup.hasSystemd = true }
    if let version = await version { versions.append("systemd \(version)") }
    (self.polkitUnit, pcsc.socket) = await (polkitUnit, pcscdSocket)
    pcsc.asksPolkit = self.polkitActions.value?.contains(Diagnosis.pcscAction) == true
    let (daemonProcess, all) = await (process, inhibitors)
    guard let status = self.daemon.value else { return daemonProcess }
    daemonCredentials = daemonProcess.flatMap { files.credentials(of: $0) }
    for reader in status.readers where ["absent", "failed"].contains(reader.state) {
      nodes[reader.path] = files.node(of: reader.device)
    }
    if status.suspendReasons.contains("inhibited") { self.inhibitors = all ?? [] }
    return daemonProcess
  }

  private mutating func takeSession(of other: Examination) {
    (sessionBus, agent, handlers, notifications) = (other.sessionBus, other.agent, other.handlers, other.notifications)
    (agentUnit, graphicalSession) = (other.agentUnit, other.graphicalSession)
    (mqtt, mqttUnit, now) = (other.mqtt, other.mqttUnit, other.now)
  }

  /// Returns the agent's process id; nil if it is not running.
  private mutating func askSessionBus(on loop: EventLoop) async -> UInt32? {
    let bus: BusQuestions
    let client: AgentClient
    do throws(BusError) {
      bus = BusQuestions(try await Connection.open(.session, on: loop))
      client = try AgentClient(bus.connection)
    } catch {
      sessionBus = error
      return nil
    }
    async let agentUnit = Answer { () throws(BusError) in try await bus.unit(RunningProgram.agent.unit) }
    async let graphicalSession = Answer { () throws(BusError) in try await bus.unit("graphical-session.target") }
    async let notifications = Answer { () throws(BusError) in try await bus.notificationServer() }
    async let process = try? bus.process(of: Names.Agent.busName)
    agent = await Answer { () throws(BusError) in try await client.status(timeout: bus.timeout) }
    now = SystemClock.now
    if let status = agent.value.flatMap({ $0 }) {
      async let handlers = Answer { () throws(BusError) in
        try await client.reloadHandlers(timeout: bus.timeout)
        return try await client.handlers(timeout: bus.timeout)
      }
      if status.outgoing?.isOfInterest == true {
        async let mqtt = Answer { () throws(BusError) in
          try await MqttStatus.current(bus.connection, timeout: bus.timeout)
        }
        async let mqttUnit = Answer { () throws(BusError) in try await bus.unit(RunningProgram.mqtt.unit) }
        (self.mqtt, self.mqttUnit) = await (mqtt, mqttUnit)
      }
      self.handlers = await handlers
    }
    (self.agentUnit, self.graphicalSession, self.notifications) = await (agentUnit, graphicalSession, notifications)
    return await process
  }
}

/// Questions to the peers on a bus. All answers together have one time limit.
private struct BusQuestions: Sendable {
  let connection: Connection
  private let end = ContinuousClock.now + patience

  /// Long enough for a service that starts on demand, and short enough for a person to wait for one that hangs.
  private static let patience = Duration.seconds(3)

  init(_ connection: Connection) { self.connection = connection }

  /// How long the next answer may take.
  var timeout: Duration { max(end - .now, .milliseconds(1)) }

  func polkitActions() async throws(BusError) -> Set<String> {
    let reply = try await connection.call(
      "org.freedesktop.PolicyKit1", ObjectPath("/org/freedesktop/PolicyKit1/Authority"),
      "org.freedesktop.PolicyKit1.Authority", "EnumerateActions", [.string("")], timeout: timeout)
    return Set(reply.first?.asArray?.compactMap { $0.asStructure?.first?.asString } ?? [])
  }

  func notificationServer() async throws(BusError) -> Examination.NotificationServer {
    let information = try await notifications("GetServerInformation")
    let capabilities = try await notifications("GetCapabilities").first?.asStrings ?? []
    return Examination.NotificationServer(
      name: information.first?.asString ?? "", version: information.count > 2 ? information[2].asString ?? "" : "",
      capabilities: Set(capabilities))
  }

  private func notifications(_ member: String) async throws(BusError) -> [Value] {
    try await connection.call(
      "org.freedesktop.Notifications", ObjectPath("/org/freedesktop/Notifications"), "org.freedesktop.Notifications",
      member, timeout: timeout)
  }

  /// The id of the process that owns a name.
  func process(of name: String) async throws(BusError) -> UInt32? {
    try await connection.call(
      "org.freedesktop.DBus", ObjectPath("/org/freedesktop/DBus"), "org.freedesktop.DBus",
      "GetConnectionUnixProcessID", [.string(name)], timeout: timeout
    ).first?.asUInt32
  }

  // MARK: systemd

  private static let systemd = "org.freedesktop.systemd1"
  private static let managerPath = "/org/freedesktop/systemd1"

  func systemdVersion() async throws(BusError) -> String? {
    try await properties(ObjectPath(Self.managerPath), "Manager")["Version"]?.asString
  }

  /// Asks the systemd instance on this bus: the system's or the user's.
  func unit(_ name: String) async throws(BusError) -> Examination.Unit {
    let reply = try await connection.call(
      Self.systemd, ObjectPath(Self.managerPath), "\(Self.systemd).Manager", "LoadUnit", [.string(name)],
      timeout: timeout, autoStart: false)
    guard let path = reply.first?.asObjectPath else { throw .failed("LoadUnit gave no path") }
    let all = try await properties(path, "Unit")
    var unit = Examination.Unit(
      load: all["LoadState"]?.asString ?? "", active: all["ActiveState"]?.asString ?? "",
      sub: all["SubState"]?.asString ?? "", file: all["UnitFileState"]?.asString ?? "",
      loadError: all["LoadError"]?.asStructure?.last?.asString ?? "")
    // The timestamp is 0 if the unit was never started. Then there is no result.
    unit.missesCondition =
      all["ConditionResult"]?.asBool == false && all["ConditionTimestamp"]?.asUInt64 ?? 0 != 0
    guard name.hasSuffix(".service"), unit.load == "loaded" else { return unit }
    let service = try await properties(path, "Service")
    unit.result = service["Result"]?.asString ?? ""
    // CLD_EXITED. For other codes the status is a signal.
    if service["ExecMainCode"]?.asInt32 == 1 { unit.exitStatus = service["ExecMainStatus"]?.asInt32 }
    unit.restarts = service["NRestarts"]?.asUInt32 ?? 0
    let command = service["ExecStart"]?.asArray?.first?.asStructure ?? []
    unit.arguments = command.count > 1 ? command[1].asStrings ?? [] : []
    if let policy = service["DevicePolicy"]?.asString,
      policy != "auto" || service["DeviceAllow"]?.asArray?.isEmpty == false
    {
      let allowed = (service["DeviceAllow"]?.asArray ?? []).compactMap { entry -> Examination.AllowedDevice? in
        guard let words = entry.asStructure, let name = words.first?.asString else { return nil }
        return Examination.AllowedDevice(name: name, access: words.count > 1 ? words[1].asString ?? "" : "")
      }
      // systemd.resource-control(5): all policies but `strict` allow pseudo devices, including pseudo-terminals.
      unit.devices = allowed + (policy == "strict" ? [] : [Examination.AllowedDevice(name: "char-pts", access: "rw")])
    }
    return unit
  }

  private func properties(_ path: ObjectPath, _ interface: String) async throws(BusError) -> [String: Value] {
    try await connection.call(
      Self.systemd, path, "org.freedesktop.DBus.Properties", "GetAll", [.string("\(Self.systemd).\(interface)")],
      timeout: timeout, autoStart: false
    ).first?.asDictionary ?? [:]
  }
}
