/// A running notification server: one owner of the bus name, and what it can do.
public struct NotificationServer: Sendable, Hashable {
  /// The identifier of the bus that it is on; empty where that is not known.
  public let bus: String
  /// Its unique name on the bus; its signals come from this sender alone.
  public let owner: String
  /// What it calls itself, for example `"gnome-shell"`; empty where it has not said.
  public let name: String
  /// Its version.
  public let version: String
  /// What `GetCapabilities` answered.
  public let capabilities: Set<String>

  /// - Parameters:
  ///   - bus: the identifier of the bus that it is on.
  ///   - owner: its unique name on the bus.
  ///   - name: what it calls itself.
  ///   - version: its version.
  ///   - capabilities: what `GetCapabilities` answered.
  public init(bus: String = "", owner: String, name: String = "", version: String = "", capabilities: Set<String>) {
    self.bus = bus
    self.owner = owner
    self.name = name
    self.version = version
    self.capabilities = capabilities
  }

  /// Whether buttons and clicks come back.
  var hasActions: Bool { capabilities.contains("actions") }
  /// Whether it reads the body as markup.
  var hasBodyMarkup: Bool { capabilities.contains("body-markup") }
  /// Whether it may turn `host.tld/path` in a body into a link of its own, past our actions.
  ///
  /// GNOME Shell's `findUrls` (js/misc/util.js) takes `http://`, `www.` and `foo.xx/`, and Cinnamon has it from there. Only those that were
  /// tried and make no links are taken not to.
  var mayLinkPlainText: Bool { !Self.withoutLinks.contains(name.lowercased()) }

  /// By these names of their own (docs/notifications.md); mate-notification-daemon has that of notification-daemon.
  private static let withoutLinks: Set = [
    "dunst", "lxqt-notificationd", "mako", "notification daemon", "plasma", "swaynotificationcenter",
    "xfce notify daemon",
  ]
  /// Whether it has said what it is. GNOME Shell has its name on the bus before it can.
  var isKnown: Bool { !name.isEmpty }
  /// Whether it shows the `default` action as a button beside the others.
  ///
  /// xfce4-notifyd and lxqt-notificationd do, and Dunst in its menu, as seen on the real ones of Debian 12.
  var showsDefaultAction: Bool { takesLoneAction || name.lowercased() == "xfce notify daemon" }
  /// Whether a click on the notification itself invokes the only action, whatever its key.
  var takesLoneAction: Bool { ["dunst", "lxqt-notificationd"].contains(name.lowercased()) }
}
