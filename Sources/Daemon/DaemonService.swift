import Bus
import Configuration
import DeviceEvents
import EventLoop
import Glibc
import Journal
import Names
import ReaderLink
import ScanGate
import Session

/// Joins the daemon's parts: carries out what `DaemonState` decides, and tells it what happens.
actor DaemonService {
  /// How the daemon comes to its end.
  enum Ending: Sendable {
    case requested
    case failed(DaemonError)
  }

  /// A reader's process and the task that takes in what it says.
  struct ReaderUnit {
    let process: ReaderProcess
    let task: Task<Void, Never>
    /// What it has said of its device last.
    var reported: ReaderState?
  }

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  let configuration: DaemonConfiguration
  let log: Log
  let masterSwitch = MasterSwitch.standard()
  /// How often somebody has moved it.
  var switches = 0
  /// The last time that it is stored.
  var storing: Task<Void, any Error>?
  private let notifier: ServiceNotifier
  private let endings: AsyncStream<Ending>
  private let endingContinuation: AsyncStream<Ending>.Continuation

  var state: DaemonState
  var connection: Connection?
  var logins: LoginMonitor?
  private var sleepInhibitor: SleepInhibitor?
  private var radioSwitches: RadioSwitchMonitor?
  var inhibitors = InhibitorList()
  var inhibitorWatches: [UInt64: DescriptorWatch] = [:]
  var units: [Int: ReaderUnit] = [:]
  /// Those whose device is away and whose processes are about to end.
  var leaving: [ObjectIdentifier: ReaderUnit] = [:]
  var roster = ReaderRoster(configured: [], hasUdev: false)
  var readerProgram = ""
  var deviceMonitor: DeviceMonitor?
  let runtimeFiles = RuntimeFiles()
  private let directories = SystemDirectories()
  /// The tasks that follow the names of agents.
  var agentWatches: [String: Task<Void, Never>] = [:]
  /// How many registrations of a user wait for logind.
  var pendingRegistrations: [UInt32: Int] = [:]
  /// Who was refused and is in the log for it.
  var refusals = RefusalLog()
  /// Whose rights polkit is being asked about.
  var questions = AuthorizationQuestions()
  var published = ManagerProperties()
  var publishedReaders: [Int: ReaderStatus.Properties] = [:]
  /// The tasks that follow the names of those who have reader sessions.
  var clientWatches: [String: Task<Void, Never>] = [:]
  /// What is being done with tags in reader sessions, by the number of the request.
  var operations: [UInt64: TagOperation] = [:]
  var lastOperation: UInt64 = 0
  /// What clients have in the log by beginning and ending sessions.
  var sessionLines = LineBudget(most: 120)
  /// Who waits for a reader to let go of its device, or to say that it has it again.
  var loanWaiters: [Int: [CheckedContinuation<Void, Never>]] = [:]
  private var tasks: [Task<Void, Never>] = []
  private var deadlineTimer: LoopTimer?
  private var lastStatus = ""
  private(set) var isStopped = false

  init(_ configuration: DaemonConfiguration, log: Log, notifier: ServiceNotifier, loop: EventLoop) {
    self.configuration = configuration
    self.log = log
    self.notifier = notifier
    self.loop = loop
    (endings, endingContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    let stored = masterSwitch.load()
    if let problem = stored.problem { log(.warning, problem) }
    var policy = DaemonState.Policy(configuration)
    policy.logThreshold = log.threshold
    state = DaemonState(policy: policy, isEnabled: stored.isEnabled)
  }

  /// Whether there are reader processes still.
  var hasReaderProcesses: Bool { !(units.isEmpty && leaving.isEmpty) }

  // MARK: Life

  /// Exports the interfaces, takes the name, follows logind and starts the readers.
  func start() async throws(DaemonError) {
    let program = try ReaderProgramPath.find()
    let isOwner: Bool
    do throws(BusError) {
      let connection = try await Connection.open(.system, on: loop)
      self.connection = connection
      try await connection.export([managerInterface()], at: try ObjectPath(Names.Daemon.path), objectManager: true)
      if configuration.sessions == .logind { try await followLogins(connection) }
      isOwner = try await takeName(connection)
    } catch {
      throw DaemonError(error)
    }
    guard isOwner else { throw .nameIsTaken }
    followRadioSwitches()
    startReaders(program)
    apply([])
    notifier.ready(status: status)
    keepWatchdog()
  }

  /// Waits until the daemon is told to end or cannot go on.
  func ending() async -> Ending {
    for await ending in endings { return ending }
    return .requested
  }

  /// Ends the daemon, the first time it is called.
  func end(_ ending: Ending) { endingContinuation.yield(ending) }

  /// Ends the readers, so that every field is off, then leaves the bus.
  func stop() async {
    isStopped = true
    handle(.stopping)
    deadlineTimer?.cancel()
    for task in tasks { task.cancel() }
    for task in agentWatches.values { task.cancel() }
    for task in clientWatches.values { task.cancel() }
    for watch in inhibitorWatches.values { watch.cancel() }
    await deviceMonitor?.stop()
    await withTaskGroup(of: Void.self) { group in
      for unit in Array(units.values) + leaving.values { group.addTask { await self.end(unit.process) } }
    }
    units = [:]
    leaving = [:]
    await radioSwitches?.stop()
    await sleepInhibitor?.stop()
    await logins?.stop()
    await connection?.close()
  }

  private func followLogins(_ connection: Connection) async throws(BusError) {
    let logins = LoginMonitor(connection)
    self.logins = logins
    sleepInhibitor = SleepInhibitor(connection) { [log] in log(.warning, $0) }
    try await logins.start()
    tasks.append(
      Task { [weak self] in
        for await login in logins.states { await self?.follow(login) }
      })
  }

  private func followRadioSwitches() {
    let monitor = RadioSwitchMonitor("\(directories.devices)/rfkill", on: loop) { [weak self] fact in
      self?.assumeIsolated { $0.handle(.airplaneMode(fact)) }
    }
    radioSwitches = monitor
    do throws(SystemError) {
      try monitor.assumeIsolated { monitor in Result { () throws(SystemError) in try monitor.start() } }.get()
    } catch {
      log(error.number == ENOENT ? .info : .warning, "\(error): airplane mode is only what the desktop says of it")
    }
  }

  private func follow(_ login: LoginState) {
    handle(.login(login))
    // After the readers were told: only a field that is off by now lets the machine go at once.
    sleepInhibitor?.assumeIsolated { $0.follow(login) }
  }

  private func keepWatchdog() {
    guard !isStopped, let interval = notifier.watchdogInterval else { return }
    notifier.watchdog()
    loop.schedule(after: interval) { [weak self] in self?.assumeIsolated { $0.keepWatchdog() } }
  }

  // MARK: The name

  /// - Returns: whether the name is ours now.
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

  /// Lets the state decide on an event and acts on it.
  func handle(_ event: DaemonState.Event) {
    apply(state.handle(event, at: .now))
  }

  /// Carries out actions, then tells clients and systemd what has changed.
  func apply(_ actions: [DaemonState.Action]) {
    for action in actions {
      switch action {
      case .scan(let id, let isOn):
        if let process = units[id]?.process {
          process.assumeIsolated { $0.setScanning(isOn) }
        } else if !isOn {
          // Nobody looks for tags there, and nobody will say so.
          handle(.readerProcessGone(id))
        }
      case .deliver(let tap, let agent): deliver(tap, to: agent)
      case .reportLock(let session, let fact): logins?.assumeIsolated { $0.report(session, locked: fact) }
      case .session(let action): perform(action)
      case .lend(let id, let isLent): units[id]?.process.assumeIsolated { $0.lend(isLent) }
      case .userUnlocked(let session): logins?.assumeIsolated { $0.userUnlocked(session) }
      case .reporterGone(let session): logins?.assumeIsolated { $0.reporterGone(session) }
      case .log(let level, let text): log(level, text)
      }
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

  private var status: String {
    let reasons = state.suspendReasons
    return reasons.isEmpty ? "scanning" : "not scanning: \(reasons.joined(separator: ", "))"
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
  init(_ configuration: DaemonConfiguration) {
    servesAnySession = configuration.sessions == .any
    technologies = configuration.technologies
    sessionLimit = configuration.sessionLimit
    scan = ScanPolicy(
      whenLocked: configuration.whenLocked == .hold ? .hold : .suspend,
      lockDetection: configuration.lockDetection == .strict ? .strict : .hint)
    smartPosters = configuration.smartPosters
  }
}
