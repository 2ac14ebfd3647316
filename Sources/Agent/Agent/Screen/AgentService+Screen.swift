import Bus
import Handlers
import Inbox
import Journal
import Names
import Notifications

/// The notifications across the end of one run and the start of the next.
extension AgentService {
  /// Shows the taps that an earlier run left open, in the notifications that it left. Closes its other notifications.
  func resume() async {
    await show(await inbox.resume(maximum: TapPolicy.maximumOnScreen))
    endResumption.finish()
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
    for id in await inbox.prune() { await perform(policy.handle(.expired(id))) }
  }

  func show(_ left: Leftovers) async {
    // These notifications show no tap, so each gets a made-up key.
    let others = left.otherPlaces.map { (NotificationKey("left \($0.bus) \($0.owner) \($0.id)"), $0) }
    let taps = left.places.map { (NotificationKey($0), $1) }
    await notifications.takeOver(Dictionary(taps + others) { first, _ in first })
    for (key, _) in others { await notifications.close(key) }
    let waiting = Set(left.waiting.map(\.id))
    for id in left.places.keys where !waiting.contains(id) { await notifications.close(NotificationKey(id)) }
    if !left.waiting.isEmpty { log(.notice, "showing \(left.waiting.count) taps of an earlier run again") }
    for id in left.expired { await perform(policy.handle(.expired(id))) }
    for summary in left.waiting { await showLeft(summary.id) }
  }

  /// Shows one tap again. If that fails, closes its notification. The other taps are shown anyway.
  private func showLeft(_ id: String) async {
    do throws(InboxError) {
      let stored = try await inbox.tap(id)
      guard !isHeadless else { return await endLeft(stored) }
      let offer = await offer(stored)
      if [.received, .shown, .failed].contains(stored.state) {
        await perform(policy.handle(.resumed(offer, stored.state, reason: stored.reason)))
      } else {
        await notifications.close(NotificationKey(id))
      }
    } catch {
      log(.warning, "tap \(id) of an earlier run cannot be shown: \(error)")
      await notifications.close(NotificationKey(id))
    }
  }

  func putOnScreen(_ id: String, at place: NotificationPlace) async {
    do throws(InboxError) {
      try await inbox.show(id, at: place)
      log(.debug, "tap \(id) is shown")
    } catch { log(.debug, "\(error)") }
  }

  /// Records a notification that shows no tap, so that the next run can close it.
  func putOtherOnScreen(at place: NotificationPlace) async { await inbox.showOther(at: place) }

  func leave(_ places: [NotificationPlace]) async { await inbox.leave(places) }

  /// Closes the notifications, because their buttons stop working. The next run shows them again.
  ///
  /// Removes the files that were written for apps. Then tries again to write the inbox's file. Otherwise the next run
  /// would also show taps that have ended only in memory.
  func end() async {
    await leave(notifications.closeAll())
    await launcher.removeFiles()
    _ = await inbox.retryFile(maximum: TapPolicy.maximumOnScreen)
  }
}

extension AgentService {
  func serveNotifications() async {
    await Retry(clock: clock).run { [notifications] () async throws(BusError) in
      try await notifications.run()
    } failed: { [log] error in
      log(.warning, "cannot listen to notification servers: \(error); trying again")
    }
  }

  func followNotifications() async {
    for await event in notifications.events {
      if await !handleSheet(event) { await handle(event) }
      await notifications.handled()
    }
  }

