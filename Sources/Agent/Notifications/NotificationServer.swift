/// A running notification server: one owner of the bus name, and its capabilities.
package struct NotificationServer: Sendable, Hashable {
  /// The identifier of its bus; empty if that is not known.
  package let bus: String
  /// Its unique name on the bus, which sends its signals.
  package let owner: String
  /// The name that it reports, for example `"gnome-shell"`; empty if it has not described itself.
  package let name: String
  /// Its version.
  package let version: String
  /// The reply to `GetCapabilities`.
  package let capabilities: Set<String>

  /// The owner of the server's name, with its reply to `GetCapabilities`.
  package init(bus: String = "", owner: String, name: String = "", version: String = "", capabilities: Set<String>) {
    self.bus = bus
    self.owner = owner
    self.name = name
    self.version = version
    self.capabilities = capabilities
  }

  /// Whether it shows buttons and reports clicks.
  var hasActions: Bool { capabilities.contains("actions") }
  /// Whether it reads the body as markup.
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
