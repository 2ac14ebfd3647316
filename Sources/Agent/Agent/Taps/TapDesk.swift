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

/// Where taps arrive, wait for the user, and leave: carries out the actions of ``TapPolicy``.
actor TapDesk {
  let inbox: Inbox
  let router: TapRouter
  let screen: Screen
  let launcher: Launcher
  private let outbox: Outbox
  nonisolated let signals: AgentSignals
  var policy = TapPolicy()
  /// The openings in progress, by tap id. A tap has at most one at a time.
  var openings: [String: Opening] = [:]
  /// What happens when the tags of opened taps are removed.
  var removals = TagRemovals()
  /// Whether the desktop entries and the domains' records have been read. A decision made before that may be wrong.
  private var isReady = false
  /// Opens when the taps of the earlier run have been taken over. Calls about taps wait for it: before that, a tap that
  /// the earlier run was opening has no final state.
  nonisolated let resumption = Latch()
  let isLocked: @Sendable () async -> Bool
  private let now: @Sendable () -> Timestamp
  let log: Log

  nonisolated var unownedExecutor: UnownedSerialExecutor { signals.session.loop.asUnownedSerialExecutor() }

  /// The log never receives a tag's contents.
  init(
    inbox: Inbox, router: TapRouter, screen: Screen, launcher: Launcher, outbox: Outbox, signals: AgentSignals,
    isLocked: @escaping @Sendable () async -> Bool, now: @escaping @Sendable () -> Timestamp, log: Log
  ) {
    self.inbox = inbox
    self.router = router
    self.screen = screen
    self.launcher = launcher
    self.outbox = outbox
    self.signals = signals
    self.isLocked = isLocked
    self.now = now
    self.log = log
  }

  /// Everything that decisions depend on has been read.
  func setReady() { isReady = true }

  // MARK: A new tap

  /// Stores a tap that the daemon has read, and offers it. The error has one of the names in the interface's
  /// documentation.
  func tagRead(_ values: [String: Value]) async throws(BusError) {
    let read = try TagRead(values, now: UInt64(clamping: now().microseconds))
    let wasReady = isReady
    let offer = await router.offer(read)
    let isOutgoing = await outbox.isOn
    guard offer.isShown, !screen.isHeadless || offer.mayOpenAtOnce else {
      return await keep(offer, outgoing: isOutgoing)
    }
    let receipt = await inbox.receive(offer.tap, outgoing: isOutgoing)
    guard receipt.isNew else {
      log(.debug, "tap \(offer.id) was received before")
      return
    }
    if isOutgoing { await signals.emit("OutgoingAvailable", []) }
    // The reason is for debugging only: it names the domain that the handler claims, which is the link's host.
    log.debug("decision for tap \(offer.id):", Redacted(offer.reason, as: "reason"))
    for id in receipt.expired { await perform(policy.handle(.expired(id))) }
    if await openAtOnce(offer) { return }
    if screen.isHeadless { return await endHeadless(offer) }
    if let receiver = offer.receiverName {
      log(.info, "tap \(offer.id) is offered, to be opened in \(receiver)")
    } else {
      log(.info, "tap \(offer.id) is not offered to any app; it can be read and copied")
    }
    await perform(policy.handle(.stored(offer)))
    await screen.notifications.settled()
    if isReady && !wasReady { await decideAgain(offer.id) }
  }

  private func keep(_ offer: TapOffer, outgoing isOutgoing: Bool) async {
    let (state, reason) = offer.isShown ? offer.headlessEnding : offer.ending
    guard await inbox.keep(offer.tap, as: state, because: reason, outgoing: isOutgoing).isNew else { return }
    if isOutgoing { await signals.emit("OutgoingAvailable", []) }
    // The reason of a tap that would be shown may name a domain. The detail names no more than a rule.
    log(.notice, "tap \(offer.id) is not offered: \(offer.isShown ? reason.detail : offer.reason)")
    await perform([.announceClosed(offer.id, state)])
    if let obstacle = offer.obstacle { await screen.show(obstacle) }
  }

  /// How old a tap may be that is opened without a click, in microseconds. The daemon and the agent take milliseconds.
  private static let freshness: Int64 = 3_000_000

  /// Opens a new tap without a click, if a rule says so and the session is not locked. Returns false if the tap has to be
  /// shown.
  ///
  /// With `WhenLocked=hold`, the daemon sends a tap that was read behind a lock after the session is unlocked. A tap that
  /// has waited, for this or any other reason, is therefore shown.
  private func openAtOnce(_ offer: TapOffer) async -> Bool {
    guard offer.mayOpenAtOnce else { return false }
    guard (0...Self.freshness).contains(now().microseconds - Int64(clamping: offer.read.time)) else {
      log(.info, "tap \(offer.id) is not opened without a click: it was not read just now")
      return false
    }
    guard await !isLocked() else {
      log(.info, "tap \(offer.id) is not opened without a click: the session is locked")
      return false
    }
    log(.info, "tap \(offer.id) is opened without a click\(offer.receiverName.map { " in \($0)" } ?? "")")
    await perform([.announceReceived(offer.id)])
    return await open(offer.opening(.withoutClick), token: nil) == nil
  }

  // MARK: Actions

  /// In order.
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
        await screen.show(offer, replacing: previous, isNews: isNews)
      case .showFailure(let offer, let reason, let isNews): await screen.show(offer, failed: reason, isNews: isNews)
      case .showOpened(let offer, let previous): await screen.showOpened(offer, replacing: previous)
      case .closeNotification(let id): await screen.close(id)
      case .remember(let id, let change): await remember(change, from: id)
      case .openAlways(let offer): await openAlways(offer)
      case .handOver(let offer, let token): start(offer) { await $0.deliver(offer, token: token) }
      case .awaitAnswer(let offer, let answer): start(offer) { await $0.launcher.wait(for: answer) }
      case .announceReceived(let id): await signals.emit("TapReceived", [.string(id)])
      case .announceClosed(let id, let state):
        await signals.emit("TapClosed", [.string(id), .string(state.name)])
      }
    }
    return refused
  }

  /// If the choice cannot be saved, the click still opens the tap.
  private func remember(_ change: HandlerChoices.Change, from id: String) async {
    do throws(KeyFileError) {
      try await router.apply(change)
    } catch {
      // The full error names the domain.
      log(.warning, "the choice for tap \(id) is not saved: \(error.file) cannot be changed")
      log.debug("the choice for tap \(id) is not saved because", Redacted("\(error)", as: "reason"))
    }
  }

  /// The inbox's refusal; nil if the state is committed.
  func move(
    _ id: String, to state: TapState, reason: TapReason = .none, receiver: TapReceiver? = nil
  ) async -> InboxError? {
    do throws(InboxError) {
      try await inbox.move(id, to: state, reason: reason, receiver: receiver)
      log(.debug, "tap \(id) is \(state.rawValue)")
      return nil
    } catch {
      log(.debug, "\(error)")
      return error
    }
  }

  private func putOnScreen(_ id: String, at place: NotificationPlace) async {
    do throws(InboxError) {
      try await inbox.show(id, at: place)
      log(.debug, "tap \(id) is shown")
    } catch { log(.debug, "\(error)") }
  }

  // MARK: Changed decisions

  /// The taps on the screen. With `networks`, only those that show a Wi-Fi network.
  func decideAgain(networks: Bool = false) async {
    for id in policy.onScreenInOrder where !networks || policy.offer(id)?.network != nil { await decideAgain(id) }
  }

  /// Shows the tap again if the decision about it has changed.
  private func decideAgain(_ id: String) async {
    guard let shown = policy.offer(id) else { return }
    do throws(InboxError) {
      let tap = try await inbox.tap(id)
      let offer = await router.offer(tap).opening(shown.manner)
      // The tap may have been clicked meanwhile.
      guard policy.offer(id) == shown, offer != shown, offer.isShown else { return }
      let failure = tap.state == .failed ? tap.reason : nil
      await perform(policy.handle(.again(offer, failure: failure, showsFailure: offer.receiver == tap.receiver)))
    } catch { log(.warning, "cannot decide tap \(id) again: \(error)") }
  }

  /// Checks that an offer still holds after a click or a call, with the current choices, handlers and records. Returns
  /// what to open; nil if the user has to see the current offer first. `isAnswer` means that the user has answered a
  /// question. Throws if the tap is gone.
  func confirmed(_ offer: TapOffer, isAnswer: Bool) async throws(InboxError) -> TapOffer? {
    let now = await router.offer(try await inbox.tap(offer.id).read)
    return offer.confirmed(by: now, isAnswer: isAnswer, hasFailed: policy.hasFailed(offer.id))
  }

  // MARK: Earlier runs

  /// Shows the taps that an earlier run left open, in the notifications that it left. Closes its other notifications.
  func resume() async {
    await show(await inbox.resume(maximum: TapPolicy.maximumOnScreen))
    resumption.open()
  }

  /// If another agent of this user is using the inbox's file, waits until that agent releases it, and shows the taps
  /// that it left open.
  func waitForFile() async {
    if let left = await inbox.waitForFile(maximum: TapPolicy.maximumOnScreen) { await show(left) }
  }

  /// Opens or writes the inbox's file if an earlier attempt failed, for example because the disk was full.
  func retryFile() async {
    if let left = await inbox.retryFile(maximum: TapPolicy.maximumOnScreen) { await show(left) }
  }

  func prune() async {
    await retryFile()
    // Another agent may have taken the file meanwhile.
    Task { await waitForFile() }
    for id in await inbox.prune() {
      let hasFailed = (try? await inbox.tap(id))?.state == .failedOffScreen
      await perform(policy.handle(.expired(id, hasFailed: hasFailed)))
    }
  }

  func show(_ left: Leftovers) async {
    let notifications = screen.notifications
    // These notifications show no tap, so each gets a made-up key.
    let others = left.otherPlaces.map { (NotificationKey("left \($0.bus) \($0.owner) \($0.id)"), $0) }
    let taps = left.places.map { (NotificationKey($0), $1) }
    await notifications.takeOver(Dictionary(taps + others) { first, _ in first })
    for (key, _) in others { await notifications.close(key) }
    let waiting = Set(left.waiting.map(\.id))
    for id in left.places.keys where !waiting.contains(id) { await screen.close(id) }
    if !left.waiting.isEmpty { log(.notice, "showing \(left.waiting.count) taps of an earlier run again") }
    for id in left.expired { await perform(policy.handle(.expired(id))) }
    for summary in left.waiting { await showLeft(summary.id) }
  }

  /// If that fails, closes the notification. The other taps are shown anyway.
  private func showLeft(_ id: String) async {
    do throws(InboxError) {
      let tap = try await inbox.tap(id)
      guard !screen.isHeadless else { return await endLeft(tap) }
      let offer = await router.offer(tap)
      if [.received, .shown, .failed].contains(tap.state) {
        // What failed may have been the program of a rule that has changed since.
        let isSame = offer.receiver == tap.receiver
        await perform(policy.handle(.resumed(offer, tap.state, reason: tap.reason, showsFailure: isSame)))
      } else {
        await screen.close(id)
      }
    } catch {
      log(.warning, "tap \(id) of an earlier run cannot be shown: \(error)")
      await screen.close(id)
    }
  }

  /// Ends a tap of an earlier run on a station without a desktop. Its rule may have begun then, and must not run twice.
  private func endLeft(_ tap: Tap) async {
    switch tap.state {
    case .failed: await perform([.move(tap.id, to: .failedOffScreen, reason: tap.reason)])
    case .received, .shown: await endHeadless(await router.offer(tap))
    case .opening, .delivered, .dismissed, .failedOffScreen, .expired: break
    }
  }

  /// Ends a tap that was stored, and that no rule opens after all, for example because it was not read just now. Its
  /// state stays if the inbox refuses the change: the opening has begun meanwhile.
  private func endHeadless(_ offer: TapOffer) async {
    let (state, reason) = offer.headlessEnding
    await perform([.move(offer.id, to: state, reason: reason), .announceClosed(offer.id, state)])
  }
}
