package import Names

/// A change of a notification.
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
  /// Its time was over.
  case expired = 1
  /// The user closed it.
  case dismissed = 2
  /// A program called `CloseNotification`: another one, or the server itself after an action.
  case closed = 3
  /// Undefined, or a number that no specification defines.
  case undefined = 4
}
