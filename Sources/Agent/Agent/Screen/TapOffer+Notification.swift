import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Settings
import UniversalLinks

extension TapOffer {
  enum ButtonKey {
    static let open = "open"
    static let retry = "retry"
    static let allow = "allow"
    static let copy = "copy"
    static let save = "save"
    /// A click on the notification itself.
    static let `default` = NotificationButton.defaultKey
    static let alternative = "alternative"
    /// Show the buttons for which the first notification has no room.
    static let more = "more"
    /// Open, and write a rule that opens this tag without a click.
    static let always = "always"
    /// Remove that rule.
    static let askNextTime = "ask-next-time"
    static let dismiss = "dismiss"
    /// Followed by the candidate's number, from 0.
    static let candidate = "candidate-"
  }

  /// The notification that shows the tag and asks the question.
  ///
  /// The buttons always have this order: open or answer, more, dismiss. `more` means that the user wants the others.
  func notification(timeout: Int32, more: Bool = false) -> Notification {
    if let network { return notification(of: network, timeout: timeout, more: more) }
    let copy = NotificationButton(key: ButtonKey.copy, label: Messages.copy)
    guard isOpenable else {
      if let data {
        return notification(
          title: DisplayText(text.string, limit: Messages.maximumTitle).string, names: [text],
          body: DisplayText(Messages.save(data, of: id)), buttons: [], timeout: timeout)
      }
      return notification(
        title: read.isBare
          ? Messages.bareTag
          : uri == nil ? Messages.text : rule?.action == .show ? Messages.linkOnTag : Messages.nobodyOpens,
        body: text, buttons: [copy], timeout: timeout)
    }
    if let command {
      return notification(
        title: Messages.willRun(ruleName(command)), names: [ruleName(command)], body: text,
        buttons: [NotificationButton(key: ButtonKey.open, label: Messages.run)], offersAlways: true, more: more,
        timeout: timeout)
    }
    switch question {
    case .nothing:
      return notification(
        title: Messages.willOpen(in: handlerName), names: [handlerName], body: text,
        buttons: [NotificationButton(key: ButtonKey.open, label: Messages.open)], offersAlways: true, more: more,
        timeout: timeout)
    case .whetherAllowed:
      let name = handler.map(distinctName) ?? handlerName
      return notification(
        title: Messages.mayOpen(name, shownClaim), names: [name], body: questionBody,
        buttons: [NotificationButton(key: ButtonKey.allow, label: Messages.allowAndOpen)], more: more, timeout: timeout)
    case .which:
      let buttons = zip(0..., offered).map { number, candidate in
        NotificationButton(key: "\(ButtonKey.candidate)\(number)", label: label(of: candidate))
      }
      return notification(
        title: Messages.which(shownClaim), names: offered.map { distinctName(of: $0.application) }, body: questionBody,
        buttons: buttons, more: more, timeout: timeout)
    }
  }

  /// With a button that tries again.
  func notification(failed reason: TapReason, timeout: Int32) -> Notification {
    // Trying again does not answer a question.
    guard question == .nothing else { return notification(timeout: timeout) }
    // Wi-Fi is gone meanwhile, so the notification says why there is no connection.
    if network != nil, !connects, reason.handOverFailure?.isAboutClipboard != true {
      return notification(timeout: timeout)
    }
    return notification(
      title: failureTitle(reason), body: failureBody(reason),
      buttons: [NotificationButton(key: ButtonKey.retry, label: Messages.tryAgain)], timeout: timeout)
  }

  private func failureTitle(_ reason: TapReason) -> String {
    guard isOpenable else { return Messages.couldNotCopy }
    if let network {
      let name = TapOffer.networkName(network)
      return reason.mayHaveOpened ? Messages.mayBeConnected(to: name) : Messages.couldNotConnect(to: name)
    }
    if let command {
      let name = ruleName(command)
      if reason.handOverFailure?.code == .commandFailed { return Messages.hasFailed(name) }
      return reason.mayHaveOpened ? Messages.mayHaveRun(name) : Messages.couldNotRun(name)
    }
    return reason.mayHaveOpened ? Messages.mayHaveOpened(in: handlerName) : Messages.couldNotOpen(in: handlerName)
  }

