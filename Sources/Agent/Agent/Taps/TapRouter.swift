import Associations
import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import NDEF
import Names
import Notifications
import Routing
import Settings

/// Decides what a tag does, from the apps, the rules, the user's choices and the domains' records of this moment.
actor TapRouter {
  let handlers: HandlerRegistry
  let rules: RuleStore
  private let choices: ChoiceStore
  private let associations: AssociationStore?
  /// Of the domains' association records; the latest one.
  private var readingAssociations: Task<Void, Never>?
  private var policy: RoutingPolicy
  private let languages: [String]
  /// Nil until the system bus was reached.
  private(set) var networkManager: NetworkManager?
  private var daemon: DaemonLink?
  /// Of each reader that was asked for them, by its object path. A tap is also decided after its reader was unplugged.
  private var readerNames: [String: [String]] = [:]
  private let now: @Sendable () -> Timestamp
  private let log: Log
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Without `handlers`, uses those of this process's environment.
  init(
    _ configuration: AgentConfiguration, handlers: HandlerRegistry? = nil, on loop: EventLoop,
    now: @escaping @Sendable () -> Timestamp, log: Log
  ) {
    let policy = RoutingPolicy(configuration)
    self.policy = policy
    let directories = DataDirectories()
    self.handlers =
      handlers
      ?? HandlerRegistry(
        directories: directories, schemes: policy.schemes, defaultApplication: DefaultApplications.gio(directories),
        defaultForType: DefaultApplications.gioByType(directories), shownName: { TapOffer.name(of: $0).string },
        on: loop)
    rules = RuleStore(on: loop)
    choices = ChoiceStore(on: loop)
    associations = AssociationStore(environment: ProcessEnvironment.current)
    languages = UserLanguages.codes(in: ProcessEnvironment.current)
    self.loop = loop
    self.now = now
    self.log = log
  }

  // MARK: Decisions

  func offer(_ read: TagRead) async -> TapOffer {
    let policy = await currentPolicy()
    let offer = TapOffer(
      read, registry: await handlers.registry(for: read.message), policy: policy, languages: languages,
      rules: await rules(for: read))
    // Nobody is asked about other tags.
    guard let network = offer.network, network.obstacle == nil else { return offer }
    return offer.connecting(await networkManager?.availability() ?? .noNetworkManager)
  }

  /// A failed tap is offered in the same app again.
  func offer(_ tap: Tap) async -> TapOffer {
    let offer = await offer(tap.read)
    // The user may have chosen that app.
    guard tap.state == .failed, let handler = tap.receiver.handler else { return offer }
    return offer.again(in: handler) ?? offer
  }

  func route(_ uri: String) async -> Route {
    let policy = await currentPolicy()
    return await handlers.registry.route(for: uri, rules: await rules.rules, policy: policy)
  }

  func route(_ read: TagRead, digest: String) async -> Route {
    let policy = await currentPolicy()
    let registry = await handlers.registry(for: read.message)
    return registry.route(for: read, digest: digest, rules: await rules(for: read), policy: policy)
  }

  /// The rules, and the names of the reader if a rule has one. The daemon answers at once, and waits for no tap.
  private func rules(for read: TagRead) async -> RuleSet {
    var rules = await rules.rules
    guard rules.needsReaderNames else { return rules }
    let names = await daemon?.names(ofReader: read.reader) ?? []
    if !names.isEmpty { readerNames[read.reader] = names }
    rules.readerNames = readerNames[read.reader] ?? []
    return rules
  }

  /// Whether decisions need the daemon.
  var needsReaderNames: Bool { get async { await rules.rules.needsReaderNames } }

  /// With the user's choices and the handlers' problems.
  func listHandlers() async -> [[String: Value]] {
    let choices = await currentPolicy().choices
    return AgentAnswers.handlers(await handlers.registry, choices: choices, problems: await handlers.problems)
  }

  /// With the user's current choices.
  private func currentPolicy() async -> RoutingPolicy {
    let (choices, problems) = await choices.current()
    for problem in problems { log(.warning, "\(problem)") }
    var policy = policy
    policy.choices = choices
    return policy
  }

  // MARK: Changes

  func apply(_ change: HandlerChoices.Change) async throws(KeyFileError) { try await choices.apply(change) }

  func use(_ daemon: DaemonLink, _ networkManager: NetworkManager) {
    (self.daemon, self.networkManager) = (daemon, networkManager)
  }

  /// Returns whether the new settings may change decisions.
  func adopt(_ configuration: AgentConfiguration) async -> Bool {
    let new = RoutingPolicy(configuration)
    let mayChangeDecisions =
      new.schemes != policy.schemes || new.smartPosters != policy.smartPosters
      || new.showsBareTags != policy.showsBareTags
    (policy.schemes, policy.smartPosters, policy.showsBareTags) = (new.schemes, new.smartPosters, new.showsBareTags)
    await handlers.setSchemes(new.schemes)
    return mayChangeDecisions
  }

  func start() async {
    await rules.start()
    await handlers.start()
    await readAssociations()
  }

  func reload() async {
    await handlers.reload()
    await rules.reload()
    await readAssociations()
  }

  /// Reads the domains' association records from the disk. A tap never waits for a domain: the domain's last answer is
  /// valid until it expires.
  ///
  /// Readings are serial, so that an older one never replaces a newer one.
  func readAssociations() async {
    guard let associations else { return }
    let previous = readingAssociations
    let task = Task {
      await previous?.value
      let claims = await handlers.registry.claimsOfStores
      policy.associations = await associations.associations(of: claims, at: now().microseconds / 1_000_000)
    }
    readingAssociations = task
    await task.value
  }

  /// Logs new problems of the desktop entries, too.
  func followHandlers() async {
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

  /// Logs new mistakes, too. `changed` is called after each change.
  func followRules(changed: () async -> Void) async {
    var known: [KeyFileError] = []
    for await _ in await rules.changes() {
      let problems = await rules.problems
      logNew(problems, since: known, all: "tagroute rules --check")
      known = problems
      let count = await rules.rules.rules.count
      log(.info, "rules for taps in force: \(count)")
      await changed()
    }
  }

  /// At most 20 at a time. `command` shows all of them.
  private func logNew<Problem: Hashable>(_ problems: [Problem], since known: [Problem], all command: String) {
    let (most, known) = (20, Set(known))
    let new = problems.filter { !known.contains($0) }
    for problem in new.prefix(most) { log(.warning, "\(problem)") }
    if new.count > most { log(.warning, "\(new.count - most) more; \(command) has them all") }
  }
}

extension RoutingPolicy {
  init(_ configuration: AgentConfiguration) {
    self.init(
      schemes: Set(configuration.schemes), smartPosters: configuration.smartPosters,
      showsBareTags: configuration.bareTags == .show)
  }
}
