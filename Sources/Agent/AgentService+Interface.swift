import Associations
import Bus
import Configuration
import Handlers
import Inbox
import Journal
import KeyFile
import Names
import Notifications
import Routing

/// What `org.tagroute.Agent1` asks for.
extension AgentService {
  func resolve(_ uri: String) async throws(BusError) -> [String: Value] {
    guard uri.utf8.count <= 8192 else { throw AgentAnswers.invalid("the URI is longer than 8 KiB") }
    return AgentAnswers.route(await handlers.registry.route(for: uri, policy: await currentRouting()), of: uri)
  }

  func listHandlers() async -> [[String: Value]] {
    let policy = await currentRouting()
    return AgentAnswers.handlers(
      await handlers.registry, choices: policy.choices, problems: await handlers.problems)
  }

  /// What concerns taps waits for those of an earlier run: one that was being opened then would be said to be so now.
  func resumed() async { await withCheckedContinuation { resumption.wait($0) } }

  func open(_ id: String, _ options: [String: Value]) async throws(BusError) {
    await resumed()
    try await checkOpenable(id)
    let handler = options["handler"].map { (try? AgentAnswers.desktopID($0.asString ?? "")) ?? "" }
    let found: TapOffer?
    do throws(InboxError) { found = try await called(id, in: handler) } catch { throw AgentAnswers.error(error) }
    guard let offer = found else {
      guard handler == nil else {
        throw BusError(name: Names.Errors.notPossible, message: "the handler is none of the tap's candidates")
      }
      // As after a click: it says now who gets it.
      do throws(InboxError) { try await showAgain(id) } catch { throw AgentAnswers.error(error) }
      throw BusError(
        name: Names.Errors.notPossible,
        message: "the handler that was shown does not get the link any longer; the notification shows who does")
    }
    guard offer.question == .nothing else {
      throw BusError(
        name: Names.Errors.notPossible, message: "the user has to choose first: name one of the candidates as handler")
    }
    guard offer.isOpenable else { throw BusError(name: Names.Errors.notPossible, message: offer.reason) }
    let refused = await perform(policy.handle(.open(offer, token: options["activation-token"]?.asString)))
    if let error = refused[id] { throw AgentAnswers.error(error) }
    if let reason = await handOvers[id]?.value.failure {
      let name = reason.leavesOpen ? Names.Errors.outcomeUnknown : Names.Errors.failed
      throw BusError(name: name, message: reason.words)
    }
  }

  /// What a tap's state alone forbids, before anything is said of its handlers.
  private func checkOpenable(_ id: String) async throws(BusError) {
    let stored: StoredTap
    do throws(InboxError) { stored = try await inbox.tap(id) } catch { throw AgentAnswers.error(error) }
    switch stored.state {
    case .delivered: throw AgentAnswers.alreadyDelivered(to: stored.tap.handler)
    case .opening: throw BusError(name: Names.Errors.notPossible, message: "it is being opened already")
    case .received, .shown, .failed, .dismissed, .expired: return
    }
  }

  func dismiss(_ id: String) async throws(BusError) {
    await resumed()
    if let error = await perform(policy.handle(.dismiss(id)))[id] { throw AgentAnswers.error(error) }
  }

  func prefer(_ handler: String, _ claim: String) async throws(BusError) {
    let id = try AgentAnswers.desktopID(handler)
    guard let claim = HandlerChoices.claim(claim) else { throw AgentAnswers.noClaim(claim) }
    guard let declaration = await handlers.registry.declarations.first(where: { $0.application.desktopID == id }) else {
      throw BusError(name: Names.Errors.failed, message: "\(id): there is no such handler")
    }
    guard declaration.covers(claim) else {
      throw BusError(name: Names.Errors.failed, message: "\(id) does not claim \(claim)")
    }
    try await change(.prefer(declaration.application, claim: claim))
  }

  func block(_ handler: String, _ claim: String) async throws(BusError) {
    try await change(.block(desktopID: try AgentAnswers.desktopID(handler), claim: try AgentAnswers.claim(claim)))
  }

  func forget(_ handler: String, _ claim: String) async throws(BusError) {
    let id = handler.isEmpty ? nil : try AgentAnswers.desktopID(handler)
    try await change(.forget(desktopID: id, claim: try AgentAnswers.claim(claim)))
  }

  private func change(_ change: HandlerChoices.Change) async throws(BusError) {
    do throws(KeyFileError) {
      try await choices.apply(change)
    } catch {
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
  }

  /// Reads the settings and the desktop entries again.
  ///
  /// - Throws: `BusError` where the settings are broken; everything else was read all the same.
  func reload() async throws(BusError) {
    let mistake = await readSettings()
    await reloadHandlers()
    if let mistake { throw BusError(name: Names.Errors.invalidConfiguration, message: "\(mistake)") }
  }

  /// Reads the desktop entries again, and what was kept of domains' words: whoever only looks changes no setting by it.
  func reloadHandlers() async {
    await handlers.reload()
    await readAssociations()
  }

  /// Goes by other settings from here on. What is on the screen is decided again where that may come to something else.
  ///
  /// - Parameters:
  ///   - configuration: what the user has set.
  ///   - location: where the inbox is by that.
  func adopt(_ configuration: AgentConfiguration, inboxAt location: Inbox.Location) async {
    await inbox.configure(location, Retention(configuration))
    let schemes = Set(configuration.schemes)
    let isDecidedAnew = schemes != routing.schemes || configuration.smartPosters != routing.smartPosters
    (routing.schemes, routing.smartPosters) = (schemes, configuration.smartPosters)
    timeout = NotificationTimeout(configuration.notificationTimeout)
    await prune()
    await handlers.setSchemes(schemes)
    guard isDecidedAnew else { return }
    for id in policy.onScreenInOrder { await decideAgain(id) }
  }

  /// Takes in why the daemon has not accepted this agent; nil where it has, or another one is being asked.
  func setRegistration(_ error: BusError?) async {
    registrationError = error
    switch registrationNotice.handle(error) {
    case .show(let notification): await notifications.show(notification, as: RegistrationNotice.key)
    case .remove: await notifications.close(RegistrationNotice.key)
    case nil: break
    }
    await propertiesChanged(["RegistrationError"])
  }

  /// Takes in which settings are in force, and tells who follows that.
  ///
  /// - Parameters:
  ///   - time: when the reading of those in force began.
  ///   - mistake: what keeps those that were read last from being in force.
  func setConfiguration(readAt time: Timestamp, mistake: KeyFileError?) async {
    (configurationTime, configurationError) = (time, mistake?.description ?? "")
    await propertiesChanged(["ConfigurationError", "ConfigurationTime"])
  }

  /// Takes in what domains have said. Taps never wait for a domain: its last answer counts, as long as it does.
  ///
  /// One reading after the other, so that an older one never takes the place of a newer.
  func readAssociations() async {
    guard let associations else { return }
    let previous = readingAssociations
    let task = Task {
      await previous?.value
      let claims = await handlers.registry.claimsOfStores
      routing.associations = await associations.associations(of: claims, at: now().microseconds / 1_000_000)
    }
    readingAssociations = task
    await task.value
  }
}
