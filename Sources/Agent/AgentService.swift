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
  private let launcher: Launcher
  /// Whether there was a clipboard at the last look; `PATH` may lead to a file system that does not answer.
  private var canCopy = false
  private let notifications: NotificationClient
  let associations: AssociationStore?
  /// The last reading of what domains have said.
  var readingAssociations: Task<Void, Never>?
  var routing: RoutingPolicy
  private let timeout: NotificationTimeout
  private let languages: [String]
  let now: @Sendable () -> Timestamp
  private let clock: any Clock<Duration>
  let log: Log
  var policy = TapPolicy()
  /// Hand-overs under way, by tap.
  var handOvers: [String: Task<HandOverOutcome, Never>] = [:]

  /// Whether the daemon has accepted this agent.
  private(set) var isRegistered = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { session.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - session: the session bus.
  ///   - inbox: where taps are kept.
  ///   - configuration: what the user has set.
  ///   - now: the time of day.
  ///   - clock: what the pauses between attempts are measured by.
  ///   - log: where it is told what happens; never what a tag holds.
  init(
    session: Connection, inbox: Inbox, configuration: AgentConfiguration, now: @escaping @Sendable () -> Timestamp,
    clock: any Clock<Duration>, log: Log
  ) {
    self.session = session
    self.inbox = inbox
    let schemes = Set(configuration.schemes)
    associations = AssociationStore(environment: ProcessEnvironment.current)
    handlers = HandlerRegistry(schemes: schemes, on: session.loop)
    choices = ChoiceStore(on: session.loop)
    launcher = Launcher(connection: session, on: session.loop)
    notifications = NotificationClient(on: session)
    routing = RoutingPolicy(schemes: schemes, smartPosters: configuration.smartPosters)
    timeout = NotificationTimeout(configuration.notificationTimeout)
    languages = LanguagePreference.languages(in: ProcessEnvironment.current)
    self.now = now
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
    await handlers.start()
    await readAssociations()
    await lookForClipboard()
    Task { await serveNotifications() }
    Task { await followNotifications() }
    await resume()
  }

  /// Takes the notifications away, whose buttons nobody would answer; the next run shows them again.
  func end() async { await notifications.closeAll() }

  /// Applies the retention.
  func prune() async {
    do {
      for id in try await inbox.prune() { await perform(policy.handle(.expired(id))) }
    } catch { log(.warning, "\(error)") }
  }

  /// Takes in whether the daemon has accepted this agent.
  func setRegistered(_ value: Bool) async {
    isRegistered = value
    guard let path = try? ObjectPath(Names.Agent.path) else { return }
    await session.propertiesChanged(["Registered"], of: Names.Agent.interface, at: path)
  }

  private func serveNotifications() async {
    await Retry(clock: clock).run { [notifications] () async throws(BusError) in
      try await notifications.run()
    } failed: { [log] error in
      log(.warning, "cannot listen to notification servers: \(error); trying again")
    }
  }

  private func resume() async {
    do {
      let left = try await inbox.resume(reason: Messages.endedWhileOpening, maximum: TapPolicy.maximumOnScreen)
      if !left.waiting.isEmpty { log(.notice, "showing \(left.waiting.count) taps of an earlier run again") }
      for id in left.expired { await perform(policy.handle(.expired(id))) }
      for summary in left.waiting {
        let stored = try await inbox.tap(summary.id)
        await perform(policy.handle(.resumed(await offer(stored), stored.state, reason: stored.reason)))
      }
    } catch { log(.error, "what an earlier run left open cannot be shown: \(error)") }
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

  private func followNotifications() async {
    for await event in notifications.events {
      switch event {
      case .shown(let key): await perform(policy.handle(.shown(key.rawValue)))
      case .closed(let key, let reason): await perform(policy.handle(.closed(key.rawValue, reason)))
      case .activated(let key, let action, let token): await clicked(key.rawValue, action, token: token)
      case .refused(let key, let reason):
        log(.warning, "the notification server refused tap \(key.rawValue); trying again")
        log.debug("tap \(key.rawValue) was refused:", Redacted(reason, as: "a server's words"))
      case .serverChanged(let server?): log(.info, "notifications go to \(server.name) \(server.version)")
      case .serverChanged(nil): log(.notice, "there is no notification server; taps wait for one")
      }
    }
  }

  private func clicked(_ id: String, _ action: String, token: String?) async {
    let choices = await currentRouting().choices
    do {
      switch policy.answer(to: action, of: id, canCopy: canCopy) {
      case .open(let offer, let choice):
        guard choice != nil || !offer.isBlocked(by: choices) else { return try await showAgain(id) }
        await perform(policy.handle(.open(offer, token: token, choice: choice)))
      case .showAgain: try await showAgain(id)
      case .dismiss: await perform(policy.handle(.dismiss(id)))
      }
    } catch { log(.warning, "a click on tap \(id) came to nothing: \(error)") }
  }

  /// As it is decided now; not where the tap has been opened meanwhile.
  private func showAgain(_ id: String) async throws(InboxError) {
    let stored = try await inbox.tap(id)
    let offer = await offer(stored)
    guard stored.state.successors.contains(.opening), offer.isShown else { return }
    await perform(policy.handle(.again(offer)))
  }

  // MARK: A tap

  /// Stores what the daemon has read, and offers it.
  ///
  /// - Throws: `BusError` with one of the names that the interface documents.
  func tagRead(_ values: [String: Value]) async throws(BusError) {
    let reading = try TagReading(values, now: now())
    let offer = await makeOffer(reading)
    let expired: [String]
    do {
      let tap = offer.tap(reading)
      guard offer.isShown else {
        if try await inbox.refuse(tap, reason: offer.reason).isNew {
          log(.notice, "tap \(offer.id) is not offered: \(offer.reason)")
          await perform([.announceClosed(offer.id, .failed)])
        }
        return
      }
      let reception = try await inbox.receive(tap)
      guard reception.isNew else {
        log(.debug, "tap \(offer.id) was given before")
        return
      }
      expired = reception.expired
    } catch { throw AgentAnswers.error(error) }
    // Why is for debugging only: the domain that a handler claims is the host of the link.
    if let handler = offer.handler?.desktopID {
      log(.info, "tap \(offer.id) is offered, to be opened in \(handler)")
    } else {
      log(.info, "tap \(offer.id) is not offered to an app, only to be read and copied")
    }
    log.debug("tap \(offer.id) goes there because", Redacted(offer.reason, as: "reason"))
    for id in expired { await perform(policy.handle(.expired(id))) }
    await perform(policy.handle(.stored(offer)))
    // For the next: what is installed now is no use to this one before its notification is shown again.
    if !offer.isOpenable { Task { await lookForClipboard() } }
  }

  /// On a thread of its own, and no tap waits for it.
  private func lookForClipboard() async {
    canCopy = (try? await DedicatedThread.run { [launcher] in launcher.canCopy }) ?? canCopy
  }

  private func makeOffer(_ reading: TagReading) async -> TapOffer {
    let policy = await currentRouting()
    return TapOffer(reading, registry: await handlers.registry, policy: policy, languages: languages)
  }

  /// What decides of links now, the user's choices included.
  func currentRouting() async -> RoutingPolicy {
    let (choices, problems) = await choices.current()
    for problem in problems { log(.warning, "\(problem)") }
    var policy = routing
    policy.choices = choices
    return policy
  }

  private func offer(_ stored: StoredTap) async -> TapOffer {
    let offer = await makeOffer(TagReading(stored.tap))
    // To try again is to try with the same one, which the user may have chosen.
    guard stored.state == .failed, let handler = stored.tap.handler, !offer.needsPermission(handler) else {
      return offer
    }
    return offer.handed(to: handler) ?? offer
  }

  /// What the notification that is up says, else what is right now.
  func offer(_ id: String) async throws(InboxError) -> TapOffer {
    if let offer = policy.offer(id) { return offer }
    return await offer(try await inbox.tap(id))
  }

  /// Carries out actions in order.
  ///
  /// - Returns: for each tap whose change of state the inbox refused, why; what followed for that tap was not done.
  @discardableResult
  func perform(_ actions: [TapPolicy.Action]) async -> [String: InboxError] {
    var refused: [String: InboxError] = [:]
    for action in actions where refused[action.id] == nil {
      switch action {
      case .move(let id, let state, let reason): refused[id] = await move(id, to: state, reason: reason)
      case .begin(let offer):
        refused[offer.id] = await move(offer.id, to: .opening, handler: offer.handler?.desktopID)
      case .release(let id):
        do { try await inbox.leaveScreen(id) } catch { log(.warning, "\(error)") }
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
        handOvers[offer.id] = Task { await handOver(offer, token: token) }
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
  private func move(
    _ id: String, to state: TapState, reason: String = "", handler: String? = nil
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

  private func handOver(_ offer: TapOffer, token: String?) async -> HandOverOutcome {
    let outcome = await deliver(offer, token: token)
    tell(outcome, of: offer)
    await perform(policy.handle(.handedOver(offer, outcome)))
    handOvers[offer.id] = nil
    return outcome
  }

  /// A handler's own words are no more for the log than what is on the tag, which it knows.
  private func tell(_ outcome: HandOverOutcome, of offer: TapOffer) {
    let handler = offer.handler?.desktopID ?? "the clipboard"
    switch outcome {
    case .delivered: log(.info, "tap \(offer.id) was handed to \(handler)")
    case .unknown: log(.warning, "tap \(offer.id) may have been handed to \(handler), which did not answer")
    case .failed(let reason, let error):
      log(.warning, "tap \(offer.id) was not handed to \(handler): \(error ?? "it could not be started")")
      log.debug("tap \(offer.id) was not handed over because", Redacted(Messages.failure(reason), as: "reason"))
    }
  }

  private func deliver(_ offer: TapOffer, token: String?) async -> HandOverOutcome {
    guard let handler = offer.handler, let uri = offer.uri else { return await launcher.copy(offer.copied) }
    do {
      let message = offer.handsOverMessage ? try await inbox.tap(offer.id).tap.message : nil
      let click = Launcher.Click(activationToken: token, tapID: offer.id)
      return await launcher.open(handler, uri, message: message, click: click)
    } catch { return .failed(reason: error.message) }
  }

  private func emit(_ member: String, _ arguments: [Value]) async {
    do {
      try await session.emit(
        path: try ObjectPath(Names.Agent.path), interface: Names.Agent.interface, member: member, arguments)
    } catch { log(.debug, "\(member) was not sent: \(error)") }
  }
}