  private func handle(_ event: NotificationEvent) async {
    switch event {
    // The next run closes it: its button does not work any more.
    case .shown(let key, let place) where policy.isOpenedAtOnce(key.rawValue): await putOtherOnScreen(at: place)
    case .shown(let key, let place): await perform(policy.handle(.shown(key.rawValue, at: place)))
    case .gone(let place): await leave([place])
    case .closed(let key, let reason): await perform(policy.handle(.closed(key.rawValue, reason)))
    case .activated(let key, let action, let token): await clicked(key.rawValue, action, token: token)
    case .refused(let key, let reason):
      log(.warning, "the notification server refused tap \(key.rawValue); trying again")
      log.debug("tap \(key.rawValue) was refused:", Redacted(reason, as: "the server's message"))
    case .soundDue(_, let sound): if let name = sound.name { Task { await launcher.play(name) } }
    case .serverChanged(let server?):
      let name = DisplayText("\(server.name) \(server.version)", limit: 80)
      log(.info, "notifications go to \(server.name.isEmpty ? "a server without a name" : name.string)")
    case .serverChanged(nil): log(.notice, "there is no notification server; taps wait for one")
    }
  }

  private func clicked(_ id: String, _ action: String, token: String?) async {
    do {
      switch policy.answer(to: action, of: id, canCopy: canCopy) {
      case .open(let offer, let choice):
        // The screen may have been locked with the notification on it. No rule is written there.
        if offer.manner == .always, await isLocked() { return try await showAgain(id) }
        guard let offer = try await confirmed(offer, isAnswer: choice != nil) else { return try await askAgain(id) }
        _ = await open(offer, token: token, choice: choice)
      case .showAgain: try await askAgain(id)
      case .askNextTime(let offer): await askNextTime(offer)
      case .nothing: break
      case .dismiss: await perform(policy.handle(.dismiss(id)))
      }
    } catch {
      log(.warning, "a click on tap \(id) failed: \(error)")
      // The click has closed the notification.
      if let offer = policy.offer(id) { await perform(policy.handle(.again(offer))) }
    }
  }

  /// Asks the question again, unless the same tag was tapped again: the notification of that tap already asks it.
  private func askAgain(_ id: String) async throws(InboxError) {
    if !policy.isReplaced(id) { try await showAgain(id) }
  }

  /// Shows the tap with the current decision, unless it was opened meanwhile.
  func showAgain(_ id: String) async throws(InboxError) {
    let stored = try await inbox.tap(id)
    let offer = await offer(stored)
    guard stored.state.successors.contains(.opening) else { return }
    if offer.isShown {
      await perform(policy.handle(.again(offer)))
    } else if policy.offer(id) != nil {
      // A rule may ignore the tag now, or the app of its record may be gone.
      await perform(policy.handle(.withdrawn(offer)))
    }
  }
}

extension AgentService {
  /// Cancels sessions through this link from now on.
  func setDaemon(_ link: DaemonLink) { daemon = link }

  func handle(_ event: ReaderSheets.Event) async {
    for action in sheets.handle(event) {
      switch action {
      case .show(let notification, let key): await notifications.show(notification, as: key)
      case .remove(let key): await notifications.close(key)
      case .cancel(let session): await daemon?.cancelReaderSession(session)
      }
    }
  }

  private static let otherNotices = [
    RegistrationNotice.key, ObstacleNotice.key, AlwaysNotice.key, IdentifyNotice.key,
  ]

  /// Whether a notification shows no tap. A click on a notice only closes it.
  private static func showsNoTap(_ key: NotificationKey) -> Bool {
    ReaderSheets.isSheet(key) || otherNotices.contains(key)
  }

  /// Handles the event of a notification that shows no tap. Returns false for the event of a tap's notification.
  func handleSheet(_ event: NotificationEvent) async -> Bool {
    switch event {
    case .shown(let key, let place):
      guard Self.showsNoTap(key) else { return false }
      await putOtherOnScreen(at: place)
      if ReaderSheets.isSheet(key) { log(.debug, "the sheet of a reader session is shown") }
      return true
    case .refused(let key, reason: _): return Self.showsNoTap(key)
    case .closed(let key, _):
      guard Self.showsNoTap(key) else { return false }
      await handle(.dismissed(key))
      return true
    case .activated(let key, let action, _):
      guard Self.showsNoTap(key) else { return false }
      await handle(.activated(key, action: action))
      return true
    case .gone, .serverChanged, .soundDue: return false
    }
  }
}
