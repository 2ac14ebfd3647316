import Configuration
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
    static let `default` = "default"
    static let alternative = "alternative"
    /// With the number of the candidate behind it, from 0.
    static let candidate = "candidate-"
  }

  /// Says what is on the tag, and asks what is to be asked.
  ///
  /// - Parameters:
  ///   - timeout: when the server may take it away.
  ///   - canCopy: whether there is a clipboard.
  /// - Returns: what to show.
  func notification(timeout: NotificationTimeout, canCopy: Bool) -> Notification {
    guard isOpenable else {
      let buttons = canCopy ? [NotificationButton(key: ButtonKey.copy, label: Messages.copy)] : []
      return notification(
        title: uri == nil ? Messages.text : Messages.nobodyOpens, body: text, buttons: buttons, timeout: timeout)
    }
    switch question {
    case .nothing:
      return notification(
        title: Messages.willOpen(in: handlerName), body: text,
        buttons: [NotificationButton(key: ButtonKey.open, label: Messages.open)], timeout: timeout)
    case .whetherAllowed:
      return notification(
        title: Messages.mayOpen(handler.map(distinctName) ?? handlerName, links: shownClaim), body: text,
        buttons: [NotificationButton(key: ButtonKey.allow, label: Messages.allowAndOpen)] + alternativeButton,
        timeout: timeout)
    case .which:
      let buttons = zip(0..., offered).map { number, candidate in
        NotificationButton(key: "\(ButtonKey.candidate)\(number)", label: label(of: candidate))
      }
      // Where three apps claim it, there is no room for the browser.
      return notification(
        title: Messages.which(links: shownClaim), body: text,
        buttons: buttons.count < TapOffer.maximumOffered ? buttons + alternativeButton : buttons, timeout: timeout)
    }
  }

  /// Says why it was not opened, and asks whether to try again.
  func notification(failed reason: String, timeout: NotificationTimeout, canCopy: Bool) -> Notification {
    // To try again is no answer to another question.
    guard question == .nothing else { return notification(timeout: timeout, canCopy: canCopy) }
    let title =
      !isOpenable
      ? Messages.couldNotCopy
      : Messages.isUnknown(reason)
        ? Messages.mayHaveOpened(in: handlerName) : Messages.couldNotOpen(in: handlerName)
    return notification(
      title: title, body: DisplayText("\(text): \(reason)", limit: 300),
      buttons: [NotificationButton(key: ButtonKey.retry, label: Messages.tryAgain)], timeout: timeout)
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
    switch question {
    case .nothing:
      guard [ButtonKey.open, ButtonKey.retry, ButtonKey.copy, ButtonKey.default].contains(action) else {
        return .showAgain
      }
      return isOpenable || canCopy ? .open(self, nil) : .dismiss
    case .whetherAllowed:
      if action == ButtonKey.allow, let first = offered.first { return chosen(first) }
    case .which:
      for (number, candidate) in zip(0..., offered) where action == "\(ButtonKey.candidate)\(number)" {
        return chosen(candidate)
      }
    }
    guard action == ButtonKey.alternative, let other = alternative.flatMap({ handed(to: $0.desktopID) }) else {
      return .showAgain
    }
    return .open(other, nil)
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

  private var alternativeButton: [NotificationButton] {
    alternative.map {
      [NotificationButton(key: ButtonKey.alternative, label: Messages.willOpen(in: TapOffer.name(of: $0)))]
    }
      ?? []
  }

  /// No `desktop-entry` hint: GNOME Shell would take the notifications of an agent that restarts away, and what has no
  /// window of its own has no entry that it could show.
  private func notification(
    title: String, body: DisplayText, buttons: [NotificationButton], timeout: NotificationTimeout
  ) -> Notification {
    // Longer than any title of ours: the domain of a question stands at its end.
    Notification(
      applicationName: Messages.applicationName, icon: handler?.icon ?? "", summary: DisplayText(title, limit: 500),
      body: body, bodyWithoutActions: DisplayText(Messages.withoutButtons),
      defaultLabel: question == .nothing ? buttons.first?.label ?? Messages.close : Messages.showAgain,
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
