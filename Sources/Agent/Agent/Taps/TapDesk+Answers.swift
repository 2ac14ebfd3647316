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

/// The user's acts: clicks on a tap's notification, and calls of `org.tagroute.Agent1`.
extension TapDesk {
  func handle(_ event: NotificationEvent) async {
    switch event {
    // The next run closes it: its button does not work any more.
    case .shown(let key, let place) where policy.isOpenedAtOnce(key.rawValue): await inbox.showOther(at: place)
    case .shown(let key, let place): await perform(policy.handle(.shown(key.rawValue, at: place)))
    case .closed(let key, let reason): await perform(policy.handle(.closed(key.rawValue, reason)))
    case .activated(let key, let action, let token): await clicked(key.rawValue, action, token: token)
    case .refused(let key, let reason):
      log(.warning, "the notification server refused tap \(key.rawValue); trying again")
      log.debug("tap \(key.rawValue) was refused:", Redacted(reason, as: "the server's message"))
    // The screen handles these.
    case .gone, .soundDue, .serverChanged: break
    }
  }

  private func clicked(_ id: String, _ action: String, token: String?) async {
    do {
      switch policy.answer(to: action, of: id) {
      case .open(let offer, let choice):
        // The screen may have been locked with the notification on it. No rule is written there.
        if offer.manner == .always, await isLocked() { return try await showAgain(id) }
        guard let offer = try await confirmed(offer, isAnswer: choice != nil) else { return try await askAgain(id) }
        _ = await open(offer, token: token, choice: choice)
      case .showAgain: try await askAgain(id)
      case .more:
        guard let offer = policy.offer(id) else { return try await askAgain(id) }
        await screen.showMore(offer)
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

  /// With the current decision. Not if the tap was opened meanwhile.
  func showAgain(_ id: String) async throws(InboxError) {
    let tap = try await inbox.tap(id)
    let offer = await router.offer(tap)
    guard tap.state.successors.contains(.opening) else { return }
    if offer.isShown {
      let failure = [.failed, .failedOffScreen].contains(tap.state) ? tap.reason : nil
      await perform(policy.handle(.again(offer, failure: failure, showsFailure: false)))
    } else if policy.offer(id) != nil {
      // A rule may ignore the tag now, or the app of its record may be gone.
      await perform(policy.handle(.withdrawn(offer)))
    }
  }

  /// What a call of `Open` opens. If a notification shows an app, it is that one; else it is the current offer. An app
  /// that the caller names needs no notification. Returns nil if there is no such candidate, or the app that was shown
  /// does not get the link any more. Throws if the tap is gone.
  func called(_ id: String, in desktopID: String?) async throws(InboxError) -> TapOffer? {
    let tap = try await inbox.tap(id)
    if let desktopID { return await router.offer(tap.read).handed(to: desktopID) }
    if let shown = policy.offer(id), shown.isOpenable, shown.question == .nothing {
      return try await confirmed(shown, isAnswer: false)
    }
    return await router.offer(tap)
  }

  /// Nil if the tap is dismissed.
  func dismiss(_ id: String) async -> InboxError? { await perform(policy.handle(.dismiss(id)))[id] }

  /// Of the hand-over in progress; nil if there is none.
  func outcome(_ id: String) async -> HandOverOutcome? { await openings[id]?.handOver?.value }

  /// From the inbox and from the screen. Returns how many, and the inbox's refusal of the others.
  func clear(_ request: ClearRequest) async -> (count: Int, refusal: InboxError?) {
    await retryFile()
    var count = 0
    do throws(InboxError) {
      var removed: [String]
      repeat {
        let onScreen = Set(policy.onScreenInOrder)
        removed = try await inbox.clear(request.clearing(onScreen: onScreen))
        count += removed.count
        // The inbox refuses a click on a removed tap, so close its notification here.
        for id in removed where onScreen.contains(id) { await perform(policy.handle(.cleared(id))) }
      } while removed.count >= InboxClearing.portion
      if count > 0 { await inbox.compact() }
      return (count, nil)
    } catch {
      return (count, error)
    }
  }
}

/// “Always open at once”, and its end.
extension TapDesk {
  /// For the tag and the message of the tap. If the rule cannot be written, the tap is opened nevertheless.
  func openAlways(_ offer: TapOffer) async {
    guard let (conditions, action, onRemove, sound) = offer.alwaysAction else { return }
    let label = offer.rule?.name
    let error = await changeRules { rules throws(KeyFileError) in
      try rules.add(
        label: label, uid: offer.read.uid, message: offer.read.bytes, conditions: conditions, action: action,
        onRemove: onRemove, sound: sound)
    }
    if let error { return await showUnchanged(error, offer) }
    log(.info, "the tag of tap \(offer.id) opens without a click from now on")
  }

  /// Removes the rule that has opened the tap, if a notification has written it. If a person has written it, shows its
  /// place.
  func askNextTime(_ offer: TapOffer) async {
    guard let rule = offer.rule else { return }
    // Somebody else may be at the machine.
    if await isLocked() {
      await perform([.showOpened(offer)])
      return
    }
    guard AlwaysRules().owns(rule) else { return await showWritten(rule) }
    // If the file has it no more, the tag asks already.
    let error = await changeRules { rules throws(KeyFileError) in _ = try rules.remove(rule) }
    if let error { return await showUnchanged(error, offer) }
    // The user may have edited the rule meanwhile, or another rule opens the tag as well.
    let now = await router.offer(offer.read)
    if now.mayOpenAtOnce, let rule = now.rule { return await showWritten(rule) }
    log(.info, "the tag of tap \(offer.id) asks from now on")
  }

  private func showWritten(_ rule: TapRule) async {
    log(.info, "the rule \(rule.place) stays: a person wrote it")
    await screen.showWritten(rule)
  }

  /// Changes the file on a separate thread, and waits until the new rules are in force. Returns the error; nil if the
  /// file is changed.
  private func changeRules(
    _ change: @escaping @Sendable (AlwaysRules) throws(KeyFileError) -> Void
  ) async -> KeyFileError? {
    let outcome = try? await DedicatedThread.run { [alwaysRules = AlwaysRules()] in
      Result { () throws(KeyFileError) in try change(alwaysRules) }
    }
    await router.rules.reload()
    switch outcome {
    case .success?: return nil
    case .failure(let error)?: return error
    case nil:
      return KeyFileError(
        file: RuleWriter.always, line: nil, problem: "there is no thread left", remedy: "try again")
    }
  }

  private func showUnchanged(_ error: KeyFileError, _ offer: TapOffer) async {
    log(.warning, "the rule for tap \(offer.id) is not changed: \(error)")
    await screen.showUnchanged(error.file)
  }
}
