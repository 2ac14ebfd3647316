import Associations
import Bus
import Handlers
import Inbox
import KeyFile
import Names
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

  func listInbox(_ options: [String: Value]) async throws(BusError) -> [[String: Value]] {
    if let option = options["id"] {
      guard let id = option.asString else { throw AgentAnswers.invalid("id is no string") }
      return try await listTap(id)
    }
    let query = try AgentAnswers.query(options)
    do throws(InboxError) {
      return try await inbox.list(query).map { AgentAnswers.tap($0) }
    } catch {
      throw AgentAnswers.error(error)
    }
  }

  private func listTap(_ id: String) async throws(BusError) -> [[String: Value]] {
    do throws(InboxError) {
      return [AgentAnswers.tap(try await inbox.tap(id), reason: policy.offer(id)?.reason)]
    } catch {
      guard error.code == .unknownTap else { throw AgentAnswers.error(error) }
      return []
    }
  }

  func open(_ id: String, _ options: [String: Value]) async throws(BusError) {
    var offer: TapOffer
    do { offer = try await self.offer(id) } catch { throw AgentAnswers.error(error) }
    if let option = options["handler"] {
      guard let other = offer.handed(to: option.asString ?? "") else {
        throw BusError(name: Names.Errors.notPossible, message: "the handler is none of the tap's candidates")
      }
      offer = other
    }
    guard offer.question == .nothing else {
      throw BusError(
        name: Names.Errors.notPossible, message: "the user has to choose first: name one of the candidates as handler")
    }
    guard offer.isOpenable else { throw BusError(name: Names.Errors.notPossible, message: offer.reason) }
    let refused = await perform(policy.handle(.open(offer, token: options["activation-token"]?.asString)))
    if let error = refused[id] { throw AgentAnswers.error(error) }
    switch await handOvers[id]?.value {
    case .failed(let reason, _)?: throw BusError(name: Names.Errors.failed, message: Messages.failure(reason))
    case .unknown(let reason)?: throw BusError(name: Names.Errors.failed, message: Messages.unknown(reason))
    case .delivered?, nil: break
    }
  }

  func dismiss(_ id: String) async throws(BusError) {
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

  func reload() async {
    await handlers.reload()
    await readAssociations()
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
