import Bus
import Configuration
import EventLoop
import Glibc
import Inbox
import Journal
import Names
import Session

/// One run of the agent: both buses, and what keeps them together.
actor AgentRun {
  private let configuration: AgentConfiguration
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
  ///   - files: where the agent's files are.
  ///   - log: where it is told what happens.
  init(configuration: AgentConfiguration, files: AgentFiles, log: Log) {
    self.configuration = configuration
    self.files = files
    self.log = log
  }

  /// Serves until there is a reason to end.
  ///
  /// - Returns: the exit code.
  func serve() async -> Int32 {
    do throws(BusError) {
      let session = try await Connection.open(.session, on: loop)
      let inbox = makeInbox()
      let service = AgentService(
        session: session, inbox: inbox, configuration: configuration, now: Timestamp.now, clock: clock,
        log: log
      ) { [weak self] in try await self?.declare(locked: $0) }
      try await service.export()
      guard try await session.requestName(Names.Agent.busName).isOwner else { return await leave(session) }
      self.service = service
      let desktop = try await followDesktop(session)
      await service.start()
      notifier.ready(status: "Waiting for the daemon")
      Task { await keepHouse(service) }
      if configuration.verify { Task { await AssociationUpdate(clock: clock, log: log).run() } }
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
    notifier.stopping()
    await service?.end()
  }

  private func makeInbox() -> Inbox {
    let location = files.inbox(configuration)
    if configuration.inbox && location == .memory {
      log(.warning, "neither XDG_STATE_HOME nor HOME says where to keep taps: they are kept in memory")
    }
    let retention = Retention(days: configuration.retentionDays, maximumTaps: configuration.maximumTaps)
    return Inbox(
      location, retention: retention, now: Timestamp.now, notice: { [log] in log(.notice, $0) },
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
      let system = try await Connection.open(.system, on: loop)
      let conditions = await desktop.state.report
      let owes = unlockIsOwed()
      let link = DaemonLink(connection: system, conditions: conditions, owesUnlock: owes, clock: clock, log: log) {
        [notifier] registered in
        notifier.status(registered ? "Registered with the daemon" : "Waiting for the daemon")
        await service.setRegistered(registered)
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
