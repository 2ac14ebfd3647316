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
        title: Messages.mayOpen(handlerName, links: claim), body: text,
        buttons: [NotificationButton(key: ButtonKey.allow, label: Messages.allowAndOpen)] + alternativeButton,
        timeout: timeout)
    case .which:
      let buttons = zip(0..., offered).map { number, candidate in
        NotificationButton(key: "\(ButtonKey.candidate)\(number)", label: label(of: candidate))
      }
      // Where three apps claim it, there is no room for the browser.
      return notification(
        title: Messages.which(links: claim), body: text,
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
    /// Take it away.
    case dismiss
  }

  /// What a click on a button of ``notification(timeout:canCopy:)`` means. A click on the notification itself is one on its first
  /// button; its label says so where a server shows it.
  ///
  /// - Parameters:
  ///   - action: a button's key, or `default`.
  ///   - canCopy: whether there is a clipboard.
  /// - Returns: what to do; of an action that there is no button for, what a click on the notification itself means.
  func answer(to action: String, canCopy: Bool) -> Answer {
    if action == ButtonKey.alternative, let other = alternative.flatMap({ handed(to: $0.desktopID) }) {
      return .open(other, nil)
    }
    if action.hasPrefix(ButtonKey.candidate), let number = Int(action.dropFirst(ButtonKey.candidate.count)),
      offered.indices.contains(number)
    {
      return chosen(offered[number])
    }
    if question != .nothing, let first = offered.first { return chosen(first) }
    return isOpenable || canCopy ? .open(self, nil) : .dismiss
  }

  private func chosen(_ candidate: Candidate) -> Answer {
    guard let other = handed(to: candidate.application.desktopID) else { return .dismiss }
    return .open(other, .prefer(candidate.application, claim: candidate.claim))
  }

  /// The links that the question is about.
  private var claim: String {
    let claim = offered.first?.claim ?? ""
    guard let host = uri?.host, claim == host.text else { return claim }
    return host.display
  }

  private func label(of candidate: Candidate) -> String {
    let name = TapOffer.name(of: candidate.application)
    let isAmbiguous = offered.count { TapOffer.name(of: $0.application) == name } > 1
    let shown = isAmbiguous ? DisplayText("\(name) (\(candidate.application.desktopID))", limit: 80) : name
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
    Notification(
      applicationName: Messages.applicationName, icon: handler?.icon ?? "", summary: DisplayText(title),
      body: body, bodyWithoutActions: DisplayText(Messages.withoutButtons),
      defaultLabel: buttons.first?.label ?? Messages.close, buttons: buttons, category: "x-tagroute.tap",
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
