import Configuration
import Inbox
import Notifications
import Routing
import UniversalLinks

extension TapOffer {
  /// The keys of the buttons.
  enum ButtonKey {
    static let open = "open"
    static let retry = "retry"
    static let allow = "allow"
    static let copy = "copy"
    /// Not a button: the notification itself.
    static let `default` = NotificationButton.defaultKey
    static let alternative = "alternative"
    static let dismiss = "dismiss"
    /// With the number of the candidate behind it, from 0.
    static let candidate = "candidate-"
  }

  /// Says what is on the tag, and asks what is to be asked.
  ///
  /// Buttons are always in this order: to open it or to answer the question, to open it in the other app, to take it away. GNOME Shell
  /// shows three; whatever comes after these is left out, and a server that shows fewer still has the most important ones.
  ///
  /// - Parameters:
  ///   - timeout: when the server may take it away.
  ///   - canCopy: whether there is a clipboard.
  /// - Returns: what to show.
  func notification(timeout: NotificationTimeout, canCopy: Bool) -> Notification {
    guard isOpenable else {
      return notification(
        title: uri == nil ? Messages.text : Messages.nobodyOpens, body: text,
        buttons: canCopy ? [NotificationButton(key: ButtonKey.copy, label: Messages.copy)] : [], timeout: timeout)
    }
    switch question {
    case .nothing:
      return notification(
        title: Messages.willOpen(in: handlerName), body: text,
        buttons: [NotificationButton(key: ButtonKey.open, label: Messages.open)], timeout: timeout)
    case .whetherAllowed:
      return notification(
        title: Messages.mayOpen(handler.map(distinctName) ?? handlerName, links: shownClaim), body: text,
        buttons: [NotificationButton(key: ButtonKey.allow, label: Messages.allowAndOpen)], timeout: timeout)
    case .which:
      let buttons = zip(0..., offered).map { number, candidate in
        NotificationButton(key: "\(ButtonKey.candidate)\(number)", label: label(of: candidate))
      }
      return notification(title: Messages.which(links: shownClaim), body: text, buttons: buttons, timeout: timeout)
    }
  }

  /// Says why it was not opened, and asks whether to try again.
  func notification(failed reason: TapReason, timeout: NotificationTimeout, canCopy: Bool) -> Notification {
    // To try again is no answer to another question.
    guard question == .nothing else { return notification(timeout: timeout, canCopy: canCopy) }
    let title =
      !isOpenable
      ? Messages.couldNotCopy
      : reason.leavesOpen
        ? Messages.mayHaveOpened(in: handlerName) : Messages.couldNotOpen(in: handlerName)
    return notification(
      title: title, body: failureBody(reason),
      buttons: [NotificationButton(key: ButtonKey.retry, label: Messages.tryAgain)], timeout: timeout)
  }

  private func failureBody(_ reason: TapReason) -> DisplayText {
    let why = Messages.whyFailed(reason)
    return why.isEmpty ? text : DisplayText("\(DisplayText(text.string, limit: 120)) · \(why)", limit: 420)
  }

  /// What a click means.
  enum Answer: Equatable {
    /// Open it, or copy it where nobody opens it; remember the choice where one was made.
    case open(TapOffer, HandlerChoices.Change?)
    /// Show it again: a question was not answered, or what was clicked is no longer what is asked.
    case showAgain
    /// Take it away.
    case dismiss
  }

  /// What a click on a button of ``notification(timeout:canCopy:)`` means. A click on the notification itself opens what is opened
  /// without a question, and answers none: a permission is for good, and the click of somebody who wanted it out of the way is not one.
  ///
  /// - Parameters:
  ///   - action: a button's key, or `default`.
  ///   - canCopy: whether there is a clipboard.
  /// - Returns: what to do.
  func answer(to action: String, canCopy: Bool) -> Answer {
    if action == ButtonKey.dismiss { return .dismiss }
    switch question {
    case .nothing:
      if action == ButtonKey.alternative { break }
      // A click on its way when another decision is shown in its place must not become an answer to that: to copy is not to open.
      let button = isOpenable ? ButtonKey.open : ButtonKey.copy
      guard [button, ButtonKey.retry, ButtonKey.default].contains(action) else { return .showAgain }
      return isOpenable || canCopy ? .open(self, nil) : .dismiss
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

  /// What is kept is the claim that the question names, also of one with a wider one: no more than was asked.
  private func chosen(_ candidate: Candidate) -> Answer {
    guard let other = handed(to: candidate.application.desktopID) else { return .showAgain }
    return .open(other, .prefer(candidate.application, claim: claim))
  }

  /// The links that the question is about: the most exact claim of those offered, which all cover the link.
  private var claim: String {
    let claims = offered.map(\.claim)
    return claims.first { !$0.hasPrefix("*.") } ?? claims.max { $0.utf8.count < $1.utf8.count } ?? ""
  }

  /// The end of a domain is whose it is, so a long one is cut in front.
  private var shownClaim: String {
    claim.hasSuffix(":") ? claim : (try? DomainPattern(claim))?.display(limit: 40) ?? claim
  }

  private func label(of candidate: Candidate) -> String {
    let shown = distinctName(of: candidate.application)
    return candidate.trust == .unconfirmed ? Messages.allow(shown) : shown.string
  }

  /// The alternative where it is another than who opens it. Where something is asked it is one anyway: with the link alone.
  private var another: Application? {
    guard isOpenable, question != .nothing || alternative?.desktopID != handler?.desktopID else { return nil }
    return alternative
  }

  /// All buttons, of which these are the first.
  private func all(_ buttons: [NotificationButton]) -> [NotificationButton] {
    var buttons = buttons
    if let another {
      buttons.append(
        NotificationButton(key: ButtonKey.alternative, label: Messages.willOpen(in: TapOffer.name(of: another))))
    }
    buttons.append(NotificationButton(key: ButtonKey.dismiss, label: Messages.dismiss))
    return Array(buttons.prefix(TapOffer.maximumOffered))
  }

  /// The link, or the words, and the apps that the buttons may open it in.
  private var subject: String {
    let applications = [handler?.desktopID ?? "", another?.desktopID ?? "", "\(handsOverMessage)"]
    let choices = offered.flatMap { [$0.application.desktopID, $0.claim] }
    return ([uri?.string ?? words.string] + applications + choices).joined(separator: "\n")
  }

  /// No `desktop-entry` hint: GNOME Shell would take the notifications of an agent that restarts away, and what has no
  /// window of its own has no entry that it could show.
  private func notification(
    title: String, body: DisplayText, buttons: [NotificationButton], timeout: NotificationTimeout
  ) -> Notification {
    let buttons = all(buttons)
    // Longer than any title of ours: the domain of a question stands at its end.
    return Notification(
      applicationName: Messages.applicationName, icon: handler?.shownIcon ?? "dialog-information",
      summary: DisplayText(title, limit: 500),
      body: body, bodyWithoutActions: DisplayText(Messages.withoutButtons(id)),
      defaultAction: question == .nothing
        ? buttons.first ?? NotificationButton(key: ButtonKey.dismiss, label: Messages.dismiss)
        : NotificationButton(key: ButtonKey.default, label: Messages.showAgain),
      subject: subject,
      buttons: buttons, category: "x-tagroute.tap",
      urgency: .normal,
      timeout: timeout)
  }
}

extension NotificationTimeout {
  init(_ setting: AgentConfiguration.NotificationTimeout) {
    switch setting {
    case .server: self = .server
    case .never: self = .never
    case .seconds(let count): self = .after(.seconds(count))
    }
  }
}
