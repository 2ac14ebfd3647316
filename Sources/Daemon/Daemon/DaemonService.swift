import Bus
import EventLoop
import Journal
import Names
import Presence
import Settings

/// Makes the parts of the daemon, connects them, and starts and stops them.
///
/// The way of a tap: `ReaderProcess`, `Readers.receive`, `DaemonCore.handle`, `DaemonState.handle`, `ReadersState.read`,
/// `AgentsState.add`, `DaemonService.carryOut`, `AgentCalls.deliver`.
@DaemonLoop final class DaemonService {
  private let core: DaemonCore
  private let notifier: ServiceNotifier
  private let monitors: MachineMonitors
  let readers: Readers
  private let calls: AgentCalls
  private let agents: AgentRegistrations
  private let sessions: SessionObjects
  private let inhibitors: Inhibitors
  private let traces: ReaderTraces
  let configuration: ConfigurationReload
  private let manager: ManagerObject
  private let endings = AsyncStream.makeStream(of: DaemonEnding.self, bufferingPolicy: .bufferingOldest(1))
  private var nameWatch: Task<Void, Never>?

  /// `time` is when the reading of the configuration began, in microseconds since 1970. `readFiles` reads it again, on
  /// a thread that may block.
  init(
    _ configuration: DaemonConfiguration, readAt time: UInt64,
    readFiles: @escaping @Sendable () -> Result<DaemonConfiguration, KeyFileError>, log: Log, notifier: ServiceNotifier
  ) {
    let masterSwitch = MasterSwitch.standard()
    let stored = masterSwitch.load()
    if let problem = stored.problem { log(.warning, problem) }
    let policy = DaemonState.Policy(configuration, logThreshold: log.threshold)
    core = DaemonCore(DaemonState(policy: policy, isEnabled: stored.isEnabled), log)
    self.notifier = notifier
    monitors = MachineMonitors(core)
    let (processes, loans, authorization) = (ReaderProcesses(log), ReaderLoans(), Authorization(core))
    let operations = TagOperations(core, processes)
    readers = Readers(core, processes, operations, loans)
    calls = AgentCalls(core: core)
    let sheets = SessionSheets(core: core, agents: calls)
    agents = AgentRegistrations(core, monitors, sheets)
    sessions = SessionObjects(core, authorization, processes, operations, sheets)
    inhibitors = Inhibitors(core, authorization, processes, readers, loans)
    traces = ReaderTraces(core, authorization, processes)
    self.configuration = ConfigurationReload(
      core, monitors, readers, notifier, configuration, readAt: time, readFiles: readFiles)
    manager = ManagerObject(
      core, self.configuration, authorization, agents, readers, traces, sessions, inhibitors, masterSwitch)
    core.carryOut = { [weak self] in self?.carryOut($0) }
    core.publish = { [weak self] in self?.publish() }
  }

  func start() async throws(DaemonError) {
    guard let program = OwnProgram.path(Names.Files.readerProgram) else { throw .noReaderProgram }
    let settings = configuration.configuration
    let isOwner: Bool
    do throws(BusError) {
      let connection = try await Connection.open(.system, on: DaemonLoop.loop)
      core.connection = connection
      try await connection.export([manager.interface], at: try ObjectPath(Names.Daemon.path), objectManager: true)
      manager.publish()
      if settings.sessions == .logind { try await monitors.followLogins(connection) }
      isOwner = try await takeName(connection)
    } catch {
      throw DaemonError(error)
    }
    guard isOwner else { throw .nameIsTaken }
    if core.state.seats.station != nil, let user = settings.stationUser {
      core.log(.notice, "this machine is a station: taps go to user \(user.name) while no other user is at the machine")
    }
    monitors.followRadioSwitches()
    readers.start(program, settings)
    core.apply([])
    notifier.ready(status: configuration.status)
    keepWatchdog()
    await configuration.open()
  }

  /// Whether the daemon now owns the name.
  private func takeName(_ connection: Connection) async throws(BusError) -> Bool {
    guard try await connection.requestName(Names.Daemon.busName).isOwner else { return false }
    let owners = try await connection.owners(of: Names.Daemon.busName)
    nameWatch = Task { [weak self] in
      for await owner in owners {
        guard let owner, let own = await connection.uniqueName, owner != own else { continue }
        self?.end(.failed(.nameIsTaken))
      }
    }
    return true
  }

  private func keepWatchdog() {
    guard !core.isStopped, let interval = notifier.watchdogInterval else { return }
    notifier.watchdog()
    DaemonLoop.schedule(after: interval) { [weak self] in self?.keepWatchdog() }
  }

  func ending() async -> DaemonEnding {
    for await ending in endings.stream { return ending }
    return .requested
  }

  /// Later calls have no effect.
  func end(_ ending: DaemonEnding) {
    core.isEnding = true
    endings.continuation.yield(ending)
  }

  /// Ends the reader processes, so that every field is off, then leaves the bus.
  func stop() async {
    (core.isEnding, core.isStopped) = (true, true)
    core.handle(.stopping)
    sessions.stop()
    nameWatch?.cancel()
    monitors.cancel()
    agents.stop()
    inhibitors.stop()
    await readers.stop()
    await monitors.stop()
    await core.connection?.close()
  }

  private func carryOut(_ action: DaemonState.Action) {
    switch action {
    case .pursue(let id, let epoch, let goal): readers.pursue(epoch, goal, by: id)
    case .deliver(let tap, let agent): calls.deliver(tap, to: agent)
    case .tagRemoved(let tap, let agent): calls.tagRemoved(tap, to: agent)
    case .reportLock(let session, let fact): monitors.logins?.assumeIsolated { $0.agentReported(session, locked: fact) }
    case .session(let action): sessions.perform(action)
    case .userUnlocked(let session): monitors.logins?.assumeIsolated { $0.userUnlocked(session) }
    case .reporterGone(let session): monitors.logins?.assumeIsolated { $0.reporterGone(session) }
    case .log(let level, let text): core.log(level, text)
    }
  }

  private func publish() {
    agents.publishPrecedence()
    traces.check()
    monitors.updateFields()
    manager.publish()
    configuration.publishStatus()
  }
}
