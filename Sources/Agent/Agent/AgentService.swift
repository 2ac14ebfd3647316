import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import Names
import Settings

/// The parts of the agent on the session bus, joined.
struct AgentService: Sendable {
  let inbox: Inbox
  let router: TapRouter
  let screen: Screen
  let desk: TapDesk
  let interface: AgentInterface
  private let outbox: Outbox
  private let launcher: Launcher
  private let clock: any Clock<Duration>
  private let log: Log

  /// For desktop entries and records, before the first notifications.
  private static let readingTimeout = Duration.seconds(5)

  /// Without `handlers`, uses those of this process's environment. A headless agent can ask no user: only rules with
  /// `Ask=no` act, and it has no notifications. The log never receives a tag's contents.
  init(
    session: Connection, inbox: Inbox, configuration: AgentConfiguration, readAt time: Timestamp = .now(),
    now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>, isHeadless: Bool = false,
    handlers: HandlerRegistry? = nil, mqttFiles: [String] = [], log: Log,
    settings: ActiveSettings? = nil,
    isLocked: @escaping @Sendable () async -> Bool = { false },
    declareLocked: @escaping @Sendable (isolated any Actor, Bool) async throws -> Void
  ) {
    self.inbox = inbox
    self.clock = clock
    self.log = log
    let signals = AgentSignals(session: session, log: log)
    launcher = Launcher(connection: session, on: session.loop) { log(.info, $0) }
    outbox = Outbox(mqttFiles, on: session.loop, log: log)
    router = TapRouter(configuration, handlers: handlers, on: session.loop, now: now, log: log)
    screen = Screen(
      on: session, configuration, inbox: inbox, launcher: launcher, isHeadless: isHeadless, clock: clock, log: log)
    desk = TapDesk(
      inbox: inbox, router: router, screen: screen, launcher: launcher, outbox: outbox, signals: signals,
      isLocked: isLocked, now: now, log: log)
    interface = AgentInterface(
      desk, router, screen, inbox, outbox, signals, settings, readAt: time, log: log, declareLocked: declareLocked)
  }

  /// Reads the handlers, connects to the notification server, and shows the taps that an earlier run left open.
  func start() async {
    Task { await router.followHandlers() }
    Task { await router.followRules { await desk.decideAgain() } }
    await screen.start { [desk] in await desk.handle($0) }
    Task { await launcher.removeLeftFiles() }
    let reading = Task {
      await outbox.look()
      await router.start()
      await desk.setReady()
    }
    // If a file system does not respond, start anyway: the agent can store taps and answer callers.
    let isRead = await clock.wait(atMost: Self.readingTimeout) { await reading.value }
    if !isRead { log(.warning, Self.slowReading) }
    await desk.resume()
    Task {
      await desk.waitForFile()
      await inbox.check()
    }
    if !isRead {
      Task {
        await reading.value
        log(.notice, "desktop entries were read")
        await desk.decideAgain()
      }
    }
  }

  private static let slowReading =
    "desktop entries, association records, or a directory of PATH cannot be read yet: a slow disk, or a file system that does "
    + "not answer. Until then, links open only in apps whose entries were read. Taps on the screen are decided again later"

  /// Taps on the screen are decided again if the settings may change that decision.
  func adopt(_ configuration: AgentConfiguration, inboxAt location: Inbox.Location) async {
    await inbox.configure(location, Retention(configuration))
    await screen.adopt(configuration)
    let mayChangeDecisions = await router.adopt(configuration)
    await desk.prune()
    if mayChangeDecisions { await desk.decideAgain() }
  }

  func handle(_ notice: DaemonLink.Notice) async {
    switch notice {
    case .registration(let isAccepted, let error):
      await interface.setRegistration(isAccepted, error)
      await screen.showRegistration(isAccepted, error)
      // Not awaited, because the daemon's link waits for this notice.
      if isAccepted, await router.needsReaderNames { Task { await desk.decideAgain() } }
    case .sheet(let event): await screen.handle(event)
    case .tagRemoved(let id): await desk.tagRemoved(id)
    case .displayNeeded: break
    }
  }

  /// From now on, the daemon's reader sessions can be cancelled, its readers' names asked for, and Wi-Fi networks
  /// joined.
  func use(_ link: DaemonLink, _ networkManager: NetworkManager) async {
    await screen.setDaemon(link)
    await router.use(link, networkManager)
    // An earlier tap may say that there is no NetworkManager.
    await desk.decideAgain(networks: true)
  }

  /// Called once an hour.
  func tidy() async {
    await desk.prune()
    await router.readAssociations()
  }

  /// Closes the notifications, and removes the files that were written for apps. Then tries again to write the inbox's
  /// file: otherwise the next run would also show taps that have ended only in memory.
  func end() async {
    await screen.end()
    await launcher.removeFiles()
    _ = await inbox.retryFile(maximum: TapPolicy.maximumOnScreen)
  }
}
