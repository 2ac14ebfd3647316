/// A running notification server: one owner of the bus name, and its capabilities.
package struct NotificationServer: Sendable, Hashable {
  /// The identifier of its bus; empty if that is not known.
  package let bus: String
  /// Its unique name, which sends its signals.
  package let owner: String
  /// As it reports it, for example `"gnome-shell"`; empty if it has not described itself.
  package let name: String
  package let version: String
  /// As `GetCapabilities` returns them.
  package let capabilities: Set<String>

  package init(bus: String = "", owner: String, name: String = "", version: String = "", capabilities: Set<String>) {
    self.bus = bus
    self.owner = owner
    self.name = name
    self.version = version
    self.capabilities = capabilities
  }

  var hasActions: Bool { capabilities.contains("actions") }
  var hasBodyMarkup: Bool { capabilities.contains("body-markup") }
  /// Whether it plays the sounds that have a name.
  ///
  /// notification-daemon 3.20 and mate-notification-daemon 1.26 have the capability, and were tried: the first plays no
  /// sound, the second only that of a file. Both report the same name.
  var hasSounds: Bool { capabilities.contains("sound") && name.lowercased() != "notification daemon" }
  /// Whether it may turn `host.tld/path` in a body into a link that bypasses our actions.
  ///
  /// GNOME Shell's `findUrls` (js/misc/util.js) detects `http://`, `www.` and `foo.xx/`. Cinnamon has inherited it.
  /// False only for servers that were tried and make no links.
  var mayLinkPlainText: Bool { !Self.withoutLinks.contains(name.lowercased()) }

  /// The names that these servers report (docs/notifications.md). mate-notification-daemon reports that of
  /// notification-daemon.
  private static let withoutLinks: Set = [
    "dunst", "lxqt-notificationd", "mako", "notification daemon", "plasma", "swaynotificationcenter",
    "xfce notify daemon",
  ]
  /// Whether it has described itself. GNOME Shell owns its bus name before it can.
  var isKnown: Bool { !name.isEmpty }
  /// Whether it shows the `default` action as a button beside the others.
  ///
  /// xfce4-notifyd and lxqt-notificationd do, and dunst does in its menu, as seen with the versions of Debian 12.
  var showsDefaultAction: Bool { takesLoneAction || name.lowercased() == "xfce notify daemon" }
  /// Whether a click on the notification itself invokes the only action, even if that has another key.
  var takesLoneAction: Bool { ["dunst", "lxqt-notificationd"].contains(name.lowercased()) }
}

/// The arguments of a `Notify` call, adapted to one server.
///
/// Desktop Notifications Specification 1.2, "org.freedesktop.Notifications.Notify".
struct NotifyArguments: Sendable, Hashable {
  let notification: Notification
  let replaces: UInt32
  let body: String
  /// Key, label, key, label.
  let actions: [String]
  /// Nil on a server without sounds.
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
