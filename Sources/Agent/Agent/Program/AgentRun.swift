import Bus
import EventLoop
import Glibc
import Handlers
import Inbox
import Journal
import Names
import Settings

/// One run of the agent: it connects both buses, and joins the parts.
actor AgentRun {
  private let configuration: AgentConfiguration
  /// A headless agent has no desktop, so it can ask no user, and no lock exists.
  private let isHeadless: Bool
  /// On the session bus.
  private let busName: String
  private let buses: (session: BusAddress, system: BusAddress)
  private let files: AgentFiles
  private let log: Log
  private let clock = ContinuousClock()
  private let loop = EventLoop(label: "agent")
  private let settings: ActiveSettings
  private let conditions: DesktopConditions
  private var service: AgentService?
  private var isEnding = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Reads the settings again, on a thread that may block.
  init(
    configuration: AgentConfiguration, readAt time: Timestamp, isHeadless: Bool = false,
    busName: String = Names.Agent.busName,
    buses: (session: BusAddress, system: BusAddress) = (.session, .system), files: AgentFiles, log: Log,
    readFiles: @escaping @Sendable () -> Result<AgentConfiguration, KeyFileError>
  ) {
    self.configuration = configuration
    self.isHeadless = isHeadless
    self.busName = busName
    self.buses = buses
    self.files = files
    self.log = log
    settings = ActiveSettings(configuration, readAt: time, files: files, on: loop, log: log, readFiles: readFiles)
    conditions = DesktopConditions(isHeadless: isHeadless, on: loop, log: log)
  }

  /// Returns the exit code, when the agent has to end.
  func serve() async -> Int32 {
    do throws(BusError) {
      let session = try await Connection.open(buses.session, on: loop)
      let service = AgentService(
        session: session, inbox: makeInbox(), configuration: configuration, readAt: await settings.time,
        now: Timestamp.now, clock: clock, isHeadless: isHeadless, mqttFiles: files.mqtt, log: log,
        settings: settings,
        isLocked: { [weak conditions] in await conditions?.isLocked() ?? true },
        declareLocked: { [weak conditions] _, isLocked in try await conditions?.declare(locked: isLocked) })
      try await service.interface.export()
      guard try await session.requestName(busName).isOwner else { return await leave(session) }
      self.service = service
      try await conditions.start(session, followsCameras: configuration.suspendForCamera)
      // After `end()`, do not start anything.
      guard !isEnding else { return 0 }
      await service.start()
      guard !isEnding else { return 0 }
      Task { await tidyHourly(service) }
      await settings.start(service, conditions)
      Task { await serveDaemon(service) }
      return await followOwnName(session)
    } catch {
      log(.error, "cannot use the session bus: \(error.message). Run tagroute-agent inside a session")
      return Names.ExitCode.unavailable
    }
  }

  /// Before the process exits; takes less than a second.
  func end() async {
    isEnding = true
    await settings.end()
    await service?.end()
  }

  /// Reads the settings and the desktop entries again, after SIGHUP. If the settings have an error, the active ones
  /// stay.
  @discardableResult func reload() -> Task<Void, Never> {
    Task {
      // The result is in the log.
      _ = await settings.read()
      await service?.interface.reloadHandlers()
    }
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
  private func serveDaemon(_ service: AgentService) async {
    await conditions.settle()
    await Retry(clock: clock).run { () async throws(BusError) in
      let system = try await Connection.open(buses.system, on: loop)
      let link = DaemonLink(
        connection: system, report: await conditions.firstReport(), clock: clock, log: log
      ) { [weak self] _, notice in
        await self?.handle(notice)
      } receive: { _, values in
        try await service.desk.tagRead(values)
      }
      // First, so that no unlocking by command is lost while taps are decided again.
      await conditions.use(link)
      await service.use(link, NetworkManager(system))
      try await link.run()
    } failed: { error in
      log(.warning, "cannot use the system bus: \(error.message); trying again")
    }
  }

  private func handle(_ notice: DaemonLink.Notice) async {
    switch notice {
    case .registration(let isAccepted, _): await settings.setRegistered(isAccepted)
    case .displayNeeded(let isNeeded): await conditions.setDisplayWanted(isNeeded)
    case .sheet, .tagRemoved: break
    }
    await service?.handle(notice)
  }

  private func tidyHourly(_ service: AgentService) async {
    repeat { await service.tidy() } while (try? await Task.sleep(for: .seconds(3600))) != nil
  }
}
