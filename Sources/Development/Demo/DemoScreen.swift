import Bus
import EventLoop
import Glibc
import Rig

/// The screen for the demo's notification: this desktop, or a virtual screen (Xvfb with dunst).
struct DemoScreen {
  private static let notifications = "org.freedesktop.Notifications"
  private static let startLimit = Duration.seconds(60)

  enum Kind: Hashable {
    /// This desktop, with the name of its notification server.
    case desktop(server: String)
    /// A virtual screen, on which only a program can click, and why the desktop is not used. No reason is given if the
    /// user wants no desktop.
    case virtual(reason: String?)
  }

  let kind: Kind
  /// The environment variables that programs need to draw there.
  let environment: [String: String]
  /// The desktop's session bus; nil for a virtual screen, which gets a private bus.
  let sessionBus: String?
  private let server: ChildProcess?
  private let notifier = Holder()

  /// Keeps the notification server running as long as the screen.
  private actor Holder {
    var process: ChildProcess?

    func hold(_ process: ChildProcess) { self.process = process }

    func log() async -> [String] { await process?.log() ?? [] }
  }

  var isVirtual: Bool { server != nil }

  /// Uses this desktop if it can show a notification and a person clicks; otherwise starts a virtual screen.
  static func open(isUnattended: Bool) async throws -> DemoScreen {
    let own = ProcessEnvironment.current
    let drawing = own.filter { ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"].contains($0.key) }
    var reason = isUnattended ? nil : "no desktop here"
    if !isUnattended, let bus = own["DBUS_SESSION_BUS_ADDRESS"], drawing["DISPLAY"] ?? drawing["WAYLAND_DISPLAY"] != nil
    {
      do throws(BusError) {
        let name = try await notificationServer(on: bus)
        return DemoScreen(kind: .desktop(server: name), environment: drawing, sessionBus: bus, server: nil)
      } catch {
        reason = "this desktop cannot show the notification: \(error.message)"
      }
    }
    let program: String
    do {
      program = try BuiltProducts.systemProgram("Xvfb", package: "xvfb")
    } catch {
      throw RigError([reason, "\(error)"].compactMap(\.self).joined(separator: "; "))
    }
    let server = try ChildProcess(
      program, ["-displayfd", "1", "-screen", "0", "640x240x24", "-nolisten", "tcp"],
      environment: ["PATH": "/usr/bin:/bin"])
    let number = try await server.line { !$0.isEmpty && $0.allSatisfy(\.isNumber) }
    return DemoScreen(
      kind: .virtual(reason: reason), environment: ["DISPLAY": ":\(number)"], sessionBus: nil, server: server)
  }

  /// The name of the notification server on a session bus, which the bus may start for this call. Fails if there is
  /// none, or if its notifications have no buttons.
  private static func notificationServer(on bus: String) async throws(BusError) -> String {
    let connection = try await Connection.open(BusAddress(bus), on: EventLoop(label: "demo"))
    func ask(_ member: String) async throws(BusError) -> Value? {
      try await connection.call(notifications, "/org/freedesktop/Notifications", notifications, member).first
    }
    let name = try await ask("GetServerInformation")?.asString ?? ""
    let capabilities = try await ask("GetCapabilities")?.asArray ?? []
    await connection.close()
    guard capabilities.contains(.string("actions")) else { throw .failed("\(name) shows no buttons") }
    return name
  }

  /// The log of the virtual screen's notification server.
  func log() async -> [String] { await notifier.log() }

  /// Starts the notification server of a virtual screen, and waits until it owns its bus name, or has ended.
  func startServer(in installation: Installation) async throws {
    guard server != nil else { return }
    // The program that dunst runs to choose an action. The order of the lines is that of a hash table, and each ends with
    // the action's key.
    let menu = try installation.directory.write("#!/bin/sh\nexec grep -F -m 1 ,allow.\n", to: "choose", mode: 0o755)
    let settings = try installation.directory.write("[global]\n    dmenu = \(menu)\n", to: "dunstrc")
    let dunst = try await installation.start(
      BuiltProducts.systemProgram("dunst", package: "dunst"), ["-conf", settings])
    await notifier.hold(dunst)
    let bus = BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "")
    let connection = try await Connection.open(bus, on: EventLoop(label: "demo"))
    let owners = try await connection.owners(of: Self.notifications)
    let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self)
    Task {
      for await owner in owners where owner != nil {
        outcome.yield(true)
        return
      }
    }
    Task {
      _ = try? await dunst.exit(within: Self.startLimit)
      outcome.yield(false)
    }
    for await isReady in outcomes {
      guard !isReady else { break }
      throw RigError("dunst has ended, or did not start within \(Self.startLimit)", log: await dunst.log())
    }
    await connection.close()
  }

  /// Stores a picture of the whole screen.
  func photograph(to file: String) async throws {
    try await waitForWindow()
    try await run("import", "imagemagick", ["-window", "root", file], environment: environment)
  }

  /// Allows the app to open the link. dunst has the buttons in a menu.
  func click(in installation: Installation) async throws {
    try await waitForWindow()
    try await run("dunstctl", "dunst", ["context"], environment: installation.environment)
  }

  private func waitForWindow() async throws {
    try await run(
      "xdotool", "xdotool", ["search", "--sync", "--onlyvisible", "--class", "Dunst"], environment: environment)
  }

  private func run(
    _ program: String, _ package: String, _ arguments: [String], environment: [String: String]
  ) async throws {
    let result = try await ChildProcess.run(
      BuiltProducts.systemProgram(program, package: package), arguments, environment: environment)
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
  }
}