  /// After the tap was opened without a click. A click outside its button only closes it.
  var openedNotice: Notification {
    var notice = Notification.notice(
      command.map { Messages.hasRun(ruleName($0)) } ?? Messages.hasOpened(in: handlerName), text.string,
      category: "x-tagroute.tap")
    notice.buttons = [NotificationButton(key: ButtonKey.askNextTime, label: Messages.askNextTime)]
    notice.subject = rule?.place ?? ""
    return notice
  }

  private func ruleName(_ command: TapCommand) -> DisplayText {
    DisplayText(TapOffer.withoutQuotationMarks(command.rule), limit: 60)
  }

  private func failureBody(_ reason: TapReason) -> DisplayText {
    let why = Messages.whyFailed(reason, program: command?.program ?? "")
    return why.isEmpty ? text : DisplayText("\(DisplayText(text.string, limit: 120)) · \(why)", limit: 420)
  }

  enum Answer: Equatable {
    /// Open the tap, or copy it if there is no app; save the choice if the click was one.
    case open(TapOffer, HandlerChoices.Change?)
    /// Show it again: the click did not answer the question, or was on an older one.
    case showAgain
    /// The tap was opened without a click. Do it no more.
    case askNextTime(TapOffer)
    /// The tap was opened without a click, and the click only closes the notification.
    case nothing
    /// Show the other buttons.
    case more
    case dismiss
  }

  /// The meaning of a click on ``notification(timeout:more:)``.
  ///
  /// A click on the notification itself opens a tap without a question, but answers no question. A permission is
  /// permanent, and the user may only have wanted to close the notification.
  func answer(to action: String) -> Answer {
    if action == ButtonKey.dismiss { return .dismiss }
    if action == ButtonKey.more { return .more }
    switch question {
    case .nothing:
      if action == ButtonKey.alternative { break }
      // The rule may have been written since: then the tap only opens.
      if action == ButtonKey.always {
        return isOpenable ? .open(mayOpenAlways ? opening(.always) : self, nil) : .showAgain
      }
      if action == ButtonKey.save { return connects ? .open(opening(.savingNetwork), nil) : .showAgain }
      // The click may be on an earlier notification of this tap. A click on "copy" must not open it, and a click on
      // "open" must not copy it.
      let button = isOpenable ? ButtonKey.open : ButtonKey.copy
      guard [button, ButtonKey.retry, ButtonKey.default].contains(action) else { return .showAgain }
      return isOpenable || data == nil ? .open(self, nil) : .dismiss
    case .whetherAllowed:
      if action == ButtonKey.allow, let first = offered.first { return chosen(first) }
    case .which:
      for (number, candidate) in zip(0..., offered) where action == "\(ButtonKey.candidate)\(number)" {
        return chosen(candidate)
      }
    }
    guard action == ButtonKey.alternative, let another else { return .showAgain }
    return .open(handed(to: another, whole: false), nil)
  }

  /// Saves the claim in the question, even if the candidate claims more.
  private func chosen(_ candidate: Candidate) -> Answer {
    guard let other = handed(to: candidate.application.desktopID) else { return .showAgain }
    return .open(other, .prefer(candidate.application, claim: claim))
  }

  /// The links or records in the question: the most exact claim of the offered candidates. All of them cover the link or
  /// the record.
  private var claim: String {
    let claims = offered.map(\.claim)
    return claims.first { !$0.hasPrefix("*.") && !$0.hasSuffix("/*") } ?? claims.max { $0.utf8.count < $1.utf8.count }
      ?? ""
  }

