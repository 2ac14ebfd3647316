import Bus
import EventLoop
import Glibc
import TestKit
import Testing

@testable import IntegrationTests

/// A notification server of Debian 12: how to start it, and the places for clicks on its notifications.
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
  var environment: [String: String] = [:]
  /// The log line of a server that is ready, if its bus name appears too early.
  var readyLine: String?
  /// A file in `$XDG_DATA_HOME`. Without it the server starts with its own notification.
  var greeted: String?
  /// The key that reveals the desktop after its start.
  var firstKey: String?
  /// The part of the screen to compare, as width, height and position: desktops have clocks.
  var area: String?
  let opening: Click
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

  static var quietable: [RealServer] { tested.filter { !$0.quieting.isEmpty } }

  /// The servers that stay on the bus without notifications.
  static var staying: [RealServer] { tested.filter { !$0.isActivated } }

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
      opening: Click(x: 59, y: -31), closing: Click(x: 30, y: 24), expires: true),
    RealServer(
      testDescription: "notification-daemon", ownName: "Notification Daemon", package: "notification-daemon",
      program: "/usr/lib/notification-daemon/notification-daemon", opening: Click(x: 90, y: 54),
      closing: Click(x: -23, y: 27)),
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
      area: "1280x768+0+32", opening: Click(x: 180, y: 30),
      closing: Click(x: -24, y: 24),
      showsAgain: false, showsAfterClosing: false),
    RealServer(
      testDescription: "plasma", ownName: "Plasma", package: "plasma-desktop", program: "plasmashell", ground: .itself,
      services: ["org.kde.ActivityManager", "org.kde.kglobalaccel", "org.kde.kded5"],
      environment: ["QT_QUICK_BACKEND": "software", "XDG_CURRENT_DESKTOP": "KDE", "KDE_FULL_SESSION": "true"],
      area: "1280x732+0+0", opening: Click(x: 100, y: 42), closing: Click(x: -16, y: 16), givesToken: true),
  ]
}

/// The buttons of a real notification server, found by their labels, as a user finds them.
struct RealServerButtons {
  /// A server with buttons that can be found.
  struct Kind: Sendable, CustomTestStringConvertible {
    /// How a button is found and pressed.
    enum Way: Sendable {
      /// The server has a menu of all actions, and another program chooses from it.
      case menu
      /// The server tells assistive technologies its labels and places (AT-SPI), and the mouse clicks there.
      case labels
    }

    let server: RealServer
    let way: Way

    var testDescription: String { server.testDescription }

    /// Those of the tested servers that also have a setting against expiry. Otherwise the notification about the opened
    /// app does not wait for an answer, and a slow machine would be too late.
    static let tested: [Kind] = RealServer.tested.compactMap { server in
      switch server.testDescription {
      case "dunst": return Kind(server: server, way: .menu)
      case "xfce4-notifyd":
        var server = server
        server.services.append("org.a11y.Bus")
        return Kind(server: server, way: .labels)
      default: return nil
      }
    }
  }

  private let way: Kind.Way
  private let desktop: Desktop
  private let screen: RealServerScreen
  /// The bus of the assistive technologies; nil if the server does not need it.
  private let labels: Labels?

