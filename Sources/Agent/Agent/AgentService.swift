import Associations
import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import Names
import Notifications
import Routing
import Settings

/// Carries out the actions of ``TapPolicy``, and answers `org.tagroute.Agent1`.
actor AgentService {
  private let session: Connection
  let inbox: Inbox
  let handlers: HandlerRegistry
  let choices: ChoiceStore
  let rules: RuleStore
  /// The rules that notifications write.
  let alwaysRules = AlwaysRules()
  let launcher: Launcher
  /// Whether a clipboard program was found. The search may block, because `PATH` may contain a file system that does
  /// not answer.
  private(set) var canCopy = false
  let notifications: NotificationClient
  let associations: AssociationStore?
  /// The latest reading of the domains' association records.
  var readingAssociations: Task<Void, Never>?
  var routing: RoutingPolicy
  /// ``Notification/timeout`` of a tap.
  var timeout: Int32
  /// Which notifications make a sound.
  var sound: AgentConfiguration.Sound
  let languages: [String]
  let now: @Sendable () -> Timestamp
  /// Reports the user's command to lock or unlock.
  let declareLocked: @Sendable (isolated any Actor, Bool) async throws -> Void
  /// Whether the desktop reports that the session is locked.
  let isLocked: @Sendable () async -> Bool
  /// Reads the settings again. Returns their error; nil if there is none.
  let readSettings: @Sendable () async -> KeyFileError?
  let clock: any Clock<Duration>
  /// If one of these files exists, each tap that is stored waits to be sent.
  let mqttFiles: [String]
  /// Whether one existed when the agent last looked.
  var isOutboxOn = false
  /// Whether no user can be asked: only rules with `Ask=no` act, and nothing is shown.
  let isHeadless: Bool
  /// How long the first notifications may wait for desktop entries and records.
  private static let readingTimeout = Duration.seconds(5)
  let log: Log
  var policy = TapPolicy()
  var sheets = ReaderSheets()
  var registrationNotice = RegistrationNotice()
  /// Cancels reader sessions.
  var daemon: DaemonLink?
  /// Connects to Wi-Fi networks of tags; nil until the system bus was reached.
  var networkManager: NetworkManager?
  /// The openings in progress, by tap id. A tap has at most one at a time.
  var openings: [String: Opening] = [:]
  /// What happens when the tags of opened taps are removed.
  var removals = TagRemovals()

  /// Whether the desktop entries and the domains' records have been read. A decision made before that may be wrong.
  private var isReady = false

  /// Ends when the taps of the earlier run have been taken over. Calls about taps wait for it.
  let resumption: Task<Void, Never>
  let endResumption: AsyncStream<Never>.Continuation

  /// Whether the daemon has accepted this agent.
  var isRegistered = false
  /// The daemon's last error; nil if it has accepted this agent, or has not answered yet.
  var registrationError: BusError?
  /// When the reading of the active settings began.
  var configurationTime: Timestamp
  /// Why the settings that were read last are not active; empty if they are.
  var configurationError = ""

  nonisolated var unownedExecutor: UnownedSerialExecutor { session.loop.asUnownedSerialExecutor() }

  /// Without `handlers`, uses those of this process's environment. The log never receives a tag's contents.
  /// `declareLocked` returns when the daemon knows the state.
  init(
    session: Connection, inbox: Inbox, configuration: AgentConfiguration, readAt time: Timestamp = .now(),
    now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>, isHeadless: Bool = false,
    handlers: HandlerRegistry? = nil, mqttFiles: [String] = [], log: Log,
    readSettings: @escaping @Sendable () async -> KeyFileError? = { nil },
    isLocked: @escaping @Sendable () async -> Bool = { false },
    declareLocked: @escaping @Sendable (isolated any Actor, Bool) async throws -> Void
  ) {
    self.session = session
    self.inbox = inbox
    configurationTime = time
    let schemes = Set(configuration.schemes)
    associations = AssociationStore(environment: ProcessEnvironment.current)
    self.handlers =
      handlers
      ?? HandlerRegistry(
        schemes: schemes, shownName: { TapOffer.name(of: $0).string }, on: session.loop)
    choices = ChoiceStore(on: session.loop)
    rules = RuleStore(on: session.loop)
    launcher = Launcher(connection: session, on: session.loop) { log(.info, $0) }
    notifications = NotificationClient(on: session, isMuted: isHeadless)
    routing = RoutingPolicy(
      schemes: schemes, smartPosters: configuration.smartPosters, showsBareTags: configuration.bareTags == .show)
    timeout = configuration.notificationTimeout
    sound = configuration.sound
    languages = UserLanguages.codes(in: ProcessEnvironment.current)
    self.now = now
    self.declareLocked = declareLocked
    self.isLocked = isLocked
    self.readSettings = readSettings
    self.clock = clock
    self.mqttFiles = mqttFiles
    self.isHeadless = isHeadless
    self.log = log
    let (pending, end) = AsyncStream.makeStream(of: Never.self)
    endResumption = end
    resumption = Task { for await _ in pending {} }
  }

  // MARK: Life

  /// Exports the agent's object. Call this before requesting the bus name.
  func export() async throws(BusError) {
    try await session.export([AgentInterface.exported(by: self)], at: try ObjectPath(Names.Agent.path))
  }

  /// Reads the handlers, connects to the notification server, and shows the taps that an earlier run left open.
  func start() async {
    Task { await followHandlers() }
    Task { await followRules() }
    if !isHeadless {
      Task { await serveNotifications() }
      Task { await followNotifications() }
    }
    Task { await launcher.removeLeftFiles() }
    let reading = Task {
      await lookForMqtt()
      await rules.start()
      await handlers.start()
      await readAssociations()
      isReady = true
      await lookForClipboard()
    }
    // If a file system does not respond, start anyway: the agent can store taps and answer callers.
    let isRead = await clock.wait(atMost: Self.readingTimeout) { await reading.value }
    if !isRead { log(.warning, Self.slowReading) }
    await resume()
    Task {
      await waitForFile()
      await inbox.check()
    }
    if !isRead { Task { await catchUp(after: reading) } }
  }

  private static let slowReading =
    "desktop entries, association records, or a directory of PATH cannot be read yet: a slow disk, or a file system that does "
    + "not answer. Until then, links open only in apps whose entries were read. Taps on the screen are decided again later"

  /// Decides the taps on the screen again, once the desktop entries are read.
  private func catchUp(after reading: Task<Void, Never>) async {
    await reading.value
    log(.notice, "desktop entries were read")
    for id in policy.onScreenInOrder { await decideAgain(id) }
  }

  /// Shows a tap again if the decision about it has changed.
  func decideAgain(_ id: String) async {
    guard let shown = policy.offer(id) else { return }
    do throws(InboxError) {
      let stored = try await inbox.tap(id)
      let offer = await offer(stored).opening(shown.manner)
      // The tap may have been clicked meanwhile.
      guard policy.offer(id) == shown, offer != shown, offer.isShown else { return }
      let isSame = stored.state == .failed && offer.handler?.desktopID == stored.tap.handler
      await perform(policy.handle(.again(offer, failure: isSame ? stored.reason : nil)))
    } catch { log(.warning, "cannot decide tap \(id) again: \(error)") }
  }

  func propertiesChanged(_ names: [String]) async {
    guard let path = try? ObjectPath(Names.Agent.path) else { return }
    await session.propertiesChanged(names, of: Names.Agent.interface, at: path)
  }

  /// Logs the problems of desktop entries that are new, at most 20 at a time.
  private func followHandlers() async {
    var known: [HandlerProblem] = []
    for await _ in await handlers.changes() {
      let problems = await handlers.problems
      logNew(problems, since: known, all: "tagroute handlers --check")
      known = problems
      // An app that a rule names may have come or gone.
      await rules.reload()
      await readAssociations()
    }
  }

  /// Logs the problems that are not known yet, at most 20 at a time. `command` shows all of them.
  func logNew<Problem: Hashable>(_ problems: [Problem], since known: [Problem], all command: String) {
    let (most, known) = (20, Set(known))
    let new = problems.filter { !known.contains($0) }
    for problem in new.prefix(most) { log(.warning, "\(problem)") }
    if new.count > most { log(.warning, "\(new.count - most) more; \(command) has them all") }
  }

  // MARK: A tap

  /// Stores a tap that the daemon has read, and offers it. The error has one of the names in the interface's
  /// documentation.
  func tagRead(_ values: [String: Value]) async throws(BusError) {
    let reading = try TagReading(values, now: now())
    let wasReady = isReady
    let offer = await makeOffer(reading)
    let tap = offer.tap(reading)
    let isOutgoing = isOutboxOn
    guard offer.isShown, !isHeadless || offer.mayOpenAtOnce else {
      let (state, reason) = offer.isShown ? offer.headlessEnding : offer.ending
      if await inbox.keep(tap, as: state, because: reason, outgoing: isOutgoing).isNew {
        if isOutgoing { await emit("OutgoingAvailable", []) }
        // The reason of a tap that would be shown may name a domain. The detail names no more than a rule.
        log(.notice, "tap \(offer.id) is not offered: \(offer.isShown ? reason.detail : offer.reason)")
        await perform([.announceClosed(offer.id, state)])
        if let obstacle = offer.obstacle {
          let notice = ObstacleNotice.notification(obstacle).sounding(sound.chosen(.failure))
          await notifications.show(notice, as: ObstacleNotice.key)
        }
      }
      return
    }
    let receipt = await inbox.receive(tap, outgoing: isOutgoing)
    guard receipt.isNew else {
      log(.debug, "tap \(offer.id) was received before")
      return
    }
    if isOutgoing { await emit("OutgoingAvailable", []) }
    // The reason is for debugging only: it names the domain that the handler claims, which is the link's host.
    if let receiver = offer.receiver {
      log(.info, "tap \(offer.id) is offered, to be opened in \(receiver)")
    } else {
      log(.info, "tap \(offer.id) is not offered to any app; it can be read and copied")
    }
    log.debug("tap \(offer.id) is offered like this because", Redacted(offer.reason, as: "reason"))
    for id in receipt.expired { await perform(policy.handle(.expired(id))) }
    if await openAtOnce(offer, readAt: reading.time) { return }
    if isHeadless { return await endHeadless(offer) }
    await perform(policy.handle(.stored(offer)))
    await notifications.settled()
    if isReady && !wasReady { await decideAgain(offer.id) }
    // Search again, so that the next tap finds a clipboard program that was installed just now.
    if !offer.isOpenable { Task { await lookForClipboard() } }
  }

  /// Searches on a separate thread. No tap waits for it.
  private func lookForClipboard() async {
    guard !isHeadless else { return }
    canCopy = (try? await DedicatedThread.run { [launcher] in launcher.canCopy }) ?? canCopy
  }

  /// Carries out actions in order.
  ///
  /// If the inbox refuses a tap's change of state, the later actions for that tap are skipped. One exception: if the
  /// tap is gone or has another state, its notification is closed. Returns the refusals, by tap.
  @discardableResult
  func perform(_ actions: [TapPolicy.Action]) async -> [String: InboxError] {
    var refused: [String: InboxError] = [:]
    for action in actions {
      if let refusal = refused[action.id] {
        guard case .closeNotification = action, refusal.code != .storage else { continue }
      }
      switch action {
      case .move(let id, let state, let reason): refused[id] = await move(id, to: state, reason: reason)
      case .putOnScreen(let id, let place): await putOnScreen(id, at: place)
      case .show(let offer, let previous, let isNews):
        let notification = offer.notification(timeout: timeout, canCopy: canCopy)
        await notifications.show(
          notification.sounding(isNews ? sound.chosen(offer.sound) : .silent), as: NotificationKey(offer.id),
          replacing: previous.map(NotificationKey.init))
      case .showFailure(let offer, let reason, let isNews):
        let notification = offer.notification(failed: reason, timeout: timeout, canCopy: canCopy)
        await notifications.show(
          notification.sounding(isNews ? sound.chosen(.failure) : .silent), as: NotificationKey(offer.id))
      case .showOpened(let offer, let previous):
        let notice = offer.openedNotice.sounding(sound.chosen(offer.sound))
        await notifications.show(
          notice, as: NotificationKey(offer.id), replacing: previous.map(NotificationKey.init))
      case .closeNotification(let id): await notifications.close(NotificationKey(id))
      case .remember(let id, let change): await remember(change, from: id)
      case .openAlways(let offer): await openAlways(offer)
      case .handOver(let offer, let token): start(offer) { await $0.deliver(offer, token: token) }
      case .awaitAnswer(let offer, let answer): start(offer) { await $0.launcher.wait(for: answer) }
      case .announceReceived(let id): await emit("TapReceived", [.string(id)])
      case .announceClosed(let id, let state): await emit("TapClosed", [.string(id), .string(state.rawValue)])
      }
    }
    return refused
  }

  /// If the choice cannot be saved, the click still opens the tap.
  private func remember(_ change: HandlerChoices.Change, from id: String) async {
    do throws(KeyFileError) {
      try await choices.apply(change)
    } catch {
      // The full error names the domain.
      log(.warning, "the choice for tap \(id) is not saved: \(error.file) cannot be changed")
      log.debug("the choice for tap \(id) is not saved because", Redacted("\(error)", as: "reason"))
    }
  }

  /// The inbox's refusal; nil if the state is committed.
  func move(
    _ id: String, to state: TapState, reason: TapReason = .none, handler: String? = nil
  ) async -> InboxError? {
    do throws(InboxError) {
      try await inbox.move(id, to: state, reason: reason, handler: handler)
      log(.debug, "tap \(id) is \(state.rawValue)")
      return nil
    } catch {
      log(.debug, "\(error)")
      return error
    }
  }

  func emit(_ member: String, _ arguments: [Value]) async {
    do {
      try await session.emit(
        path: try ObjectPath(Names.Agent.path), interface: Names.Agent.interface, member: member, arguments)
    } catch { log(.debug, "\(member) was not sent: \(error)") }
  }
}
