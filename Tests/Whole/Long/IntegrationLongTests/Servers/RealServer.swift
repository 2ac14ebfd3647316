import Glibc
import Testing

/// A notification server of Debian 12: how to start it, and where a user clicks on its notifications.
///
/// `Packaging/try-notification-server` uses the same names.
struct RealServer: Sendable, CustomTestStringConvertible {
  /// The surface that a server draws on.
  enum Ground: Sendable {
    /// An X screen that is otherwise empty.
    case screen
    /// sway, in a window of that screen.
    case sway
    /// The server is a complete desktop, which does not run as root.
    case itself
  }

  /// A place on a notification, in pixels from its left and upper edge. Negative values start at the right and the
  /// lower edge.
  struct Click: Sendable {
    let x: Int
    let y: Int
    var button = 1
  }

  let testDescription: String
  /// The name that the server reports.
  let ownName: String
  /// The Debian package that holds `program`.
  let package: String
  /// An absolute path, or a name to look up.
  let program: String
  var arguments: [String] = []
  var ground = Ground.screen
  /// Files of `/usr/share/dbus-1/services` that let the bus start the server or its dependencies.
  var services: [String] = []
  /// Whether the bus starts the server.
  var isActivated = false
  /// More environment variables for the server.
  var environment: [String: String] = [:]
  /// The log line of a server that is ready, if its bus name appears too early.
  var readyLine: String?
  /// A file in `$XDG_DATA_HOME`. Without it the server starts with its own notification.
  var greeted: String?
  /// The key that reveals the desktop after its start.
  var firstKey: String?
  /// The part of the screen to compare, as width, height and position: desktops have clocks.
  var area: String?
  /// Opens the link of the tag.
  let opening: Click
  /// Closes the notification.
  let closing: Click
  /// The state of a tap after its notification was closed.
  var closedState = "dismissed"
  /// Whether a click includes an activation token.
  var givesToken = false
  /// Whether a notification that is shown again after a crash of the server appears at once.
  var showsAgain = true
  /// Whether a notification appears on the screen directly after another was closed, and not only in a list.
  var showsAfterClosing = true
  /// Whether the server removes notifications that have no timeout.
  var expires = false
  /// The command that switches do-not-disturb, without its last argument `true` or `false`. Empty if the server has
  /// none or it was not tried.
  var quieting: [String] = []

  var screenSize: String { area == nil ? "800x600" : "1024x768" }

  /// The servers to test: those named by the environment, or else the light ones.
  static var tested: [RealServer] {
    guard let names = getenv("TAGROUTE_NOTIFICATION_SERVERS").map({ String(cString: $0) }) else { return light }
    return names.split(separator: ",").map { name in
      // An unknown server fails when it is started.
      (light + heavy).first { $0.testDescription == name }
        ?? RealServer(
          testDescription: String(name), ownName: "", package: "", program: "/nonexistent/\(name)",
          opening: Click(x: 0, y: 0), closing: Click(x: 0, y: 0))
    }
  }

  /// The servers with a do-not-disturb command.
  static var quietable: [RealServer] { tested.filter { !$0.quieting.isEmpty } }

  /// The servers that stay on the bus without notifications.
  static var staying: [RealServer] { tested.filter { !$0.isActivated } }

  /// The servers that remove unanswered notifications.
  static var expiring: [RealServer] { tested.filter(\.expires) }

  /// The packages of these servers are required for all tests.
  static let light = [
    // The left button closes, the middle button opens.
    RealServer(
      testDescription: "dunst", ownName: "dunst", package: "dunst", program: "dunst",
      arguments: ["-conf", "/dev/null"],
      opening: Click(x: 30, y: 20, button: 2), closing: Click(x: 30, y: 20), expires: true,
      quieting: ["dunstctl", "set-paused"]),
    // A click outside the buttons closes.
    RealServer(
      testDescription: "xfce4-notifyd", ownName: "Xfce Notify Daemon", package: "xfce4-notifyd",
      program: "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd", services: ["org.xfce.Xfconf"],
      opening: Click(x: 120, y: -31), closing: Click(x: 30, y: 24), expires: true),
    // Three buttons leave no room for its close button: this is the button Dismiss.
    RealServer(
      testDescription: "notification-daemon", ownName: "Notification Daemon", package: "notification-daemon",
      program: "/usr/lib/notification-daemon/notification-daemon", opening: Click(x: 90, y: 54),
      closing: Click(x: -43, y: 86)),
    // The server leaves the bus when it shows no notification. Its close button reports a timeout.
    RealServer(
      testDescription: "mate-notification-daemon", ownName: "Notification Daemon", package: "mate-notification-daemon",
      program: "/usr/lib/mate-notification-daemon/mate-notification-daemon",
      services: ["org.freedesktop.mate.Notifications"], isActivated: true, opening: Click(x: 120, y: 54),
      closing: Click(x: -32, y: 27), closedState: "expired"),
  ]

  /// The packages of these servers install a desktop: `Packaging/try-notification-server`.
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
