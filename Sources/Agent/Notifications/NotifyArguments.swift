/// The arguments of a `Notify` call, adapted to one server.
///
/// Desktop Notifications Specification 1.2, "org.freedesktop.Notifications.Notify".
struct NotifyArguments: Sendable, Hashable {
  let notification: Notification
  let replaces: UInt32
  let body: String
  /// Key, label, key, label.
  let actions: [String]
  /// The sound; nil on a server without sounds.
  let sound: NotificationSound?

  /// `sound` is that of this call: a notification that is shown again is silent.
  init(
    _ notification: Notification, replaces: UInt32, keySuffix: String, sound: NotificationSound = .silent,
    server: NotificationServer
  ) {
    self.sound = server.hasSounds ? sound : nil
    self.notification = notification
    self.replaces = replaces
    var lines = [notification.body]
    if !server.hasActions { lines.append(notification.bodyWithoutActions) }
    body = lines.filter { !$0.isEmpty }.map { NotifyArguments.body($0, for: server) }.joined(separator: "\n")
    actions = server.hasActions ? NotifyArguments.actions(notification, keySuffix: keySuffix, for: server) : []
  }

  /// One line for a button. The text contains words from a catalogue and from an application.
  private static func label(_ text: String) -> String { DisplayText(text, limit: 160).string }

  /// The `default` action and the buttons, in the order for this server. A server that shows `default` as a button
  /// would show one action twice. There, `default` replaces the button with the same key. If there is none, `default`
  /// is left out, because the buttons cover all actions.
  ///
  /// LXQt and dunst treat a lone action as the default one. They get `default` beside a lone button, so that a click on
  /// a question is not an answer to it.
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

  /// Escapes the four characters of markup, at every position: a raw `<3` cuts the body off on LXQt and Plasma.
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

  /// Inserts an invisible word joiner before each `/` and `.`, so that the server detects no address.
  private static func unlinked(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    // Go through scalars, as a server does: Swift merges a slash and a mark after it into another character.
    for scalar in text.unicodeScalars {
      if scalar == "/" || scalar == "." { result.append("\u{2060}") }
      result.append(scalar)
    }
    return String(result)
  }
}
