import Bus
import Handlers
import Inbox
import Journal
import Notifications

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
