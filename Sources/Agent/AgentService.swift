import Associations
import Bus
import Configuration
import EventLoop
import Handlers
import Inbox
import Journal
import KeyFile
import Names
import Notifications
import Routing

/// Where the stages of a tap meet: carries out what ``TapPolicy`` decides, and answers `org.tagroute.Agent1`.
actor AgentService {
  private let session: Connection
  let inbox: Inbox
  let handlers: HandlerRegistry
  let choices: ChoiceStore
  let launcher: Launcher
  /// Whether there was a clipboard at the last look; `PATH` may lead to a file system that does not answer.
  private(set) var canCopy = false
  let notifications: NotificationClient
  let associations: AssociationStore?
  /// The last reading of what domains have said.
  var readingAssociations: Task<Void, Never>?
  var routing: RoutingPolicy
  var timeout: NotificationTimeout
  let languages: [String]
  let now: @Sendable () -> Timestamp
  /// Takes in the user's own word on the lock.
  let declareLocked: @Sendable (Bool) async throws -> Void
  /// Reads the settings again, and says what is wrong with them.
  let readSettings: @Sendable () async -> KeyFileError?
  let clock: any Clock<Duration>
  /// How long what is to be read from files may keep the first notifications waiting.
  private static let patience = Duration.seconds(5)
  let log: Log
  var policy = TapPolicy()
  var sheets = ReaderSheets()
  var registrationNotice = RegistrationNotice()
  /// Who is told that the user does not want a reader session.
  var daemon: DaemonLink?
  /// Hand-overs under way, by tap.
  var handOvers: [String: Task<HandOverOutcome, Never>] = [:]
  /// What was handed over and has not been answered yet.
  var answers: [TapOffer.HandOverKey: PendingAnswer] = [:]

  /// Whether the handlers have been read, and what domains have said: without them a tap is decided on what is not the truth.
  private var isReady = false

  /// What an earlier run left has been taken in. Until then nothing that is said of taps, or done to them, could be true.
  var resumption = Ending()

  /// Whether the daemon has accepted this agent.
  private(set) var isRegistered = false
  /// What the daemon has answered last instead; nil where it has accepted this agent, or has not answered yet.
  var registrationError: BusError?
  /// When the reading of the settings that are in force began.
  var configurationTime: Timestamp
  /// What keeps those that were read last from being in force; empty where they are.
  var configurationError = ""

  nonisolated var unownedExecutor: UnownedSerialExecutor { session.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - session: the session bus.
  ///   - inbox: where taps are kept.
  ///   - configuration: what the user has set.
  ///   - time: when the reading of that began.
  ///   - now: the time of day.
  ///   - clock: what the pauses between attempts are measured by.
  ///   - handlers: who is installed; by default whoever the process's environment leads to.
  ///   - log: where it is told what happens; never what a tag holds.
  ///   - readSettings: reads the settings again and has them taken over; says what is wrong with them.
  ///   - declareLocked: takes in the user's own word on the lock, and returns once the daemon has been told.
  init(
    session: Connection, inbox: Inbox, configuration: AgentConfiguration, readAt time: Timestamp = .now(),
    now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>, handlers: HandlerRegistry? = nil, log: Log,
    readSettings: @escaping @Sendable () async -> KeyFileError? = { nil },
    declareLocked: @escaping @Sendable (Bool) async throws -> Void
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
    launcher = Launcher(connection: session, on: session.loop) { log(.info, $0) }
    notifications = NotificationClient(on: session)
    routing = RoutingPolicy(schemes: schemes, smartPosters: configuration.smartPosters)
    timeout = NotificationTimeout(configuration.notificationTimeout)
    languages = UserLanguages.codes(in: ProcessEnvironment.current)
    self.now = now
    self.declareLocked = declareLocked
    self.readSettings = readSettings
    self.clock = clock
    self.log = log
  }

  // MARK: Life

  /// Makes the agent's object known, before its name is.
  ///
  /// - Throws: `BusError` where the bus is gone.
  func export() async throws(BusError) {
    try await session.export([AgentInterface.exported(by: self)], at: try ObjectPath(Names.Agent.path))
  }

  /// Reads the handlers, listens to the notification server, and shows what an earlier run left open.
  func start() async {
    Task { await followHandlers() }
    Task { await serveNotifications() }
    Task { await followNotifications() }
    let reading = Task {
      await handlers.start()
      await readAssociations()
      isReady = true
      await lookForClipboard()
    }
    // A tap is not lost over a file system that does not answer, nor is the desktop without anybody who can be asked why.
    let isRead = await PatientWait(clock: clock).run(atMost: Self.patience) { await reading.value }
    if !isRead { log(.warning, Self.isLate) }
    await resume()
    Task {
      await waitForFile()
      await inbox.check()
    }
    if !isRead { Task { await catchUp(after: reading) } }
  }

  private static let isLate =
    "desktop entries, what is kept of domains' words, or a directory of PATH cannot be read yet: a slow disk, or a file system "
    + "that does not answer. Links go only to apps whose entries are read until then; what is on the screen is decided again"

  /// Decides again what was decided before anybody knew who is installed.
  private func catchUp(after reading: Task<Void, Never>) async {
    await reading.value
    log(.notice, "desktop entries are read now")
    for id in policy.onScreenInOrder { await decideAgain(id) }
  }

  /// Shows a tap as it is decided now, where that is something else than what is shown.
  func decideAgain(_ id: String) async {
    guard let shown = policy.offer(id) else { return }
    do throws(InboxError) {
      let stored = try await inbox.tap(id)
      let offer = await offer(stored)
      // It may have been clicked meanwhile.
      guard policy.offer(id) == shown, offer != shown, offer.isShown else { return }
      let isSame = stored.state == .failed && offer.handler?.desktopID == stored.tap.handler
      await perform(policy.handle(.again(offer, failure: isSame ? stored.reason : nil)))
    } catch { log(.warning, "tap \(id) is not decided again: \(error)") }
  }

  /// Takes in whether the daemon has accepted this agent.
  func setRegistered(_ value: Bool) async {
    isRegistered = value
    if !value { await handle(ReaderSheets.Event.daemonGone) }
    await propertiesChanged(["Registered"])
  }

  /// Tells who follows the agent's properties.
  func propertiesChanged(_ names: [String]) async {
    guard let path = try? ObjectPath(Names.Agent.path) else { return }
    await session.propertiesChanged(names, of: Names.Agent.interface, at: path)
  }

  /// What is wrong with desktop entries goes to the log once, and not all of it where it is much.
  private func followHandlers() async {
    let most = 20
    var known: Set<HandlerProblem> = []
    for await _ in await handlers.changes() {
      let problems = await handlers.problems
      let new = problems.filter { !known.contains($0) }
      for problem in new.prefix(most) { log(.warning, "\(problem)") }
      if new.count > most { log(.warning, "\(new.count - most) more; tagroute handlers --check has them all") }
      known = Set(problems)
      await readAssociations()
    }
  }

  // MARK: A tap

  /// Stores what the daemon has read, and offers it.
  ///
  /// - Throws: `BusError` with one of the names that the interface documents.
  func tagRead(_ values: [String: Value]) async throws(BusError) {
    let reading = try TagReading(values, now: now())
    let wasReady = isReady
    let offer = await makeOffer(reading)
    let tap = offer.tap(reading)
    guard offer.isShown else {
      let (state, reason) = offer.ending
      if await inbox.keep(tap, as: state, because: reason).isNew {
        log(.notice, "tap \(offer.id) is not offered: \(offer.reason)")
        await perform([.announceClosed(offer.id, state)])
        if case .refused(let refusal) = offer.obstacle {
          await notifications.show(RefusedLinkNotice.notification(refusal), as: RefusedLinkNotice.key)
        }
      }
      return
    }
    let receipt = await inbox.receive(tap)
    guard receipt.isNew else {
      log(.debug, "tap \(offer.id) was given before")
      return
    }
    // Why is for debugging only: the domain that a handler claims is the host of the link.
    if let handler = offer.handler?.desktopID {
      log(.info, "tap \(offer.id) is offered, to be opened in \(handler)")
    } else {
      log(.info, "tap \(offer.id) is not offered to an app, only to be read and copied")
    }
    log.debug("tap \(offer.id) goes there because", Redacted(offer.reason, as: "reason"))
    for id in receipt.expired { await perform(policy.handle(.expired(id))) }
    await perform(policy.handle(.stored(offer)))
    await notifications.settled()
    if isReady && !wasReady { await decideAgain(offer.id) }
    // For the next: what is installed now is no use to this one before its notification is shown again.
    if !offer.isOpenable { Task { await lookForClipboard() } }
  }

  /// On a thread of its own, and no tap waits for it.
  private func lookForClipboard() async {
    canCopy = (try? await DedicatedThread.run { [launcher] in launcher.canCopy }) ?? canCopy
  }

  /// Carries out actions in order.
  ///
  /// - Returns: for each tap whose change of state the inbox refused, why; what followed for that tap was not done, except that a
  ///   notification goes whose tap is in another state already, or gone.
  @discardableResult
  func perform(_ actions: [TapPolicy.Action]) async -> [String: InboxError] {
    var refused: [String: InboxError] = [:]
    for action in actions {
      if let refusal = refused[action.id] {
        guard case .closeNotification = action, refusal.code != .storage else { continue }
      }
      switch action {
      case .move(let id, let state, let reason): refused[id] = await move(id, to: state, reason: reason)
      case .begin(let offer, let token, let choice):
        refused[offer.id] = await begin(offer, token: token, choice: choice)
      case .putOnScreen(let id, let place): await putOnScreen(id, at: place)
      case .show(let offer, let previous):
        await notifications.show(
          offer.notification(timeout: timeout, canCopy: canCopy), as: NotificationKey(offer.id),
          replacing: previous.map(NotificationKey.init))
      case .showFailure(let offer, let reason):
        await notifications.show(
          offer.notification(failed: reason, timeout: timeout, canCopy: canCopy),
          as: NotificationKey(offer.id))
      case .closeNotification(let id): await notifications.close(NotificationKey(id))
      case .remember(let id, let change): await remember(change, from: id)
      case .handOver(let offer, let token):
        handOvers[offer.id] = Task { await handOver(offer) { await deliver(offer, token: token) } }
      case .awaitAnswer(let offer):
        handOvers[offer.id] = Task { await handOver(offer) { await waitAgain(offer) } }
      case .announceReceived(let id): await emit("TapReceived", [.string(id)])
      case .announceClosed(let id, let state): await emit("TapClosed", [.string(id), .string(state.rawValue)])
      }
    }
    return refused
  }

  /// The click counts even where it cannot be kept.
  private func remember(_ change: HandlerChoices.Change, from id: String) async {
    do throws(KeyFileError) {
      try await choices.apply(change)
    } catch {
      // What exactly is in the way names the domain.
      log(.warning, "what was chosen for tap \(id) is not kept: \(error.file) cannot be changed")
      log.debug("what was chosen for tap \(id) is not kept because", Redacted("\(error)", as: "reason"))
    }
  }

  /// - Returns: why the inbox refused it; nil where it is done.
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
