/// A `Notify` call for one server: the notification, as that server is to read it.
///
/// Desktop Notifications Specification 1.2, "org.freedesktop.Notifications.Notify".
struct NotifyArguments: Sendable, Hashable {
  let applicationName: String
  let replaces: UInt32
  let icon: String
  let summary: String
  let body: String
  /// Key, label, key, label.
  let actions: [String]
  let category: String
  let desktopEntry: String
  let urgency: UInt8
  let timeout: Int32
  let isTransient: Bool

  init(_ notification: Notification, replaces: UInt32, keySuffix: String, server: NotificationServer) {
    applicationName = notification.applicationName
    self.replaces = replaces
    icon = notification.icon
    summary = notification.summary.string
    var lines = [notification.body]
    if !server.hasActions { lines.append(notification.bodyWithoutActions) }
    body = lines.filter { !$0.isEmpty }.map { NotifyArguments.body($0, for: server) }.joined(separator: "\n")
    actions = server.hasActions ? NotifyArguments.actions(notification, keySuffix: keySuffix, for: server) : []
    category = notification.category
    desktopEntry = notification.desktopEntry
    urgency = notification.urgency.rawValue
    timeout = notification.timeout.milliseconds
    isTransient = notification.isTransient
  }

  /// A button has one line, and its words are a catalogue's and an application's.
  private static func label(_ text: String) -> String { DisplayText(text, limit: 160).string }

  /// A server that shows the `default` action as a button would show it twice: there it stands in the place of the button that says
  /// the same, and where none does, the buttons say all that can be done. A lone button it has beside it all the same: LXQt and Dunst
  /// take the only action for the default one, and a click on a question must not be an answer to it.
  private static func actions(
    _ notification: Notification, keySuffix: String, for server: NotificationServer
  ) -> [String] {
    let byDefault = NotificationButton(key: NotificationButton.defaultKey, label: notification.defaultAction.label)
    var actions = notification.buttons.map { NotificationButton(key: $0.key + keySuffix, label: $0.label) }
    if server.showsDefaultAction,
      let same = notification.buttons.firstIndex(where: { $0.key == notification.defaultAction.key })
    {
      actions[same] = byDefault
    } else if !server.showsDefaultAction || actions.isEmpty || actions.count == 1 && server.takesLoneAction {
      actions.insert(byDefault, at: 0)
    }
    return actions.flatMap { [$0.key, label($0.label)] }
  }

  private static func body(_ text: DisplayText, for server: NotificationServer) -> String {
    var text = text.withoutSchemes.string
    if server.mayLinkPlainText { text = unlinked(text) }
    return server.hasBodyMarkup ? escaped(text) : text
  }

  /// The four characters that markup reads, in every position: a raw `<3` cuts the body off on LXQt and Plasma.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  /// A word joiner, which nobody sees, between a host and what makes it an address.
  private static func unlinked(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    // By scalars, as it is read there: for Swift a mark behind the slash makes another character of that.
    for scalar in text.unicodeScalars {
      if scalar == "/" || scalar == "." { result.append("\u{2060}") }
      result.append(scalar)
    }
    return String(result)
  }
}
