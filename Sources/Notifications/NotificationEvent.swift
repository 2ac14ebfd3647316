/// What became of a notification.
public enum NotificationEvent: Sendable, Hashable {
  /// A server has taken it, and has it there. Comes again where it is shown on another server, or replaced.
  case shown(NotificationKey, at: NotificationPlace)
  /// The user has clicked: a button's key, or for the notification itself that of its ``Notification/defaultAction``. Comes once;
  /// nothing follows it.
  ///
  /// The token is for xdg-activation, nil where the server gave none.
  case activated(NotificationKey, action: String, token: String?)
  /// It is gone without a click. Nothing follows it.
  case closed(NotificationKey, NotificationCloseReason)
  /// Nothing is there any more: it was closed, or went with its server. Whose it was, and how it ended, is said on its own.
  case gone(NotificationPlace)
  /// The server refused it; it is tried again by itself. The text is for the log.
  case refused(NotificationKey, reason: String)
  /// Another server answers from here on; its name and version, for the log.
  case serverChanged(NotificationServer?)
}

/// Why a notification went, as `NotificationClosed` numbers it.
public enum NotificationCloseReason: UInt32, Sendable {
  /// Its time was up.
  case expired = 1
  /// The user closed it.
  case dismissed = 2
  /// Something called `CloseNotification`: another program, or the server itself after an action.
  case closed = 3
  /// Undefined, or a number that no specification names.
  case undefined = 4
}
