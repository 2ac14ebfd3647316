import EventLoop
import Handlers
import Inbox
import Journal
import Names
import Notifications
import Routing
import Settings

/// The rules of the user and the administrator.
extension AgentService {
  /// How old a tap may be that is opened without a click, in microseconds. The daemon and the agent take milliseconds.
  private static let freshness: Int64 = 3_000_000

  /// Opens a new tap without a click, if a rule says so and the session is not locked. Returns false if the tap has to be
  /// shown.
  ///
  /// With `WhenLocked=hold`, the daemon sends a tap that was read behind a lock after the session is unlocked. A tap that
  /// has waited, for this or any other reason, is therefore shown.
  func openAtOnce(_ offer: TapOffer, readAt time: Timestamp) async -> Bool {
    guard offer.mayOpenAtOnce else { return false }
    guard (0...Self.freshness).contains(now().microseconds - time.microseconds) else {
      log(.info, "tap \(offer.id) is not opened without a click: it was not read just now")
      return false
    }
    guard await !isLocked() else {
      log(.info, "tap \(offer.id) is not opened without a click: the session is locked")
      return false
    }
    await perform([.announceReceived(offer.id)])
    return await open(offer.opening(.withoutClick), token: nil) == nil
  }

  /// Logs the mistakes in rules that are new, and decides taps on the screen again.
  func followRules() async {
    var known: [KeyFileError] = []
    for await _ in await rules.changes() {
      let problems = await rules.problems
      logNew(problems, since: known, all: "tagroute rules --check")
      known = problems
      let count = await rules.rules.rules.count
      log(.info, "rules for taps in force: \(count)")
      for id in policy.onScreenInOrder { await decideAgain(id) }
    }
  }
}

extension TapOffer {
  /// The app or program that gets the tap, for the log; nil if there is none.
  var receiver: String? {
    handler?.desktopID ?? command.map { "the program of the rule “\($0.rule)”" } ?? (connects ? "NetworkManager" : nil)
  }
}

extension TapRule.Action {
  /// Whether the action also concerns tags without a link and without a text.
  var isAboutAnyContents: Bool {
    switch self {
    case .run, .show: true
    case .open, .openDefault, .ignore: false
    }
  }
}

/// “Always open this tag at once”, and its end.
extension AgentService {
  /// Writes the rule for the tag and the message of a tap. If that fails, the tap is opened nevertheless.
  func openAlways(_ offer: TapOffer) async {
    guard let (conditions, action, onRemove, sound) = offer.alwaysAction else { return }
    let label = offer.rule?.name
    do throws(InboxError) {
      let tap = try await inbox.tap(offer.id).tap
      let error = await changeRules { rules throws(KeyFileError) in
        try rules.add(
          label: label, uid: tap.uid, message: tap.message, conditions: conditions, action: action,
          onRemove: onRemove, sound: sound)
      }
      if let error { return await reportUnchanged(error, offer) }
      log(.info, "the tag of tap \(offer.id) opens without a click from now on")
    } catch {
      log(.warning, "no rule is written for tap \(offer.id): \(error)")
      await notifications.show(AlwaysNotice.failed(RuleWriter.always), as: AlwaysNotice.key)
    }
  }

  /// Removes the rule that has opened a tap, if a notification has written it. If a person has, shows where it is.
  func askNextTime(_ offer: TapOffer) async {
    guard let rule = offer.rule else { return }
    // Somebody else may be at the machine.
    if await isLocked() {
      await perform([.showOpened(offer)])
      return
    }
    guard alwaysRules.owns(rule) else { return await showWritten(rule) }
    // If the file has it no more, the tag asks already.
    let error = await changeRules { rules throws(KeyFileError) in _ = try rules.remove(rule) }
    if let error { return await reportUnchanged(error, offer) }
    // The user may have edited the rule meanwhile, or another rule opens the tag as well.
    if let tap = try? await inbox.tap(offer.id).tap {
      let now = await makeOffer(TagReading(tap))
      if now.mayOpenAtOnce, let rule = now.rule { return await showWritten(rule) }
    }
    log(.info, "the tag of tap \(offer.id) asks from now on")
  }

  private func showWritten(_ rule: TapRule) async {
    log(.info, "the rule \(rule.place) stays: a person wrote it")
    await notifications.show(AlwaysNotice.written(rule), as: AlwaysNotice.key)
  }

  /// Changes the file on a separate thread, and waits until the new rules are in force. Returns the error; nil if the
  /// file is changed.
  private func changeRules(
    _ change: @escaping @Sendable (AlwaysRules) throws(KeyFileError) -> Void
  ) async -> KeyFileError? {
    let outcome = try? await DedicatedThread.run { [alwaysRules] in
      Result { () throws(KeyFileError) in try change(alwaysRules) }
    }
    await rules.reload()
    switch outcome {
    case .success?: return nil
    case .failure(let error)?: return error
    case nil:
      return KeyFileError(
        file: RuleWriter.always, line: nil, problem: "there is no thread left", remedy: "try again")
    }
  }

  private func reportUnchanged(_ error: KeyFileError, _ offer: TapOffer) async {
    log(.warning, "the rule for tap \(offer.id) is not changed: \(error)")
    await notifications.show(AlwaysNotice.failed(error.file), as: AlwaysNotice.key)
  }
}

extension TapOffer {
  /// Whether the user may let this tag open without a click from now on. A tag that anyone could be, or a rule that
  /// would be tried after another one, is not offered.
  var mayOpenAlways: Bool {
    guard isOpenable, !connects, question == .nothing, !isBare, rule?.asks != false,
      rule.map(AlwaysRules.precede) ?? true, case .uid(let uid) = tag
    else { return false }
    return UIDText.lengths.contains(uid.count)
      && !UIDText.mayChange(uid, technology: details.technology)
  }

  /// What the rule does: the action that was offered, with the conditions that it needs beside the tag and its message.
  /// Nil if none may be written.
  var alwaysAction: (conditions: [TapRule.Condition], action: TapRule.Action, onRemove: [String], sound: String?)? {
    guard mayOpenAlways else { return nil }
    if let rule {
      var conditions = rule.conditions.filter(AlwaysRules.keeps)
      if let id = handlerWithoutRules, rule.action == .open(id), !conditions.contains(.handler(id)) {
        conditions.append(.handler(id))
      }
      return (conditions, rule.action, rule.onRemove, rule.sound)
    }
    guard let handler else { return nil }
    // The default application gets the link alone, or a file. By its id it might get the message.
    guard handsOverMessage else { return ([], .openDefault, [], nil) }
    return ([.handler(handler.desktopID)], .open(handler.desktopID), [], nil)
  }
}
