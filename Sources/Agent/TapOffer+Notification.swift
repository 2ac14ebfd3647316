import Configuration
import Notifications
import Routing

extension TapOffer {
  /// The keys of the buttons.
  enum ButtonKey {
    static let open = "open"
    static let retry = "retry"
  }

  /// Asks whether to open it.
  func notification(timeout: NotificationTimeout) -> Notification {
    notification(
      title: Messages.willOpen(in: handlerName), body: text,
      button: NotificationButton(key: ButtonKey.open, label: Messages.open), timeout: timeout)
  }

  /// Says why it was not opened, and asks whether to try again.
  func notification(failed reason: String, timeout: NotificationTimeout) -> Notification {
    let title =
      Messages.isUnknown(reason)
      ? Messages.mayHaveOpened(in: handlerName) : Messages.couldNotOpen(in: handlerName)
    return notification(
      title: title, body: DisplayText("\(text): \(reason)", limit: 300),
      button: NotificationButton(key: ButtonKey.retry, label: Messages.tryAgain), timeout: timeout)
  }

  /// No `desktop-entry` hint: GNOME Shell would take the notifications of an agent that restarts away, and what has no
  /// window of its own has no entry that it could show.
  private func notification(
    title: String, body: DisplayText, button: NotificationButton, timeout: NotificationTimeout
  ) -> Notification {
    Notification(
      applicationName: Messages.applicationName, icon: handler?.icon ?? "", summary: DisplayText(title),
      body: body, bodyWithoutActions: DisplayText(Messages.withoutButtons), defaultLabel: button.label,
      buttons: [button], category: "x-tagroute.tap", urgency: .normal, timeout: timeout)
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
