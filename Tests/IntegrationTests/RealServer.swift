import Glibc
import Testing

/// A notification server as Debian 12 has it: how it is started, and where a person clicks on what it shows.
///
/// `Packaging/try-notification-server` knows them by the same names.
struct RealServer: Sendable, CustomTestStringConvertible {
  /// What a server draws on.
  enum Ground: Sendable {
    /// An X screen with nothing else on it.
    case screen
    /// sway, in a window of that screen.
    case sway
    /// It is a desktop of its own, which does not run as root.
    case itself
  }

  /// A place on a notification, in pixels from its left and upper edge, or where negative from the right and the lower one.
  struct Click: Sendable {
    let x: Int
    let y: Int
    var button = 1
  }

  let testDescription: String
  /// What it calls itself.
  let ownName: String
  /// The Debian package that holds `program`.
  let package: String
  /// An absolute path, or a name to look up.
  let program: String
  var arguments: [String] = []
  var ground = Ground.screen
  /// Files of `/usr/share/dbus-1/services` by which the bus starts what the server needs, or the server itself.
  var services: [String] = []
  /// Whether the bus starts it.
  var isActivated = false
  /// More variables for it.
  var environment: [String: String] = [:]
  /// What it says when it can be used, where its name on the bus says so too early.
  var readyLine: String?
  /// A file of `$XDG_DATA_HOME` without which it begins with a notification of its own.
  var greeted: String?
  /// A key without which the desktop does not show itself.
  var firstKey: String?
  /// What of the screen is looked at, width, height and place: desktops have clocks.
  var area: String?
  /// Opens what is on the tag.
  let opening: Click
  /// Takes the notification away.
  let closing: Click
  /// The state that closing leaves a tap in.
  var closedState = "dismissed"
  /// Whether a click comes with an activation token.
  var givesToken = false
  /// Whether what is shown again after its death is to be seen at once.
  var showsAgain = true
  /// Whether what follows a closed one at once is to be seen on the screen, and not only in a list.
  var showsAfterClosing = true
  /// Whether it takes away by itself what has no time-out of its own.
  var expires = false
  /// Switches do-not-disturb, with `true` or `false` behind it; empty where it has none, or where it was not tried.
  var quieting: [String] = []

  var screenSize: String { area == nil ? "800x600" : "1024x768" }

  /// Those that are tested: the light ones always, and those that the environment names.
  static var tested: [RealServer] {
    guard let names = getenv("TAGROUTE_NOTIFICATION_SERVERS").map({ String(cString: $0) }) else { return light }
    return names.split(separator: ",").map { name in
      // One that nobody knows fails when it is started.
      (light + heavy).first { $0.testDescription == name }
        ?? RealServer(
          testDescription: String(name), ownName: "", package: "", program: "/nonexistent/\(name)",
          opening: Click(x: 0, y: 0), closing: Click(x: 0, y: 0))
    }
  }

  /// Those whose do-not-disturb is tried.
  static var quietable: [RealServer] { tested.filter { !$0.quieting.isEmpty } }

  /// Those that stay on the bus where they have nothing to show.
  static var staying: [RealServer] { tested.filter { !$0.isActivated } }

  /// Those that take away what nobody answers.
  static var expiring: [RealServer] { tested.filter(\.expires) }

  /// Their packages are among those that the tests need.
  static let light = [
    // Its left button closes, its middle one acts.
    RealServer(
      testDescription: "dunst", ownName: "dunst", package: "dunst", program: "dunst",
      arguments: ["-conf", "/dev/null"],
      opening: Click(x: 30, y: 20, button: 2), closing: Click(x: 30, y: 20), expires: true,
      quieting: ["dunstctl", "set-paused"]),
    // A click beside its buttons closes.
    RealServer(
      testDescription: "xfce4-notifyd", ownName: "Xfce Notify Daemon", package: "xfce4-notifyd",
      program: "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd", services: ["org.xfce.Xfconf"],
      opening: Click(x: 120, y: -31), closing: Click(x: 30, y: 24), expires: true),
    RealServer(
      testDescription: "notification-daemon", ownName: "Notification Daemon", package: "notification-daemon",
      program: "/usr/lib/notification-daemon/notification-daemon", opening: Click(x: 90, y: 54),
      closing: Click(x: -22, y: 28)),
    // It leaves the bus where it has nothing to show, and its cross says that the time was up.
    RealServer(
      testDescription: "mate-notification-daemon", ownName: "Notification Daemon", package: "mate-notification-daemon",
      program: "/usr/lib/mate-notification-daemon/mate-notification-daemon",
      services: ["org.freedesktop.mate.Notifications"], isActivated: true, opening: Click(x: 120, y: 54),
      closing: Click(x: -32, y: 27), closedState: "expired"),
  ]

  /// Their packages bring a desktop along: `Packaging/try-notification-server`.
  static let heavy = [
    RealServer(
      testDescription: "lxqt-notificationd", ownName: "lxqt-notificationd", package: "lxqt-notificationd",
      program: "lxqt-notificationd",
      opening: Click(x: 66, y: 42), closing: Click(x: -23, y: 30)),
    RealServer(
      testDescription: "mako", ownName: "mako", package: "mako-notifier", program: "mako", ground: .sway,
      opening: Click(x: 100, y: 20),
      closing: Click(x: 100, y: 20, button: 3), givesToken: true),
    RealServer(
      testDescription: "swaync", ownName: "SwayNotificationCenter", package: "sway-notification-center",
      program: "swaync", ground: .sway,
      opening: Click(x: 60, y: 40), closing: Click(x: -33, y: 24), showsAfterClosing: false),
    RealServer(
      testDescription: "gnome-shell", ownName: "gnome-shell", package: "gnome-shell", program: "gnome-shell",
      arguments: ["--x11", "--sm-disable"],
      ground: .itself, services: ["org.gnome.Shell.Notifications", "org.gnome.Shell.CalendarServer"],
      readyLine: "GNOME Shell started", greeted: "gnome-shell/lock-warning-shown", firstKey: "Escape",
      area: "1024x736+0+32", opening: Click(x: 180, y: 30),
      closing: Click(x: -24, y: 24),
      showsAgain: false, showsAfterClosing: false),
    RealServer(
      testDescription: "plasma", ownName: "Plasma", package: "plasma-desktop", program: "plasmashell", ground: .itself,
      services: ["org.kde.ActivityManager", "org.kde.kglobalaccel", "org.kde.kded5"],
      environment: ["QT_QUICK_BACKEND": "software", "XDG_CURRENT_DESKTOP": "KDE", "KDE_FULL_SESSION": "true"],
      area: "1024x700+0+0", opening: Click(x: 100, y: 42), closing: Click(x: -16, y: 16), givesToken: true),
  ]
}