  /// A long domain is cut at the front: its end identifies the owner.
  private var shownClaim: String {
    guard route.record == nil else { return DisplayText(claim, limit: 60).string }
    return claim.hasSuffix(":") ? claim : (try? DomainPattern(claim))?.display(limit: 40) ?? claim
  }

  private func label(of candidate: Candidate) -> String {
    let shown = distinctName(of: candidate.application)
    return candidate.trust == .unconfirmed
      ? Messages.allow(shown) : DisplayText(shown.string, limit: Messages.maximumLabel.ofThree).string
  }

  /// What the answer is kept for, then what is on the tag.
  private var questionBody: DisplayText {
    DisplayText("\(Messages.fromNowOn(shownClaim))\n\(text)", limit: 400, lines: 2)
  }

  /// The alternative, if it is not the handler. In a question it may be the handler, which then gets the link alone.
  private var another: Application? {
    guard isOpenable, question != .nothing || route.alternative?.desktopID != handler?.desktopID else { return nil }
    return route.alternative
  }

  /// At most three. Many servers put all buttons on one line, and make the notification as wide as that line. So the
  /// first notification has the first two and “More…”, and that button shows the others, of which there are two at most.
  private func all(_ buttons: [NotificationButton], offersAlways: Bool, more: Bool) -> [NotificationButton] {
    var others = Array(buttons.dropFirst(2))
    if let another {
      let label = Messages.willOpen(in: TapOffer.name(of: another), limit: Messages.maximumLabel.ofTwo)
      others.append(NotificationButton(key: ButtonKey.alternative, label: label))
    }
    if offersAlways, mayOpenAlways {
      others.append(NotificationButton(key: ButtonKey.always, label: Messages.alwaysOpen))
    }
    let dismiss = NotificationButton(key: ButtonKey.dismiss, label: Messages.dismiss)
    guard !others.isEmpty else { return buttons + [dismiss] }
    let first = buttons.prefix(2) + [NotificationButton(key: ButtonKey.more, label: Messages.more), dismiss]
    return more ? others : Array(first.prefix(3))
  }

  /// The link or the text, and the apps of the buttons. A change makes it another notification.
  private var subject: String {
    let applications = [handler?.desktopID ?? "", another?.desktopID ?? "", "\(handsOverMessage)"]
    let program = command?.arguments ?? []
    // A network that cannot be joined has another text and other buttons.
    let connection = network == nil ? [] : ["\(connects)", cannotConnect]
    let choices = offered.flatMap { [$0.application.desktopID, $0.claim] }
    return ([uri?.string ?? words.string] + applications + program + connection + choices).joined(separator: "\n")
  }

  /// Without a `desktop-entry` hint: with it, GNOME Shell would close the notifications of an agent that restarts. The
  /// agent has no window and no entry to show.
  ///
  /// `names` are those in the title and on the buttons. They end the body if one of them is not shown as a whole.
  func notification(
    title: String, names: [DisplayText] = [], body: DisplayText, buttons: [NotificationButton],
    offersAlways: Bool = false, more: Bool = false, timeout: Int32
  ) -> Notification {
    let shown = [title] + buttons.map(\.label)
    let areShown = names.allSatisfy { name in shown.contains { $0.contains(name.string) } }
    let lines = [body] + (areShown ? [] : names)
    let dismiss = NotificationButton(key: ButtonKey.dismiss, label: Messages.dismiss)
    return Notification(
      applicationName: Messages.applicationName, icon: handler?.shownIcon ?? "dialog-information",
      summary: DisplayText(title),
      body: DisplayText(lines.map(\.string).joined(separator: "\n"), limit: 600, lines: .max),
      bodyWithoutActions: DisplayText(Messages.withoutButtons(id)),
      defaultAction: question == .nothing
        ? buttons.first ?? dismiss : NotificationButton(key: ButtonKey.default, label: Messages.showAgain),
      subject: subject,
      buttons: all(buttons, offersAlways: offersAlways, more: more), category: "x-tagroute.tap",
      urgency: .normal,
      timeout: timeout)
  }
}