  /// Starts everything, with an empty screen.
  static func stage(
    _ kind: Kind, starter: String = #function
  ) async throws -> (desktop: Desktop, screen: RealServerScreen, buttons: RealServerButtons) {
    let desktop = try await Desktop(starter: starter)
    let directory = desktop.installation.directory
    try directory.write("[Notifications]\nTimeout=never\n", to: "agent.conf")
    var server = kind.server
    switch kind.way {
    case .menu:
      // The program that dunst runs to choose an action.
      let menu = try directory.write(
        "#!/bin/sh\nexec grep -m 1 -F -f \"\(directory.file("wanted"))\"\n", to: "choose", mode: 0o755)
      let settings = try directory.write(
        "[global]\n    dmenu = \(menu)\n[urgency_low]\n    timeout = 0\n[urgency_normal]\n    timeout = 0\n",
        to: "dunstrc")
      server.arguments = ["-conf", settings]
    case .labels:
      try directory.write(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <channel name="xfce4-notifyd" version="1.0">
          <property name="expire-timeout" type="int" value="3600"/>
        </channel>
        """, to: "config/xfce4/xfconf/xfce-perchannel-xml/xfce4-notifyd.xml")
    }
    let screen = try await RealServerScreen(server, on: desktop)
    atEndOfTest { await screen.stop() }
    try await screen.start()
    try await desktop.start()
    try await desktop.agent.line(containing: "notifications go to \(server.ownName)")
    try await screen.remember()
    var labels: Labels?
    if kind.way == .labels { labels = try await Labels(on: desktop.sessionBus) }
    return (desktop, screen, RealServerButtons(way: kind.way, desktop: desktop, screen: screen, labels: labels))
  }

  /// Presses the button with this label, once it is there.
  func press(_ label: String) async throws {
    guard let labels else {
      // The menu has the label, the title in brackets, and numbers.
      try desktop.installation.directory.write("#\(label) (\n", to: "wanted")
      let control = try BuiltProducts.systemProgram("dunstctl", package: "dunst")
      let status = try await desktop.installation.start(control, ["context"]).exit()
      guard status == .exited(0) else { throw RigError("dunstctl failed: \(status)") }
      return
    }
    let box = try await labels.place(of: label)
    try await screen.click(RealServer.Click(x: box.width / 2, y: box.height / 2), in: box)
  }
}

/// The labels on the screen, as assistive technologies read them: the interfaces of AT-SPI on their own bus.
private struct Labels {
  private struct Element: Sendable {
    let owner: String
    let path: ObjectPath
  }

  private static let registry = "org.a11y.atspi.Registry"
  private static let accessible = "org.a11y.atspi.Accessible"
  /// A window of a notification has about six levels.
  private static let deepest = 16

  private let bus: Connection

  /// Finds the bus, which the session bus starts.
  init(on session: BusAddress) async throws {
    let connection = try await Connection.open(session, on: EventLoop(label: "labels"))
    let reply = try await connection.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
    await connection.close()
    guard let address = reply.first?.asString else { throw RigError("org.a11y.Bus has answered \(reply)") }
    let bus = try await Connection.open(BusAddress(address), on: connection.loop)
    self.bus = bus
    atEndOfTest { await bus.close() }
  }

  /// The place of the first visible element with this name, once there is one.
  func place(of label: String) async throws -> RealServerScreen.Box {
    let root = Element(owner: Self.registry, path: "/org/a11y/atspi/accessible/root")
    while true {
      // The loop ends with the time limit of the test.
      try Task.checkCancellation()
      if let box = await find(label, in: root, depth: 0) { return box }
    }
  }

  /// Elements may go while they are asked. These have no name and no children then.
  private func find(_ label: String, in element: Element, depth: Int) async -> RealServerScreen.Box? {
    if depth > 0, await name(of: element) == label, let box = await box(of: element) { return box }
    guard depth < Self.deepest else { return nil }
    for child in await children(of: element) {
      if let box = await find(label, in: child, depth: depth + 1) { return box }
    }
    return nil
  }

  private func name(of element: Element) async -> String? {
    let reply = try? await bus.call(
      element.owner, element.path, "org.freedesktop.DBus.Properties", "Get",
      [.string(Self.accessible), .string("Name")])
    return reply?.first?.unwrapped.asString
  }

  private func children(of element: Element) async -> [Element] {
    let reply = try? await bus.call(element.owner, element.path, Self.accessible, "GetChildren")
    return (reply?.first?.asArray ?? []).compactMap { child in
      guard let parts = child.asStructure, parts.count == 2, let owner = parts[0].asString,
        let path = parts[1].asObjectPath
      else { return nil }
      return Element(owner: owner, path: path)
    }
  }

  /// The place on the screen; nil if the element is not shown.
  private func box(of element: Element) async -> RealServerScreen.Box? {
    // `ATSPI_COORD_TYPE_SCREEN`
    let reply = try? await bus.call(
      element.owner, element.path, "org.a11y.atspi.Component", "GetExtents", [.uint32(0)])
    guard let numbers = reply?.first?.asStructure?.compactMap(\.asInt32), numbers.count == 4, numbers[0] >= 0,
      numbers[1] >= 0, numbers[2] > 0, numbers[3] > 0
    else { return nil }
    return RealServerScreen.Box(
      width: Int(numbers[2]), height: Int(numbers[3]), x: Int(numbers[0]), y: Int(numbers[1]))
  }
}
