package import Names

/// A notification as the agent describes it, independent of any server.
package struct Notification: Sendable, Hashable {
  /// As the server shows it.
  package var applicationName: String
  /// An icon name of the desktop's theme, or an absolute path; empty for none.
  package var icon: String
  /// Never markup.
  package var summary: DisplayText
  /// Plain here, and escaped for a server that reads markup.
  package var body: DisplayText
  /// Added to the body on a server without actions: how to continue without buttons.
  package var bodyWithoutActions: DisplayText
  /// The effect of a click on the notification itself. It may have the key of a button, or one that no button has.
  package var defaultAction: NotificationButton
  /// What the actions are about, in any form; never shown.
  package var subject: String
  /// The visible ones, in their order.
  package var buttons: [NotificationButton]
  /// The `category` hint, empty for none.
  package var category: String
  package var urgency: NotificationUrgency
  /// The `desktop-entry` hint without ".desktop", empty for none.
  ///
  /// GNOME Shell removes the notifications of an entry that it knows when their sender leaves the bus.
  package var desktopEntry: String
  /// After how many milliseconds the server may remove the notification by itself; -1 if it decides, 0 for never.
  package var timeout: Int32
  /// The `transient` hint: the notification is of no use later, so a server with a history does not keep it.
  package var isTransient: Bool
  /// A server plays it once, even if the notification is shown again.
  package var sound: NotificationSound
  /// The user has just clicked another one, and this one may appear in its place. A click within one second only shows
  /// it again.
  package var takesPlaceOfClicked = false

  /// By default, the urgency is normal, the server decides when to remove the notification, and it is silent.
  package init(
    applicationName: String, icon: String = "", summary: DisplayText, body: DisplayText,
    bodyWithoutActions: DisplayText, defaultAction: NotificationButton, subject: String = "",
    buttons: [NotificationButton],
    category: String = "",
    urgency: NotificationUrgency = .normal, desktopEntry: String = "", timeout: Int32 = -1,
    isTransient: Bool = false, sound: NotificationSound = .silent
  ) {
    self.applicationName = applicationName
    self.icon = icon
    self.summary = summary
    self.body = body
    self.bodyWithoutActions = bodyWithoutActions
    self.defaultAction = defaultAction
    self.subject = subject
    self.buttons = buttons
    self.category = category
    self.urgency = urgency
    self.desktopEntry = desktopEntry
    self.timeout = timeout
    self.isTransient = isTransient
    self.sound = sound
  }

  /// Nil if there is no such action.
  func key(of action: String, suffix: String) -> String? {
    if action == NotificationButton.defaultKey { return defaultAction.key }
    return buttons.first { $0.key + suffix == action }?.key
  }

  /// Whether a click on either has the same effect. The sheet of a reader session changes its body, which does not
  /// change the effect of a click.
  func hasSameActions(as other: Notification) -> Bool {
    subject == other.subject && summary == other.summary && icon == other.icon && buttons == other.buttons
      && defaultAction == other.defaultAction
  }
}

package struct NotificationButton: Sendable, Hashable {
  /// The key in ``NotificationEvent/activated(_:action:token:)``.
  package let key: String
  package let label: String

  /// The key that servers use for a click on the notification itself (Desktop Notifications Specification, "Actions").
  package static let defaultKey = "default"

  /// The key `"default"` is only for a click on the notification itself that has no button.
  package init(key: String, label: String) {
    self.key = key
    self.label = label
  }
}

/// The `urgency` hint (Desktop Notifications Specification, "Urgency Levels").
package enum NotificationUrgency: UInt8, Sendable {
  case low = 0
  case normal = 1
  /// Stays until the user reacts.
  case critical = 2
}

/// The caller's name for a notification. It is the same on every server.
package struct NotificationKey: Sendable, Hashable {
  package let rawValue: String

  package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The sound of a notification, on a server that plays sounds.
package enum NotificationSound: Sendable, Hashable {
  /// None, even if the server plays a sound for every other notification.
  case silent
  /// Something has arrived.
  case arrival
  /// Something has failed. It must not sound like an arrival.
  case failure
  /// This sound of the Sound Naming Specification, instead of `arrival`.
  case named(String)

  /// In the Sound Naming Specification 0.1; nil for silence.
  package var name: String? {
    switch self {
    case .silent: nil
    case .arrival: "message-new-instant"
    case .failure: "dialog-error"
    case .named(let name): name
    }
  }
}

package enum NotificationEvent: Sendable, Hashable {
  /// A server shows the notification at this place. Sent again if it is replaced, or if another server shows it.
  case shown(NotificationKey, at: NotificationPlace)
  /// The user has clicked. The key is a button's, or that of ``Notification/defaultAction`` for a click on the
  /// notification itself. Sent once, as the last event of the notification.
  ///
  /// The token is for xdg-activation; nil if the server sent none.
  case activated(NotificationKey, action: String, token: String?)
  /// The notification has gone without a click. This is its last event.
  case closed(NotificationKey, NotificationCloseReason)
  /// The notification is on the screen of a server without sounds. The caller may play its sound.
  case soundDue(NotificationKey, NotificationSound)
  /// The place is empty: its notification was closed, or went with its server. Another event reports how that
  /// notification ended.
  case gone(NotificationPlace)
  /// The server refused the notification. The client retries. The text is for the log.
  case refused(NotificationKey, reason: String)
  /// Another server is in use, with its name and version for the log; nil if there is none.
  case serverChanged(NotificationServer?)
}

/// Why a notification has gone, with the numbers of `NotificationClosed`.
package enum NotificationCloseReason: UInt32, Sendable {
  case expired = 1
  case dismissed = 2
  /// A program called `CloseNotification`: another one, or the server itself after an action.
  case closed = 3
  /// Undefined, or a number that no specification defines.
  case undefined = 4
}
