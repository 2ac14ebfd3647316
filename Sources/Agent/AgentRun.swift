import Bus
import Configuration
import EventLoop
import Glibc
import Inbox
import Journal
import KeyFile
import Names
import Session

/// One run of the agent: both buses, and what keeps them together.
actor AgentRun {
  private var configuration: AgentConfiguration
  /// When the reading of what is in force began.
  private var configurationTime: Timestamp
  private let buses: (session: BusAddress, system: BusAddress)
  private let readFiles: @Sendable () -> Result<AgentConfiguration, KeyFileError>
  /// What keeps what was read last from being in force; nil where it is.
  private var mistake: KeyFileError?
  /// Nothing is read before there is something that can go by it, and the session has been told that the agent is ready.
  private lazy var readings = SharedReadings { [weak self] in await self?.readSettings() ?? nil }
  private var isEnding = false
  private var isRegistered = false
  /// The asking of domains, once an hour, or what is left of it.
  private var verification: Task<Void, Never>?
  private let files: AgentFiles
  private let log: Log
  private let clock = ContinuousClock()
  private let loop = EventLoop(label: "agent")
  private let notifier = ServiceNotifier.fromEnvironment()
  private var service: AgentService?
  private var desktop: DesktopMonitor?
  private var link: DaemonLink?
  /// The user has said that the session is unlocked, and there is no link yet that could tell.
  private var owesUnlock = false
  /// For how long the daemon is kept waiting for peers that do not say how they are.
  private static let settling = Duration.seconds(2)

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - configuration: what the user has set.
  ///   - time: when its reading began.
  ///   - buses: the session's bus and the system's.
  ///   - files: where the agent's files are.
  ///   - log: where it is told what happens.
  ///   - readFiles: reads what the user has set anew, on a thread that may block.
  init(
    configuration: AgentConfiguration, readAt time: Timestamp,
    buses: (session: BusAddress, system: BusAddress) = (.session, .system), files: AgentFiles, log: Log,
    readFiles: @escaping @Sendable () -> Result<AgentConfiguration, KeyFileError>
  ) {
    self.configuration = configuration
    configurationTime = time
    self.buses = buses
    self.readFiles = readFiles
    self.files = files
    self.log = log
  }

  /// Serves until there is a reason to end.
  ///
  /// - Returns: the exit code.
  func serve() async -> Int32 {
    do throws(BusError) {
      let session = try await Connection.open(buses.session, on: loop)
      let inbox = makeInbox()
      let service = AgentService(
        session: session, inbox: inbox, configuration: configuration, readAt: configurationTime, now: Timestamp.now,
        clock: clock, log: log, readSettings: { [weak self] in await self?.readings.request().value ?? nil },
        declareLocked: { [weak self] in try await self?.declare(locked: $0) })
      try await service.export()
      guard try await session.requestName(Names.Agent.busName).isOwner else { return await leave(session) }
      self.service = service
      let desktop = try await followDesktop(session)
      // What is begun from here on nobody would end.
      guard !isEnding else { return 0 }
      await service.start()
      guard !isEnding else { return 0 }
      notifier.ready(status: status)
      Task { await keepHouse(service) }
      if configuration.verify { verify(true) }
      await readings.open()
      Task { await watch() }
      Task { await serveDaemon(service, desktop) }
      return await followOwnName(session)
    } catch {
      log(.error, "cannot use the session bus: \(error.message); is this run inside a session?")
      return Names.ExitCode.unavailable
    }
  }

  /// Puts things in order before the process ends; takes less than a second.
  func end() async {
    isEnding = true
    notifier.stopping()
    verification?.cancel()
    await service?.end()
  }

  private func makeInbox() -> Inbox {
    let location = files.inbox(configuration)
    if configuration.inbox && location == .memory {
      log(.warning, "neither XDG_STATE_HOME nor HOME says where to keep taps: they are kept in memory")
    }
    return Inbox(
      location, retention: Retention(configuration), now: Timestamp.now, notice: { [log] in log(.notice, $0) },
      report: { [log] in log(.error, $0) })
  }

  /// Another agent has the name: says who.
  private func leave(_ session: Connection) async -> Int32 {
    var who = "another process"
    if let pid = try? await session.credentials(of: Names.Agent.busName).pid { who = "process \(pid)" }
    log(.error, "\(who) runs as the agent of this session already; it owns \(Names.Agent.busName). This one leaves")
    return Names.ExitCode.alreadyRunning
  }

  /// Ends when another agent has taken the name, which can happen while the session bus was away.
  private func followOwnName(_ session: Connection) async -> Int32 {
    do throws(BusError) {
      for await owner in try await session.owners(of: Names.Agent.busName) {
        guard let owner, let own = await session.uniqueName, owner != own else { continue }
        // An owner that was read late may be ourselves, under the name that we had before a reconnection.
        guard let other = try? await session.credentials(of: owner), other.pid != UInt32(getpid()) else { continue }
        return await leave(session)
      }
    } catch {
      log(.error, "cannot follow \(Names.Agent.busName): \(error.message)")
    }
    return Names.ExitCode.unavailable
  }

  /// The system bus may come later than we do; once there, the connection comes back by itself.
  private func serveDaemon(_ service: AgentService, _ desktop: DesktopMonitor) async {
    // A session that is locked already has to be so from the first moment.
    await desktop.settle(within: Self.settling)
    await Retry(clock: clock).run { () async throws(BusError) in
      let system = try await Connection.open(buses.system, on: loop)
      let conditions = await desktop.state.report
      let owes = unlockIsOwed()
      let link = DaemonLink(connection: system, conditions: conditions, owesUnlock: owes, clock: clock, log: log) {
        [weak self] registered in
        await self?.show(registered: registered)
        await service.setRegistered(registered)
      } refused: { error in
        await service.setRegistration(error)
      } displayIsWanted: { isWanted in
        await desktop.setWanted(isWanted)
      } receive: { values in
        try await service.tagRead(values)
      }
      self.link = link
      await service.showSheets(of: link)
      // What has changed while the connection was made.
      await report()
      try await link.run()
    } failed: { error in
      log(.warning, "cannot use the system bus: \(error.message); trying again")
    }
  }

  /// Begins to follow what the daemon is told of the session.
  private func followDesktop(_ session: Connection) async throws(BusError) -> DesktopMonitor {
    var options = DesktopMonitor.Options()
    options.followsCameras = configuration.suspendForCamera
    let desktop = DesktopMonitor(session, options: options)
    self.desktop = desktop
    try await desktop.start()
    do throws(SystemError) {
      try await desktop.startCameras()
    } catch {
      log(.warning, "whether a camera is in use cannot be known: \(error)")
    }
    Task { await report(desktop.states) }
    return desktop
  }

  private func report(_ states: AsyncStream<DesktopState>) async {
    var last = ""
    for await state in states {
      let summary = state.summary
      if summary != last { log(.info, "the session: \(summary)") }
      last = summary
      await report()
    }
  }

  private func report() async {
    guard let desktop else { return }
    await link?.report(await desktop.state.report)
  }

  /// Takes in the user's own word on the lock, and tells the daemon.
  private func declare(locked: Bool) async throws(BusError) {
    guard let desktop else { return }
    await desktop.declare(locked: locked)
    let conditions = await desktop.state.report
    guard let link else {
      owesUnlock = !locked
      return
    }
    try await link.declare(locked: locked, conditions)
  }

  /// Whether the user has said that the session is unlocked, and the daemon was not told: by no link, or by one that has
  /// failed, which is on this loop too.
  private func unlockIsOwed() -> Bool { link?.assumeIsolated { $0.owesUnlock } ?? owesUnlock }

  // MARK: Other settings

  /// What SIGHUP asks for: reads the settings and the desktop entries again. Where the settings cannot be gone by it goes on with the
  /// former ones, and says what is wrong.
  ///
  /// - Returns: all that follows.
  @discardableResult func reload() -> Task<Void, Never> {
    Task {
      // Whoever asks by a signal has it in the log.
      _ = await readings.request().value
      await service?.reloadHandlers()
    }
  }

  /// One reading, and what follows of it: all of it is in force, or nothing is.
  ///
  /// - Returns: what keeps it from being in force.
  private func readSettings() async -> KeyFileError? {
    guard let service, !isEnding else { return nil }
    notifier.reloading()
    let time = Timestamp.now()
    do throws(KeyFileError) {
      let new = try await readOnThread()
      // What is begun from here on nobody would end.
      guard !isEnding else { return nil }
      let keys = new.keys(differingFrom: configuration)
      await goBy(new, service)
      (configuration, configurationTime, mistake) = (new, time, nil)
      log(
        .info,
        "the configuration was read again: "
          + (keys.isEmpty ? "nothing has changed" : "new are \(keys.joined(separator: ", "))"))
    } catch {
      log(.error, "\(error); until then the former configuration stays in force")
      mistake = error
    }
    guard !isEnding else { return mistake }
    await service.setConfiguration(readAt: configurationTime, mistake: mistake)
    notifier.ready(status: status)
    return mistake
  }

  private func readOnThread() async throws(KeyFileError) -> AgentConfiguration {
    let read: Result<AgentConfiguration, KeyFileError>
    do throws(SystemError) {
      read = try await DedicatedThread.run(readFiles)
    } catch {
      throw KeyFileError(file: "agent.conf", line: nil, problem: "cannot be read (\(error))", remedy: "try again")
    }
    return try read.get()
  }

  private func goBy(_ new: AgentConfiguration, _ service: AgentService) async {
    await service.adopt(new, inboxAt: files.inbox(new))
    guard !isEnding else { return }
    if new.verify != configuration.verify { verify(new.verify) }
    do throws(SystemError) {
      try await desktop?.setFollowsCameras(new.suspendForCamera)
    } catch {
      // As at the start; the next reading tries again.
      log(.warning, "whether a camera is in use cannot be known: \(error)")
    }
  }

  /// Has domains be asked, or no more; never twice at a time.
  private func verify(_ isOn: Bool) {
    let previous = verification
    previous?.cancel()
    guard isOn, !isEnding else { return }
    verification = Task {
      await previous?.value
      await AssociationUpdate(clock: clock, log: log).run()
    }
  }

  private var status: String {
    let words = isRegistered ? "Registered with the daemon" : "Waiting for the daemon"
    return mistake.map { "\(words); the former configuration is in force: \($0)" } ?? words
  }

  private func show(registered: Bool) {
    isRegistered = registered
    notifier.status(status)
  }

  // MARK: Time

  private func keepHouse(_ service: AgentService) async {
    repeat {
      await service.prune()
      await service.readAssociations()
    } while await pause(.seconds(3600))
  }

  private func watch() async {
    guard let interval = notifier.watchdogInterval else { return }
    repeat { notifier.watchdog() } while await pause(interval)
  }

  /// - Returns: whether to go on: not where the task is cancelled.
  private func pause(_ duration: Duration) async -> Bool {
    do {
      try await Task.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}