/// The question about a Wi-Fi network. The password is in no text.
extension TapOffer {
  /// Without marks that could end its quotation.
  static func networkName(_ network: WiFiOffer) -> DisplayText {
    // A name has at most 32 bytes, and four characters stand for each that is not shown.
    DisplayText(withoutQuotationMarks(network.name), limit: 128)
  }

  /// Asks whether to connect. If that is not possible, gives the reason.
  ///
  /// Only a button saves the network. A click on the notification connects without saving.
  func notification(of network: WiFiOffer, timeout: Int32, more: Bool = false) -> Notification {
    let name = TapOffer.networkName(network)
    guard connects else {
      return notification(
        title: Messages.network(name, limit: Messages.maximumTitle), names: [name], body: DisplayText(cannotConnect),
        buttons: [NotificationButton(key: ButtonKey.copy, label: Messages.copy)], timeout: timeout)
    }
    return notification(
      title: Messages.mayConnect(to: name), names: [name],
      body: DisplayText(network.isOpen ? Messages.networkIsOpen : Messages.networkHasPassword),
      buttons: [
        NotificationButton(key: ButtonKey.open, label: Messages.connect),
        NotificationButton(key: ButtonKey.save, label: Messages.connectAndSave),
      ], more: more, timeout: timeout)
  }

  /// Empty if a connection may be possible.
  var cannotConnect: String {
    guard let network else { return "" }
    return network.obstacle.map(Messages.whyUnusable) ?? Messages.whyNoWiFi(wiFi)
  }
}

extension HandOverFailure {
  var isAboutClipboard: Bool { code == .noClipboard || code == .notCopied }
}

extension Application {
  /// The icon for a notification server: a name of the icon theme, or a file.
  ///
  /// Anybody may have written the desktop entry, and a server decodes its icon, or even fetches it. So any other value
  /// is replaced.
  var shownIcon: String {
    guard let icon, Self.isName(icon) || Self.isFile(icon) else { return Self.anyApplication }
    return icon
  }

  /// For an app without an icon (Icon Naming Specification, "Standard MIME Type Icons").
  private static let anyApplication = "application-x-executable"

  /// A name of the Icon Theme Specification: without a slash, and without a colon, which an address has.
  private static func isName(_ icon: String) -> Bool {
    (1...255).contains(icon.utf8.count) && !icon.hasPrefix(".")
      && icon.unicodeScalars.allSatisfy { $0 != "/" && $0 != ":" && isVisible($0) }
  }

  /// An absolute path outside /dev, /proc and /sys, where reading may block or have side effects.
  private static func isFile(_ icon: String) -> Bool {
    // Split the bytes, as the kernel does: a combining mark after a slash forms another character with it.
    let folders = icon.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    return icon.utf8.first == UInt8(ascii: "/") && icon.utf8.count <= 4096 && !folders.contains(".")
      && !folders.contains("..")
      && !["dev", "proc", "sys"].contains(folders.first ?? "dev")
      && icon.unicodeScalars.allSatisfy { $0 == " " || isVisible($0) }
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate, .unassigned:
      false
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}

extension AgentConfiguration.Sound {
  /// The sound that the user wants for a notification with something new.
  func chosen(_ sound: NotificationSound) -> NotificationSound {
    switch self {
    case .off: .silent
    case .on: sound
    case .failures: sound == .failure ? sound : .silent
    }
  }
}

extension TapOffer {
  /// Also if the first notification is about a tap that was opened without a click.
  var sound: NotificationSound { rule?.sound.map(NotificationSound.named) ?? .arrival }
}

extension Notification {
  func sounding(_ sound: NotificationSound) -> Notification {
    var copy = self
    copy.sound = sound
    return copy
  }
}
