import Associations
import Bus
import Handlers
import Inbox
import Journal
import NDEF
import Names
import Notifications
import Routing
import Settings

/// The members of `org.tagroute.Agent1` that do not list or clear the inbox.
extension AgentService {
  func resolve(_ uri: String) async throws(BusError) -> [String: Value] {
    guard uri.utf8.count <= 8192 else { throw BusError.invalidArgument("the URI is longer than 8 KiB") }
    let policy = await currentRouting()
    return AgentAnswers.route(
      await handlers.registry.route(for: uri, rules: await rules.rules, policy: policy), of: uri)
  }

  func resolveTag(_ values: [String: Value]) async throws(BusError) -> [String: Value] {
    let question = try TagQuestion(values)
    let policy = await currentRouting()
    let registry = await handlers.registry(for: question.facts.message)
    return AgentAnswers.route(
      registry.route(for: question.facts, rules: await rules.rules, policy: policy), of: "")
  }

  func listHandlers() async -> [[String: Value]] {
    let policy = await currentRouting()
    return AgentAnswers.handlers(
      await handlers.registry, choices: policy.choices, problems: await handlers.problems)
  }

  /// Waits until the taps of the earlier run have been taken over. Before that, a tap that the earlier run was opening
  /// has no final state.
  func resumed() async { await resumption.value }

  func open(_ id: String, _ options: [String: Value]) async throws(BusError) {
    await resumed()
    try await checkOpenable(id)
    let handler = options["handler"].map { (try? AgentAnswers.desktopID($0.asString ?? "")) ?? "" }
    let found: TapOffer?
    do throws(InboxError) { found = try await called(id, in: handler) } catch { throw AgentAnswers.error(error) }
    guard let offer = found else {
      guard handler == nil else {
        throw BusError(name: Names.Errors.notPossible, message: "the handler is not one of the tap's candidates")
      }
      // As after a click, show which app gets the link now.
      do throws(InboxError) { try await showAgain(id) } catch { throw AgentAnswers.error(error) }
      throw BusError(
        name: Names.Errors.notPossible,
        message: "the app that was shown does not get the link any more; the notification shows the app that does now")
    }
    guard offer.question == .nothing else {
      throw BusError(
        name: Names.Errors.notPossible, message: "the user has to choose first: name one of the candidates as handler")
    }
    guard offer.isOpenable else { throw BusError(name: Names.Errors.notPossible, message: offer.reason) }
    if let error = await open(offer, token: options["activation-token"]?.asString) { throw error }
    if let reason = await openings[id]?.handOver?.value.failure {
      let name = reason.mayHaveOpened ? Names.Errors.outcomeUnknown : Names.Errors.failed
      throw BusError(name: name, message: reason.words)
    }
  }

  /// Refuses a tap whose state does not allow opening, before its handlers are looked up.
  private func checkOpenable(_ id: String) async throws(BusError) {
    let stored: StoredTap
    do throws(InboxError) { stored = try await inbox.tap(id) } catch { throw AgentAnswers.error(error) }
    switch stored.state {
    case .delivered: throw AgentAnswers.alreadyDelivered(to: stored.tap.handler)
    case .opening: throw BusError.beingOpened
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

  /// Reads the settings and the desktop entries again. Throws if the settings have an error. The desktop entries are
  /// read anyway.
  func reload() async throws(BusError) {
    let mistake = await readSettings()
    await reloadHandlers()
    if let mistake { throw BusError(name: Names.Errors.invalidConfiguration, message: "\(mistake)") }
  }

  /// Reads the desktop entries and the domains' records again, and looks for `mqtt.conf`, but does not read the
  /// settings.
  func reloadHandlers() async {
    await lookForMqtt()
    await handlers.reload()
    await rules.reload()
    await readAssociations()
  }

  /// Makes new settings active. Taps on the screen are decided again if the settings may change that decision.
  func adopt(_ configuration: AgentConfiguration, inboxAt location: Inbox.Location) async {
    await inbox.configure(location, Retention(configuration))
    let schemes = Set(configuration.schemes)
    let showsBareTags = configuration.bareTags == .show
    let mayChangeDecisions =
      schemes != routing.schemes || configuration.smartPosters != routing.smartPosters
      || showsBareTags != routing.showsBareTags
    (routing.schemes, routing.smartPosters) = (schemes, configuration.smartPosters)
    routing.showsBareTags = showsBareTags
    (timeout, sound) = (configuration.notificationTimeout, configuration.sound)
    await prune()
    await handlers.setSchemes(schemes)
    guard mayChangeDecisions else { return }
    for id in policy.onScreenInOrder { await decideAgain(id) }
  }

  /// Records whether the daemon has accepted this agent, and why not. The error is nil if it has, or there is no daemon.
  /// Both properties change at once, so that no client sees one without the other.
  func setRegistration(_ isAccepted: Bool, _ error: BusError?) async {
    var changed: [String] = []
    if isAccepted != isRegistered { changed.append("Registered") }
    if error != registrationError { changed.append("RegistrationError") }
    (isRegistered, registrationError) = (isAccepted, error)
    let notice = registrationNotice.handle(error)
    await propertiesChanged(changed)
    if !isAccepted { await handle(ReaderSheets.Event.daemonGone) }
    switch notice {
    case .show(let notification): await notifications.show(notification, as: RegistrationNotice.key)
    case .remove: await notifications.close(RegistrationNotice.key)
    case nil: break
    }
  }

  /// Records which settings are active, and emits the change. The mistake is why the settings that were read last are
  /// not active.
  func setConfiguration(readAt time: Timestamp, mistake: KeyFileError?) async {
    (configurationTime, configurationError) = (time, mistake?.description ?? "")
    await propertiesChanged(["ConfigurationError", "ConfigurationTime"])
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
      routing.associations = await associations.associations(of: claims, at: now().microseconds / 1_000_000)
    }
    readingAssociations = task
    await task.value
  }
}

/// The checked argument of `ResolveTag`: a tag that need not exist.
struct TagQuestion {
  let facts: TapFacts

  /// Reads the keys that the interface documents, and ignores others. The error names the key.
  init(_ values: [String: Value]) throws(BusError) {
    func value<Result>(_ key: String, _ read: (Value) -> Result?) throws(BusError) -> Result? {
      guard let value = values[key] else { return nil }
      guard let result = read(value) else { throw .invalidArgument("\(key) has another type") }
      return result
    }
    let uid = try value("uid", \.asBytes) ?? []
    guard uid.count <= 10 else { throw .invalidArgument("uid is longer than 10 bytes") }
    let technology = try value("technology", \.asString) ?? ""
    let reader = try value("reader", \.asString) ?? ""
    guard technology.utf8.count <= 32, reader.utf8.count <= 255 else {
      throw .invalidArgument("technology is longer than 32 bytes, or reader is longer than 255")
    }
    let bytes = try value("message", \.asBytes)
    guard (bytes ?? []).count <= TagReading.maximumMessage else {
      throw .invalidArgument("message must be at most 1 MiB of bytes")
    }
    var message: NDEFMessage?
    if let bytes {
      do throws(NDEFError) { message = try NDEFMessage(decoding: bytes) } catch {
        throw .invalidArgument("message is not NDEF: \(error.description)")
      }
    }
    facts = TapFacts(
      uid: uid, technology: technology, reader: reader, message: message,
      digest: bytes.map(MessageDigest.sha256) ?? "")
  }
}
