/// A notification as the agent wants it, before any server's peculiarities.
public struct Notification: Sendable, Hashable {
  /// The name of the program, as the server shows it.
  public var applicationName: String
  /// An icon name of the desktop's theme, or an absolute path; empty for none.
  public var icon: String
  /// The title; never markup.
  public var summary: DisplayText
  /// The text below; plain here, escaped where a server reads markup.
  public var body: DisplayText
  /// The line that takes the buttons' place on a server without actions: how to go on by other means.
  public var bodyWithoutActions: DisplayText
  /// What a click on the notification itself does: what the button of the same key does, or what none does.
  public var defaultAction: NotificationButton
  /// What the actions act on, in any words of the caller's; never shown.
  public var subject: String
  /// The visible buttons, in their order.
  public var buttons: [NotificationButton]
  /// The `category` hint, empty for none.
  public var category: String
  /// The `urgency` hint.
  public var urgency: NotificationUrgency
  /// The `desktop-entry` hint without ".desktop", empty for none.
  ///
  /// GNOME Shell takes the notifications of an entry that it knows away when their sender leaves the bus.
  public var desktopEntry: String
  /// When the server may take it off the screen by itself.
  public var timeout: NotificationTimeout
  /// The `transient` hint: nothing that anybody would look for later, so a server that keeps a history does not keep this.
  public var isTransient: Bool

  /// - Parameters:
  ///   - applicationName: the name of the program.
  ///   - icon: an icon name, or an absolute path.
  ///   - summary: the title.
  ///   - body: the text below.
  ///   - bodyWithoutActions: the line that takes the buttons' place.
  ///   - defaultAction: what a click on the notification itself does.
  ///   - subject: what the actions act on.
  ///   - buttons: the visible buttons.
  ///   - category: the `category` hint.
  ///   - urgency: the `urgency` hint.
  ///   - desktopEntry: the `desktop-entry` hint.
  ///   - timeout: when the server may take it off the screen.
  ///   - isTransient: the `transient` hint.
  public init(
    applicationName: String, icon: String = "", summary: DisplayText, body: DisplayText,
    bodyWithoutActions: DisplayText, defaultAction: NotificationButton, subject: String = "",
    buttons: [NotificationButton],
    category: String = "",
    urgency: NotificationUrgency = .normal, desktopEntry: String = "", timeout: NotificationTimeout = .server,
    isTransient: Bool = false
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
  }

  /// What a click means that a server reports by this key; nil if there is no such action.
  func key(of action: String, suffix: String) -> String? {
    if action == NotificationButton.defaultKey { return defaultAction.key }
    return buttons.first { $0.key + suffix == action }?.key
  }

  /// Whether a click on either does the same. A reader session changes its body while it runs; that does not change what a click does.
  func hasSameActions(as other: Notification) -> Bool {
    subject == other.subject && summary == other.summary && icon == other.icon && buttons == other.buttons
      && defaultAction == other.defaultAction
  }
}

/// A visible button: the key that comes back, and what it says.
public struct NotificationButton: Sendable, Hashable {
  /// What ``NotificationEvent/activated(_:action:token:)`` carries.
  public let key: String
  /// What the button does, in the user's language.
  public let label: String

  /// The key of a click on the notification itself, as servers know it (Desktop Notifications Specification, "Actions").
  public static let defaultKey = "default"

  /// - Parameters:
  ///   - key: what comes back; `"default"` only for what a click on the notification itself does and no button.
  ///   - label: what the button does.
  public init(key: String, label: String) {
    self.key = key
    self.label = label
  }
}

/// The `urgency` hint (Desktop Notifications Specification, "Urgency Levels").
public enum NotificationUrgency: UInt8, Sendable {
  /// Passing.
  case low = 0
  /// The usual.
  case normal = 1
  /// Stays until it is answered.
  case critical = 2
}

/// When a server may take a notification off the screen by itself.
public enum NotificationTimeout: Sendable, Hashable {
  /// As the server likes.
  case server
  /// Not before the user has answered.
  case never
  /// After this time.
  case after(Duration)

  /// The `expire_timeout` argument, milliseconds.
  var milliseconds: Int32 {
    switch self {
    case .server: return -1
    case .never: return 0
    case .after(let duration):
      let (seconds, attoseconds) = duration.components
      let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
      guard !overflow else { return .max }
      // At least one millisecond: 0 would mean "never".
      return Int32(clamping: max(product + attoseconds / 1_000_000_000_000_000, 1))
    }
  }
}

/// The caller's name for a notification, the same over every server that shows it.
public struct NotificationKey: Sendable, Hashable {
  /// Any text that is the caller's own.
  public let rawValue: String

  /// - Parameter rawValue: any text that is the caller's own.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}
