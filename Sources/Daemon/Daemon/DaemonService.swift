import Bus
import EventLoop
import Glibc
import Journal
import Names
import Presence
import ReaderProtocol
import Settings

/// Connects the daemon's parts: passes events to `DaemonState`, and carries out its actions.
actor DaemonService {
  /// Why the daemon ends.
  enum Ending: Sendable {
    case requested
    case failed(DaemonError)
  }

  /// A reader's process, and the task that receives its events.
  struct ReaderUnit {
    let process: ReaderProcess
    let task: Task<Void, Never>
    /// The key of its known tags in `knownTags`.
    let place: String
    /// The phase that the process has reported last, and the epoch that it had reached.
    var reported: ReaderPhase?
    var reached: UInt64?
    /// The device that the process has opened; nil after a failure.
    var opened: String?
  }

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The configuration in force.
  var configuration: DaemonConfiguration
  /// Reads the configuration again. Blocks.
  let readFiles: @Sendable () -> Result<DaemonConfiguration, KeyFileError>
  /// The mistake in the configuration that was read last; nil if it is in force.
  var configurationError: String?
  /// When the reading of the configuration in force began, in microseconds since 1970.
  var configurationTime: UInt64
  /// Reloads wait until the daemon has reported to systemd that it is ready.
  lazy var reloads = SharedReadings { [weak self] in await self?.readConfiguration() }
  let log: Log
  let masterSwitch = MasterSwitch.standard()
  /// How often clients have set the master switch.
  var switches = 0
  /// The last task that stores the master switch.
  var storing: Task<Void, any Error>?
  let notifier: ServiceNotifier
  private let endings: AsyncStream<Ending>
  private let endingContinuation: AsyncStream<Ending>.Continuation

  var state: DaemonState
  var connection: Connection?
  var logins: LoginMonitor?
  var sleepInhibitor: SleepInhibitor?
  private var radioSwitches: RadioSwitchMonitor?
  var inhibitors = InhibitorList()
  var inhibitorWatches: [UInt64: DescriptorWatch] = [:]
  var units: [Int: ReaderUnit] = [:]
  /// The stopped units. Their processes have not ended yet.
  var leaving: [ObjectIdentifier: ReaderUnit] = [:]
  var roster = ReaderRoster(configured: [], hasUdev: false)
  var readerProgram = ""
  var pcsc = PCSCAccess()
  /// The number of the last question to libnfc about readers. Answers to earlier questions are ignored.
  var listings = 0
  var deviceMonitor: DeviceMonitor?
  var knownTags = KnownTagFile.standard()
  let directories = SystemDirectories()
  /// The tasks that follow the bus names of agents.
  var agentWatches: [String: Task<Void, Never>] = [:]
  /// How many registrations of a user wait for logind.
  var pendingRegistrations: [UInt32: Int] = [:]
  /// The polkit checks in progress.
  var questions = AuthorizationQuestions()
  /// The agents that the bus connection gives precedence to.
  private var publishedAgents: Set<String> = []
  /// The last published properties of each object.
  var published: [ObjectPath: [String: Value]] = [:]
  /// The tasks that follow the bus names of clients with reader sessions.
  var clientWatches: [String: Task<Void, Never>] = [:]
  /// The operations in progress, by the number of the request.
  var operations: [UInt64: TagOperation] = [:]
  var lastOperation: UInt64 = 0
  /// Bounds the log lines about reader sessions, which clients can cause without limit.
  var sessionLines = LineBudget(most: 120)
  /// The calls that wait until a reader process has closed its device, by the reader's number.
  var loanWaiters: [Int: [CheckedContinuation<Void, Never>]] = [:]
  private var tasks: [Task<Void, Never>] = []
  private var deadlineTimer: LoopTimer?
  private var lastStatus = ""
  /// Whether the daemon was asked to end, or cannot continue.
  private(set) var isEnding = false
  private(set) var isStopped = false

  /// `time` is when the reading of the configuration began, in microseconds since 1970. `readFiles` reads it again, on
  /// a thread that may block.
  init(
    _ configuration: DaemonConfiguration, readAt time: UInt64,
    readFiles: @escaping @Sendable () -> Result<DaemonConfiguration, KeyFileError>, log: Log,
    notifier: ServiceNotifier, loop: EventLoop
  ) {
    self.configuration = configuration
    configurationTime = time
    self.readFiles = readFiles
    self.log = log
    self.notifier = notifier
    self.loop = loop
    (endings, endingContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    let stored = masterSwitch.load()
    if let problem = stored.problem { log(.warning, problem) }
    state = DaemonState(
      policy: DaemonState.Policy(configuration, logThreshold: log.threshold), isEnabled: stored.isEnabled)
  }

  /// Whether reader processes are left, including stopped ones that have not ended yet.
  var hasReaderProcesses: Bool { !(units.isEmpty && leaving.isEmpty) }

  // MARK: Life

  /// Exports the manager object, follows logind, takes the bus name and starts the readers.
  func start() async throws(DaemonError) {
    let program = try Self.readerProgram()
    let isOwner: Bool
    do throws(BusError) {
      let connection = try await Connection.open(.system, on: loop)
      self.connection = connection
      try await connection.export([managerInterface()], at: try ObjectPath(Names.Daemon.path), objectManager: true)
      publish()
      if configuration.sessions == .logind { try await followLogins(connection) }
      isOwner = try await takeName(connection)
    } catch {
      throw DaemonError(error)
    }
    guard isOwner else { throw .nameIsTaken }
    if state.station != nil, let user = configuration.stationUser {
      log(.notice, "this machine is a station: taps go to user \(user.name) while no other user is at the machine")
    }
    followRadioSwitches()
    startReaders(program)
    apply([])
    notifier.ready(status: status)
    keepWatchdog()
    await reloads.open()
  }

  /// The path of one of our programs: beside `tagrouted`, as in a build folder, otherwise in libexec. Nil if it is not
  /// installed.
  static func program(_ name: String) -> String? {
    let candidates = [OwnProgram.directory, Names.Files.libexec].compactMap(\.self).map { "\($0)/\(name)" }
    return candidates.first { access($0, X_OK) == 0 }
  }

  private static func readerProgram() throws(DaemonError) -> String {
    if let program = program(Names.Files.readerProgram) { return program }
    throw DaemonError(
      "\(Names.Files.readerProgram) was not found next to tagrouted or in \(Names.Files.libexec): install it",
      exitCode: Names.ExitCode.failure)
  }

  /// Waits until the daemon is asked to end or cannot continue.
  func ending() async -> Ending {
    for await ending in endings { return ending }
    return .requested
  }

  /// Ends the daemon. Later calls have no effect.
  func end(_ ending: Ending) {
    isEnding = true
    endingContinuation.yield(ending)
  }

  /// Ends the reader processes, so that every field is off, then leaves the bus.
  func stop() async {
    (isEnding, isStopped) = (true, true)
    handle(.stopping)
    // Reply now. The replies are sent while the reader processes end; after that the daemon closes its connection.
    for request in Array(operations.keys) {
      finish(request, .failed(.sessionEnded, reason: "the daemon is stopping: a write in progress may be incomplete"))
    }
    deadlineTimer?.cancel()
    for task in tasks { task.cancel() }
    for task in agentWatches.values { task.cancel() }
    for task in clientWatches.values { task.cancel() }
    for watch in inhibitorWatches.values { watch.cancel() }
    let watch = pcsc.watch
    stopPCSCWatch()
    await deviceMonitor?.stop()
    await withTaskGroup(of: Void.self) { group in
      for unit in Array(units.values) + leaving.values { group.addTask { await self.end(unit.process) } }
    }
    units = [:]
    leaving = [:]
    await watch?.stop()
    await radioSwitches?.stop()
    await leaveLogins()
    await connection?.close()
  }

  func followLogins(_ connection: Connection) async throws(BusError) {
    let logins = LoginMonitor(connection)
    self.logins = logins
    sleepInhibitor = SleepInhibitor(connection) { [log] in log(.warning, $0) }
    try await logins.start()
    tasks.append(
      Task { [weak self] in
        for await login in logins.states { await self?.receive(login, of: logins) }
      })
  }

  /// Stops following logind. The daemon then neither delays sleep nor knows any session.
  func leaveLogins() async {
    let (monitor, inhibitor) = (logins, sleepInhibitor)
    (logins, sleepInhibitor) = (nil, nil)
    await inhibitor?.stop()
    await monitor?.stop()
  }

  private func followRadioSwitches() {
    let monitor = RadioSwitchMonitor("\(directories.devices)/rfkill", on: loop) { [weak self] fact in
      self?.assumeIsolated { $0.handle(.airplaneMode(fact)) }
    }
    radioSwitches = monitor
    do throws(SystemError) {
      try monitor.assumeIsolated { monitor in Result { () throws(SystemError) in try monitor.start() } }.get()
    } catch {
      log(error.number == ENOENT ? .info : .warning, "\(error): only the desktop reports airplane mode")
    }
  }

  private func receive(_ login: LoginState, of monitor: LoginMonitor) {
    guard logins === monitor else { return }
    handle(.login(login))
    // Do this after `handle`, which sends the readers their goals. Sleep is then delayed only if a field is still on.
    sleepInhibitor?.assumeIsolated { $0.receive(login) }
  }

  private func keepWatchdog() {
    guard !isStopped, let interval = notifier.watchdogInterval else { return }
    notifier.watchdog()
    loop.schedule(after: interval) { [weak self] in self?.assumeIsolated { $0.keepWatchdog() } }
  }

  // MARK: The name

  /// Whether the daemon now owns the name.
  private func takeName(_ connection: Connection) async throws(BusError) -> Bool {
    guard try await connection.requestName(Names.Daemon.busName).isOwner else { return false }
    let owners = try await connection.owners(of: Names.Daemon.busName)
    tasks.append(
      Task { [weak self] in
        for await owner in owners { await self?.receiveNameOwner(owner) }
      })
    return true
  }

  private func receiveNameOwner(_ owner: String?) async {
    guard let owner, let own = await connection?.uniqueName, owner != own else { return }
    end(.failed(.nameIsTaken))
  }

  // MARK: Deciding and acting

  /// Passes an event to the state, and carries out the actions.
  func handle(_ event: DaemonState.Event) {
    apply(state.handle(event, at: .now))
  }

  /// Carries out actions, then publishes the changes to clients and to systemd.
  func apply(_ actions: [DaemonState.Action]) {
    for action in actions {
      switch action {
      case .pursue(let id, let epoch, let goal):
        if let process = units[id]?.process {
          process.assumeIsolated { $0.pursue(epoch, goal) }
        } else {
          handle(.readerHasNoProcess(id))
        }
      case .deliver(let tap, let agent): deliver(tap, to: agent)
      case .reportRemoval(let tap, let agent): reportRemoval(of: tap, to: agent)
      case .reportLock(let session, let fact): logins?.assumeIsolated { $0.report(session, locked: fact) }
      case .session(let action): perform(action)
      case .userUnlocked(let session): logins?.assumeIsolated { $0.userUnlocked(session) }
      case .reporterGone(let session): logins?.assumeIsolated { $0.reporterGone(session) }
      case .log(let level, let text): log(level, text)
      }
    }
    let agents = Set(state.registry.agents.map(\.sender))
    if agents != publishedAgents {
      publishedAgents = agents
      connection?.assumeIsolated { $0.setPrecedence(of: agents) }
    }
    let areFieldsOff = state.areFieldsOff
    sleepInhibitor?.assumeIsolated { $0.setFields(areOff: areFieldsOff) }
    publish()
    if status != lastStatus {
      lastStatus = status
      notifier.status(status)
    }
    scheduleDeadline()
  }

  /// Logs a line that a user has caused, within the user's limit.
  func log(_ level: LogLevel, ofUser uid: UInt32, _ text: String) {
    for case .log(let level, let line) in state.note(level, ofUser: uid, at: .now, text) { log(level, line) }
  }

  /// The text that `systemctl status` shows.
  var status: String {
    let reasons = state.suspendReasons
    let scanning = reasons.isEmpty ? "scanning" : "not scanning: \(reasons.joined(separator: ", "))"
    return configurationError.map { "\(scanning); the previous configuration is in force: \($0)" } ?? scanning
  }

  private func scheduleDeadline() {
    deadlineTimer?.cancel()
    deadlineTimer = nil
    guard !isStopped, let deadline = state.deadline else { return }
    deadlineTimer = loop.schedule(after: SuspendingClock.now.duration(to: deadline)) { [weak self] in
      self?.assumeIsolated { $0.handle(.tick) }
    }
  }
}

extension DaemonState.Policy {
  init(_ configuration: DaemonConfiguration, logThreshold: LogLevel) {
    self.logThreshold = logThreshold
    servesAnySession = configuration.sessions == .any
    station = configuration.stationUser?.uid
    polling = ReaderPolling(configuration)
    removalDelay = configuration.removalDelay
    sessionLimit = configuration.sessionLimit
    scan = configuration.scan
    smartPosters = configuration.smartPosters
  }
}
