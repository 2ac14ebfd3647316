import Bus
import EventLoop
import Glibc
import Handlers
import Inbox
import Journal
import Names
import Presence
import Settings

/// One run of the agent: it connects both buses.
actor AgentRun {
  private var configuration: AgentConfiguration
  /// When the reading of the active configuration began.
  private var configurationTime: Timestamp
  /// Whether the agent runs without a desktop: no user can be asked, and nothing can be locked.
  private let isHeadless: Bool
  /// The name that the agent owns on the session bus.
  private let busName: String
  private let buses: (session: BusAddress, system: BusAddress)
  private let readFiles: @Sendable () -> Result<AgentConfiguration, KeyFileError>
  /// Why the last reading is not active; nil if it is.
  private var mistake: KeyFileError?
  /// Holds reading requests until the service exists and the agent is ready.
  private lazy var readings = SharedReadings { [weak self] in await self?.readSettings() ?? nil }
  private var isEnding = false
  private var isRegistered = false
  /// Verifies domains once an hour. A cancelled verification may still be ending.
  private var verification: Task<Void, Never>?
  private let files: AgentFiles
  private let log: Log
  private let clock = ContinuousClock()
  private let loop = EventLoop(label: "agent")
  private let notifier = ServiceNotifier.fromEnvironment()
  private var service: AgentService?
  private var desktop: DesktopMonitor?
  private var link: DaemonLink?
  /// Whether the user unlocked the session by command before there was a link to report it.
  private var isUnlockedByUser = false
  /// How long the registration waits for the desktop's state.
  private static let settling = Duration.seconds(2)

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// `readFiles` reads the settings again, on a thread that may block.
  init(
    configuration: AgentConfiguration, readAt time: Timestamp, isHeadless: Bool = false,
    busName: String = Names.Agent.busName,
    buses: (session: BusAddress, system: BusAddress) = (.session, .system), files: AgentFiles, log: Log,
    readFiles: @escaping @Sendable () -> Result<AgentConfiguration, KeyFileError>
  ) {
    self.configuration = configuration
    configurationTime = time
    self.isHeadless = isHeadless
    self.busName = busName
    self.buses = buses
    self.readFiles = readFiles
    self.files = files
    self.log = log
  }

  /// Serves until the agent has to end. Returns the exit code.
  func serve() async -> Int32 {
    do throws(BusError) {
      let session = try await Connection.open(buses.session, on: loop)
      let inbox = makeInbox()
      let service = AgentService(
        session: session, inbox: inbox, configuration: configuration, readAt: configurationTime, now: Timestamp.now,
        clock: clock, isHeadless: isHeadless, mqttFiles: files.mqtt, log: log,
        readSettings: { [weak self] in await self?.readings.request().value ?? nil },
        isLocked: { [weak self] in await self?.isLocked() ?? true },
        declareLocked: { [weak self] _, isLocked in try await self?.declare(locked: isLocked) })
      try await service.export()
      guard try await session.requestName(busName).isOwner else { return await leave(session) }
      self.service = service
      let desktop = try await isHeadless ? nil : followDesktop(session)
      // After `end()`, do not start anything.
      guard !isEnding else { return 0 }
      await service.start()
      guard !isEnding else { return 0 }
      notifier.ready(status: status)
      Task { await runHourly(service) }
      if configuration.verify { verify(true) }
      await readings.open()
      Task { await watch() }
      Task { await serveDaemon(service, desktop) }
      return await followOwnName(session)
    } catch {
      log(.error, "cannot use the session bus: \(error.message). Run tagroute-agent inside a session")
      return Names.ExitCode.unavailable
    }
  }

  /// Ends the service's work before the process exits; takes less than a second.
  func end() async {
    isEnding = true
    notifier.stopping()
    verification?.cancel()
    await service?.end()
  }

  private func makeInbox() -> Inbox {
    let location = files.inbox(configuration)
    if configuration.inbox && location == .memory {
      log(.warning, "neither XDG_STATE_HOME nor HOME is set: taps are kept in memory")
    }
    return Inbox(
      location, retention: Retention(configuration), now: Timestamp.now, notice: { [log] in log(.notice, $0) },
      report: { [log] in log(.error, $0) })
  }

  /// Reports which process owns the agent's name, and ends.
  private func leave(_ session: Connection) async -> Int32 {
    var who = "another process"
    if let pid = try? await session.credentials(of: busName).pid { who = "process \(pid)" }
    log(.error, "\(who) runs as the agent of this session already, and owns \(busName); exiting")
    return Names.ExitCode.alreadyRunning
  }

  /// Ends if another agent takes the name, which can happen while the session bus cannot be reached.
  private func followOwnName(_ session: Connection) async -> Int32 {
    do throws(BusError) {
      for await owner in try await session.owners(of: busName) {
        guard let owner, let own = await session.uniqueName, owner != own else { continue }
        // The owner may be this process, under its unique name before a reconnection.
        guard let other = try? await session.credentials(of: owner), other.pid != UInt32(getpid()) else { continue }
        return await leave(session)
      }
    } catch {
      log(.error, "cannot follow \(busName): \(error.message)")
    }
    return Names.ExitCode.unavailable
  }

  /// Connects to the system bus, which may start later than the agent. After that, the connection restores itself.
  private func serveDaemon(_ service: AgentService, _ desktop: DesktopMonitor?) async {
    // The first registration has to report whether the session is locked.
    await desktop?.settle(within: Self.settling)
    await Retry(clock: clock).run { () async throws(BusError) in
      let system = try await Connection.open(buses.system, on: loop)
      let first = DaemonRegistration.Report(
        conditions: await desktop?.state.report ?? [:], isUnlockedByUser: isUnlockUnreported)
      let link = DaemonLink(connection: system, report: first, clock: clock, log: log) { [weak self] _, notice in
        await self?.handle(notice)
      } receive: { _, values in
        try await service.tagRead(values)
      }
      self.link = link
      await service.setDaemon(link)
      await service.setNetworkManager(NetworkManager(system))
      // The conditions may have changed while the connection was made.
      await report()
      try await link.run()
    } failed: { error in
      log(.warning, "cannot use the system bus: \(error.message); trying again")
    }
  }

  private func handle(_ notice: DaemonLink.Notice) async {
    switch notice {
    case .registration(let isAccepted, let error):
      isRegistered = isAccepted
      notifier.status(status)
      await service?.setRegistration(isAccepted, error)
    case .displayNeeded(let isNeeded): await desktop?.setWanted(isNeeded)
    case .sheet(let event): await service?.handle(event)
    case .tagRemoved(let id): await service?.tagRemoved(id)
    }
  }

  /// Begins to follow the session's conditions.
  private func followDesktop(_ session: Connection) async throws(BusError) -> DesktopMonitor {
    var options = DesktopMonitor.Options()
    options.followsCameras = configuration.suspendForCamera
    let desktop = DesktopMonitor(session, options: options)
    self.desktop = desktop
    try await desktop.start()
    do throws(SystemError) {
      try await desktop.startCameras()
    } catch {
      log(.warning, "cannot detect whether a camera is in use: \(error)")
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

  /// Whether a source says that the session is locked. If none can tell, the daemon's verdict decides: it sends no tap
  /// that was read behind a lock.
  private func isLocked() async -> Bool {
    guard let desktop else { return !isHeadless }
    return await desktop.state.report[Names.Condition.locked] ?? false
  }

  /// Applies the user's command to lock or unlock, and reports it to the daemon.
  private func declare(locked: Bool) async throws(BusError) {
    guard !isHeadless else {
      throw BusError(name: Names.Errors.notPossible, message: "a headless agent has no screen that could be locked")
    }
    guard let desktop else { return }
    await desktop.declare(locked: locked)
    let conditions = await desktop.state.report
    guard let link else {
      isUnlockedByUser = !locked
      return
    }
    try await link.declare(isLocked: locked, conditions)
  }

  /// Whether the user has unlocked the session by command, and no daemon knows it, for example because a link failed.
  private var isUnlockUnreported: Bool {
    // The link runs on this event loop.
    link?.assumeIsolated { $0.registration.desired.isUnlockedByUser } ?? isUnlockedByUser
  }

  // MARK: Reloading

  /// Reads the settings and the desktop entries again, after SIGHUP. If the settings have an error, the active ones
  /// stay.
  @discardableResult func reload() -> Task<Void, Never> {
    Task {
      // The result is in the log.
      _ = await readings.request().value
      await service?.reloadHandlers()
    }
  }

  /// Reads the settings once, and makes all of them active, or none. Returns the error that keeps them from being
  /// active.
  private func readSettings() async -> KeyFileError? {
    guard let service, !isEnding else { return nil }
    notifier.reloading()
    let time = Timestamp.now()
    do throws(KeyFileError) {
      let new = try await readOnThread()
      // After `end()`, do not start anything.
      guard !isEnding else { return nil }
      let keys = new.keys(differingFrom: configuration)
      await apply(new, service)
      (configuration, configurationTime, mistake) = (new, time, nil)
      log(
        .info,
        "the configuration was read again: "
          + (keys.isEmpty ? "nothing has changed" : "new are \(keys.joined(separator: ", "))"))
    } catch {
      log(.error, "\(error); until then the previous configuration stays in force")
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

  private func apply(_ new: AgentConfiguration, _ service: AgentService) async {
    await service.adopt(new, inboxAt: files.inbox(new))
    guard !isEnding else { return }
    if new.verify != configuration.verify { verify(new.verify) }
    do throws(SystemError) {
      try await desktop?.setFollowsCameras(new.suspendForCamera)
    } catch {
      // The agent works without cameras. The next reload tries again.
      log(.warning, "cannot detect whether a camera is in use: \(error)")
    }
  }

  /// Starts or stops the hourly verification of domains. Two of them never run at the same time.
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
    return mistake.map { "\(words); the previous configuration is in force: \($0)" } ?? words
  }

  // MARK: Time

  private func runHourly(_ service: AgentService) async {
    repeat {
      await service.prune()
      await service.readAssociations()
    } while await pause(.seconds(3600))
  }

  private func watch() async {
    guard let interval = notifier.watchdogInterval else { return }
    repeat { notifier.watchdog() } while await pause(interval)
  }

  /// False if the task is cancelled.
  private func pause(_ duration: Duration) async -> Bool {
    do {
      try await Task.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}

/// Recognizes the session of a login screen or a screen locker.
///
/// Such a session has its own desktop, which starts the same programs as any other. But no user is logged in there, so
/// the agent must not show or store a tap: the next user would find it.
enum LoginScreen {
  /// The classes of such sessions in logind (pam_systemd(8), `class=`).
  private static let classes: Set<String> = ["greeter", "lock-screen"]

  /// Why the agent is not needed; nil if it is. pam_systemd(8) sets `XDG_SESSION_CLASS`, and desktops pass it on to the
  /// services of systemd.
  static func notice(environment: [String: String]) -> String? {
    guard let name = environment["XDG_SESSION_CLASS"], classes.contains(name) else { return nil }
    return "this is the session of a login screen (XDG_SESSION_CLASS=\(name)): no user is logged in, so the agent exits"
  }
}

/// Repeats work until it succeeds. The pauses grow from a quarter of a second to thirty seconds.
struct Retry {
  let clock: any Clock<Duration>

  /// `failed` receives each error, before the pause.
  func run(
    _ body: () async throws(BusError) -> Void, failed: (BusError) -> Void
  ) async {
    var pause = Backoff(from: .milliseconds(250), to: .seconds(30))
    while true {
      do throws(BusError) {
        return try await body()
      } catch {
        failed(error)
      }
      do { try await clock.sleep(for: pause.next()) } catch { return }
    }
  }
}

extension Clock where Duration == Swift.Duration {
  /// Waits for the end of some work that may never end, and returns whether it has ended. It continues after the limit.
  @discardableResult
  func wait(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    Task {
      await work()
      end.yield(true)
    }
    let alarm = Task {
      try await sleep(for: limit)
      end.yield(false)
    }
    defer { alarm.cancel() }
    for await hasEnded in ends { return hasEnded }
    return false
  }
}
