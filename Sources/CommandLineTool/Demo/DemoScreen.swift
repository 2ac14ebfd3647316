import EventLoop
import Glibc
import Rig

/// The screen for the demo's notification: this desktop, or a virtual screen (Xvfb with dunst).
struct DemoScreen {
  /// The environment variables that programs need to draw there.
  let environment: [String: String]
  /// The desktop's session bus; nil for a virtual screen, which gets a private bus.
  let sessionBus: String?
  private let server: ChildProcess?
  private let notifications = Holder()

  /// Keeps the notification server running as long as the screen.
  private actor Holder {
    var process: ChildProcess?

    func hold(_ process: ChildProcess) { self.process = process }
  }

  /// Whether it is a virtual screen, on which only a program can click.
  var isVirtual: Bool { server != nil }

  /// Uses this desktop if there is one and a person clicks; otherwise starts a virtual screen.
  static func open(isUnattended: Bool) async throws -> DemoScreen {
    let own = ProcessEnvironment.current
    let drawing = own.filter { ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"].contains($0.key) }
    if !isUnattended, let bus = own["DBUS_SESSION_BUS_ADDRESS"], drawing["DISPLAY"] ?? drawing["WAYLAND_DISPLAY"] != nil
    {
      return DemoScreen(environment: drawing, sessionBus: bus, server: nil)
    }
    let program = try BuiltProducts.systemProgram("Xvfb", package: "xvfb")
    let server = try ChildProcess(
      program, ["-displayfd", "1", "-screen", "0", "640x240x24", "-nolisten", "tcp"],
      environment: ["PATH": "/usr/bin:/bin"])
    let number = try await server.line { !$0.isEmpty && $0.allSatisfy(\.isNumber) }
    return DemoScreen(environment: ["DISPLAY": ":\(number)"], sessionBus: nil, server: server)
  }

  /// Starts the notification server of a virtual screen, and waits until it owns its bus name.
  func startServer(in installation: Installation) async throws {
    guard server != nil else { return }
    let dunst = try await installation.start(BuiltProducts.systemProgram("dunst", package: "dunst"))
    await notifications.hold(dunst)
    try await run(
      "gdbus", "libglib2.0-bin",
      [
        "wait", "--session", "--timeout", "20", "org.freedesktop.Notifications",
      ], environment: installation.environment)
  }

  /// Stores a picture of the whole screen.
  func photograph(to file: String) async throws {
    try await waitForWindow()
    try await run("import", "imagemagick", ["-window", "root", file], environment: environment)
  }

  /// Clicks the notification. In dunst, the middle button invokes the action.
  func click() async throws {
    let window = try await waitForWindow()
    try await run(
      "xdotool", "xdotool", ["mousemove", "--window", window, "30", "20", "click", "2"], environment: environment)
  }

  @discardableResult
  private func waitForWindow() async throws -> String {
    let found = try await run(
      "xdotool", "xdotool", ["search", "--sync", "--onlyvisible", "--class", "Dunst"], environment: environment)
    guard let window = found.split(separator: "\n").first else { throw RigError("dunst shows no window") }
    return String(window)
  }

  @discardableResult
  private func run(
    _ program: String, _ package: String, _ arguments: [String], environment: [String: String]
  ) async throws -> String {
    let result = try await ChildProcess.run(
      BuiltProducts.systemProgram(program, package: package), arguments, environment: environment)
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
    return result.output
  }
}
