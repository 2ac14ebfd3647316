import EventLoop
import Glibc
import Rig

/// Where the demo's notification appears: this desktop, or a screen that only programs see (Xvfb, with dunst on it).
struct DemoScreen {
  /// What programs need in their environment to draw there.
  let environment: [String: String]
  /// The desktop's own session bus; nil on a screen of our own, which gets a bus of its own too.
  let sessionBus: String?
  private let server: ChildProcess?
  private let notifications = Holder()

  /// Keeps the notification server running as long as the screen.
  private actor Holder {
    var process: ChildProcess?

    func hold(_ process: ChildProcess) { self.process = process }
  }

  /// Whether nobody but a program sees it, so that nobody but a program can click.
  var isVirtual: Bool { server != nil }

  /// Takes this desktop where there is one and a person is to click, else makes a screen.
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

  /// Starts the notification server of a screen of our own, and waits until it has its name.
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

  /// Clicks the notification as a person does: dunst's middle button is the one that acts.
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
