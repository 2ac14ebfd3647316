import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import NDEF
import Names
import Routing
import Settings

/// Answers the calls of `org.tagroute.Agent1`. Config/dbus/interfaces documents each member.
actor AgentInterface {
  private let desk: TapDesk
  private let router: TapRouter
  private let screen: Screen
  private let inbox: Inbox
  private let outbox: Outbox
  private nonisolated let signals: AgentSignals
  private let log: Log
  /// The error is nil if the daemon has accepted this agent, or has not answered yet.
  private(set) var registration: (isAccepted: Bool, error: BusError?) = (false, nil)
  /// When the reading of the active settings began, and why those that were read last are not active.
  private(set) var configuration: (time: Timestamp, mistake: KeyFileError?)
  /// Nil in a test. They have the interface.
  private weak let settings: ActiveSettings?
  /// Returns when the daemon knows the state.
  let declareLocked: @Sendable (isolated any Actor, Bool) async throws -> Void

  nonisolated var unownedExecutor: UnownedSerialExecutor { signals.session.loop.asUnownedSerialExecutor() }

  init(
    _ desk: TapDesk, _ router: TapRouter, _ screen: Screen, _ inbox: Inbox, _ outbox: Outbox, _ signals: AgentSignals,
    _ settings: ActiveSettings?, readAt time: Timestamp, log: Log,
    declareLocked: @escaping @Sendable (isolated any Actor, Bool) async throws -> Void
  ) {
    self.desk = desk
    self.router = router
    self.screen = screen
    self.inbox = inbox
    self.outbox = outbox
    self.signals = signals
    configuration = (time, nil)
    self.log = log
    self.settings = settings
    self.declareLocked = declareLocked
  }

  /// Call this before requesting the bus name.
  func export() async throws(BusError) {
    try await signals.session.export([exported], at: try ObjectPath(Names.Agent.path))
  }

  nonisolated var isHeadless: Bool { screen.isHeadless }

  // MARK: Properties

  /// The error is nil if the daemon has accepted this agent, or there is no daemon. Both properties change at once, so
  /// that no client sees one without the other.
  func setRegistration(_ isAccepted: Bool, _ error: BusError?) async {
    var changed: [String] = []
    if isAccepted != registration.isAccepted { changed.append("Registered") }
    if error != registration.error { changed.append("RegistrationError") }
    registration = (isAccepted, error)
    await signals.propertiesChanged(changed)
  }

  /// Emits the change. The mistake is why the settings that were read last are not active.
  func setConfiguration(readAt time: Timestamp, mistake: KeyFileError?) async {
    configuration = (time, mistake)
    await signals.propertiesChanged(["ConfigurationError", "ConfigurationTime"])
  }

  func outgoing() async -> [String: Value] {
    AgentAnswers.outgoing(await inbox.outgoingCounts(), isOn: await outbox.isOn)
  }

  // MARK: Decisions

  func resolve(_ uri: String) async throws(BusError) -> [String: Value] {
    guard uri.utf8.count <= 8192 else { throw BusError.invalidArgument("the URI is longer than 8 KiB") }
    return AgentAnswers.route(await router.route(uri), of: uri)
  }

  func resolveTag(_ values: [String: Value]) async throws(BusError) -> [String: Value] {
    let question = try TagQuestion(values)
    return AgentAnswers.route(await router.route(question.read, digest: question.digest), of: "")
  }

  func listHandlers() async -> [[String: Value]] { await router.listHandlers() }

  func prefer(_ handler: String, _ claim: String) async throws(BusError) {
    let id = try AgentAnswers.desktopID(handler)
    guard let claim = HandlerChoices.claim(claim) else { throw AgentAnswers.noClaim(claim) }
    guard let declaration = await router.handlers.registry.declarations.first(where: { $0.application.desktopID == id })
    else {
      throw BusError(name: Names.Errors.failed, message: "\(AppID.text(id)): there is no such handler")
    }
    guard declaration.covers(claim) else {
      throw BusError(name: Names.Errors.failed, message: "\(AppID.text(id)) does not claim \(claim)")
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
      try await router.apply(change)
    } catch {
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
  }

  /// Throws if the settings have an error. The desktop entries are read anyway.
  func reload() async throws(BusError) {
    let mistake = await settings?.read() ?? nil
    await reloadHandlers()
    if let mistake { throw BusError(name: Names.Errors.invalidConfiguration, message: "\(mistake)") }
  }

  /// Reads the desktop entries and the domains' records again, and looks for `mqtt.conf`, but does not read the
  /// settings.
  func reloadHandlers() async {
    await outbox.look()
    await router.reload()
  }

  // MARK: Settings

  func getSettings() async -> [String: Value] {
    guard let settings else { return [:] }
    let (configuration, names) = (await settings.configuration, await settings.namesInFile())
    return AgentAnswers.settings(configuration.texts, inFile: names)
  }

  /// `defaults` are the settings that get their default.
  func changeSettings(_ values: [String: String], _ defaults: [String]) async throws(BusError) {
    guard let settings else { throw BusError(name: Names.Errors.notPossible, message: "there are no settings") }
    var changes = values.mapValues(Optional.some)
    for name in defaults {
      guard !changes.keys.contains(name) else { throw .invalidArgument("\(name.prefix(100)) is named twice") }
      changes.updateValue(nil, forKey: name)
    }
    do throws(SettingChangeError) {
      try await settings.change(changes)
    } catch {
      switch error {
      case .invalid(let text): throw .invalidArgument(text)
      case .file(let mistake):
        throw BusError(
          name: mistake.line == nil ? Names.Errors.failed : Names.Errors.invalidConfiguration, message: "\(mistake)")
      }
    }
  }

  // MARK: Taps

  func open(_ id: String, _ options: [String: Value]) async throws(BusError) {
    await desk.resumption.opened()
    try await checkOpenable(id)
    let handler = options["handler"].map { (try? AgentAnswers.desktopID($0.asString ?? "")) ?? "" }
    let found: TapOffer?
    do throws(InboxError) { found = try await desk.called(id, in: handler) } catch { throw AgentAnswers.error(error) }
    guard let offer = found else {
      guard handler == nil else {
        throw BusError(name: Names.Errors.notPossible, message: "the handler is not one of the tap's candidates")
      }
      // As after a click, show which app gets the link now.
      do throws(InboxError) { try await desk.showAgain(id) } catch { throw AgentAnswers.error(error) }
      throw BusError(
        name: Names.Errors.notPossible,
        message: "the app that was shown does not get the link any more; the notification shows the app that does now")
    }
    guard offer.question == .nothing else {
      throw BusError(
        name: Names.Errors.notPossible, message: "the user has to choose first: name one of the candidates as handler")
    }
    guard offer.isOpenable else { throw BusError(name: Names.Errors.notPossible, message: offer.reason) }
    if let error = await desk.open(offer, token: options["activation-token"]?.asString) { throw error }
    if let reason = await desk.outcome(id)?.failure {
      let name = reason.mayHaveOpened ? Names.Errors.outcomeUnknown : Names.Errors.failed
      throw BusError(name: name, message: reason.words)
    }
  }

  /// Refuses a tap if its state does not allow opening, before its handlers are looked up.
  private func checkOpenable(_ id: String) async throws(BusError) {
    let tap: Tap
    do throws(InboxError) { tap = try await inbox.tap(id) } catch { throw AgentAnswers.error(error) }
    switch tap.state {
    case .delivered: throw AgentAnswers.alreadyDelivered(to: tap.receiver)
    case .opening: throw BusError.beingOpened
    case .received, .shown, .failed, .failedOffScreen, .dismissed, .expired: return
    }
  }

  func dismiss(_ id: String) async throws(BusError) {
    await desk.resumption.opened()
    if let error = await desk.dismiss(id) { throw AgentAnswers.error(error) }
  }

  func listInbox(_ options: [String: Value]) async throws(BusError) -> [[String: Value]] {
    await desk.resumption.opened()
    if let option = options["id"] {
      guard let id = option.asString else { throw BusError.invalidArgument("id must be a string") }
      return try await listTap(id)
    }
    let request = try InboxOptions(options)
    do throws(InboxError) {
      if request.wantsMessages { return await describe(try await inbox.list(request.query, bytes: Self.pageBytes)) }
      if let prefix = request.idPrefix {
        return await inbox.list(idPrefix: prefix, limit: request.query.limit).map { AgentAnswers.tap($0) }
      }
      return try await inbox.list(request.query).map { AgentAnswers.tap($0) }
    } catch {
      throw AgentAnswers.error(error)
    }
  }

  /// The length of the list without a limit.
  func countInbox(_ options: [String: Value]) async throws(BusError) -> UInt64 {
    let request = try InboxOptions(options)
    if let option = ["id", "id-prefix"].first(where: { options[$0] != nil }) {
      throw .invalidArgument("CountInbox has no option \(option)")
    }
    await desk.resumption.opened()
    do throws(InboxError) {
      return UInt64(clamping: try await inbox.count(request.query))
    } catch {
      throw AgentAnswers.error(error)
    }
  }

  /// Of the messages in one reply: far below the limits of the bus and of a client.
  static let pageBytes = 4 << 20

  private func listTap(_ id: String) async throws(BusError) -> [[String: Value]] {
    do throws(InboxError) {
      return [AgentAnswers.tap(try await inbox.tap(id), reason: await desk.policy.offer(id)?.reason)]
    } catch {
      guard error.code == .unknownTap else { throw AgentAnswers.error(error) }
      return []
    }
  }

  private func describe(_ taps: [ListedTap]) async -> [[String: Value]] {
    let policy = await desk.policy
    return taps.map { AgentAnswers.tap($0, reason: policy.offer($0.stored.id)?.reason) }
  }

  /// A portion at a time, so that a new tap does not have to wait. Returns how many taps were removed.
  func clear(_ options: [String: Value]) async throws(BusError) -> UInt32 {
    let request = try ClearRequest(options)
    await desk.resumption.opened()
    let (count, refusal) = await desk.clear(request)
    if count > 0 {
      log(.notice, "\(count) taps were removed from the inbox by a call")
      await signals.emit("TapsCleared", [.uint32(UInt32(clamping: count))])
    }
    if let refusal { throw AgentAnswers.error(refusal) }
    return UInt32(clamping: count)
  }

  func takeOutgoing(_ options: [String: Value]) async throws(BusError) -> [[String: Value]] {
    let limit = try AgentAnswers.limit(options, default: 20)
    let sequence = try AgentAnswers.sequence(options, "after-sequence")
    // The user may have written the file just now. A file that was removed has an effect at the next reload.
    if await !outbox.isOn { await outbox.look() }
    await desk.resumption.opened()
    return await describe(await inbox.outgoing(limit: limit, after: sequence, bytes: Self.pageBytes))
  }

  func acknowledgeOutgoing(_ ids: [String]) async throws(BusError) {
    guard ids.count <= ClearRequest.maximumIDs else {
      throw .invalidArgument("ids must be a list of at most \(ClearRequest.maximumIDs) ids")
    }
    await desk.resumption.opened()
    await inbox.acknowledge(ids)
    log(.debug, "\(ids.count) of the taps that waited to be sent are confirmed")
  }

  // MARK: Other members

  func identify() async {
    log(.notice, "a program asked this computer to identify itself")
    await screen.identify()
  }
}
