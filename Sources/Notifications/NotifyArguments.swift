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

  init(_ notification: Notification, replaces: UInt32, server: NotificationServer) {
    applicationName = notification.applicationName
    self.replaces = replaces
    icon = notification.icon
    summary = notification.summary.string
    var lines = [notification.body]
    if !server.hasActions { lines.append(notification.bodyWithoutActions) }
    body = lines.filter { !$0.isEmpty }.map { NotifyArguments.body($0, for: server) }.joined(separator: "\n")
    if server.hasActions {
      actions =
        ["default", notification.defaultLabel] + notification.buttons.flatMap { [$0.key, $0.label] }
    } else {
      actions = []
    }
    category = notification.category
    desktopEntry = notification.desktopEntry
    urgency = notification.urgency.rawValue
    timeout = notification.timeout.milliseconds
  }

  private static func body(_ text: DisplayText, for server: NotificationServer) -> String {
    var text = text.withoutSchemes.string
    if server.linksPlainText { text = unlinked(text) }
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
    var result = ""
    for character in text {
      if character == "/" || character == "." { result += "\u{2060}" }
      result.append(character)
    }
    return result
  }
}
