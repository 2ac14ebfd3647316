import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestKit

@testable import IntegrationTests

/// A virtual screen with a real notification server on it, and a simulated mouse.
///
/// No server reports what it draws or when an animation has ended, so the tests compare pictures. A slow machine takes
/// fewer of them. Only the time limit of the test ends a wait.
actor RealServerScreen {
  /// A rectangle in pixels.
  struct Box: Sendable, Hashable {
    let width: Int
    let height: Int
    let x: Int
    let y: Int
  }

  /// The variables for the language of the requested pictures. Without a request the language is English.
  static var language: [String: String] {
    ProcessEnvironment.current.filter {
      getenv(pictureFolder) != nil && ["LANGUAGE", "LC_ALL", "TAGROUTE_LOCALE"].contains($0.key)
    }
  }

  private static let pictureFolder = "TAGROUTE_SCREENSHOTS"
  private static let size = "1280x800"

  private let server: RealServer
  private let desktop: Desktop
  private let screen: VirtualScreen
  private let pictures: TemporaryDirectory
  private var environment: [String: String]
  private var companion: ChildProcess?
  private var process: ChildProcess?
  private var count = 0

  /// Creates the screen, and starts only the surface that the server draws on.
  init(_ server: RealServer, on desktop: Desktop) async throws {
    self.server = server
    self.desktop = desktop
    screen = try await VirtualScreen(size: Self.size)
    pictures = try TemporaryDirectory()
    environment = desktop.installation.environment.merging(server.environment) { _, given in given }
    environment["DISPLAY"] = screen.display
    environment["XDG_DATA_DIRS"] = "/usr/share"
    environment["XDG_CONFIG_DIRS"] = "/etc/xdg"
    environment["NO_AT_BRIDGE"] = server.services.contains("org.a11y.Bus") ? "0" : "1"
    // Settings are read and kept in memory.
    environment["GSETTINGS_BACKEND"] = "memory"
    try await provideServices()
    if let file = server.greeted { try desktop.installation.directory.write("", to: "home/share/\(file)") }
    if server.ground == .sway { try await startSway() }
    if server.ground == .itself { letNobodyIn() }
  }

  // MARK: The server

  /// Starts the server, unless the bus does.
  func start() async throws {
    if server.isActivated { return }
    let program =
      server.program.hasPrefix("/")
      ? server.program : try BuiltProducts.systemProgram(server.program, package: server.package)
    guard access(program, X_OK) == 0 else {
      throw RigError("\(program) is not installed: run Packaging/try-notification-server \(server.testDescription)")
    }
    process = try child(program, server.arguments, asNobody: server.ground == .itself)
    if let line = server.readyLine { try await process?.line(containing: line) }
  }

  /// Kills the server, as a crash would.
  func kill() async throws {
    if let process {
      try await process.exit(after: SIGKILL)
    } else {
      let connection = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "screen"))
      let reply = try await connection.call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
        [.string("org.freedesktop.Notifications")])
      await connection.close()
      guard let identifier = reply.first?.asUInt32 else {
        throw RigError("the bus does not know the process of the server")
      }
      Glibc.kill(Int32(identifier), SIGKILL)
    }
  }

  /// Switches do-not-disturb, as the user does.
  func setQuiet(_ isQuiet: Bool) async throws {
    let program = try BuiltProducts.systemProgram(server.quieting.first ?? "", package: server.package)
    let arguments = Array(server.quieting.dropFirst()) + ["\(isQuiet)"]
    let result = try await ChildProcess.run(program, arguments, environment: environment)
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
  }

  /// Whether the screen looks the same as before the first notification.
  func isEmpty() async throws -> Bool { try await difference(pictures.file("before.png"), calm(for: 2)) == nil }

  /// Ends all programs on the screen.
  func stop() async {
    for process in [process, companion, screen.process] { process?.signal(SIGTERM) }
  }

  /// Lets the bus start the programs that the server needs.
  private func provideServices() async throws {
    guard let bus = desktop.installation.sessionBus, !server.services.isEmpty else { return }
    for service in server.services {
      let file = "/usr/share/dbus-1/services/\(service).service"
      guard symlink(file, "\(bus.servicesDirectory)/\(service).service") == 0, access(file, R_OK) == 0 else {
        throw RigError("\(file) is missing: run Packaging/try-notification-server \(server.testDescription)")
      }
    }
    let connection = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "screen"))
    let variables = ["DISPLAY", "XDG_DATA_DIRS", "NO_AT_BRIDGE", "GSETTINGS_BACKEND"].map {
      DictionaryEntry(.string($0), .string(environment[$0] ?? ""))
    }
    for (method, arguments) in [
      ("ReloadConfig", [Value]()),
      ("UpdateActivationEnvironment", [Value.dictionary(key: "s", value: "s", variables)]),
    ] {
      _ = try await connection.call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, arguments)
    }
    await connection.close()
  }

  /// Starts sway in a window of the screen. Clicks on the window are clicks in sway.
  private func startSway() async throws {
    let sway = try BuiltProducts.systemProgram("sway", package: "sway")
    let settings = try desktop.installation.directory.write(
      """
      output * resolution \(Self.size) bg #336699 solid_color
      default_border none
      xwayland disable
      exec echo "socket=$WAYLAND_DISPLAY"
      """, to: "sway/config")
    let folder = desktop.installation.directory.file("sway")
    letNobodyIn(folder)
    environment["WLR_BACKENDS"] = "x11"
    environment["WLR_RENDERER"] = "pixman"
    let runtime = environment["XDG_RUNTIME_DIR"]
    environment["XDG_RUNTIME_DIR"] = folder
    let process = try child(sway, ["--config", settings], asNobody: true)
    companion = process
    let socket = try await process.line(containing: "socket=").split(separator: "=").last ?? ""
    environment["WAYLAND_DISPLAY"] = "\(folder)/\(socket)"
    environment["XDG_RUNTIME_DIR"] = runtime
    environment["DISPLAY"] = nil
  }

  /// Starts a program as the user `nobody` if necessary: sway does not run as root, and GNOME Shell warns root.
  private func child(_ program: String, _ arguments: [String], asNobody: Bool) throws -> ChildProcess {
    guard asNobody, geteuid() == 0 else { return try ChildProcess(program, arguments, environment: environment) }
    return try ChildProcess(
      "/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", program] + arguments,
      environment: environment)
  }

  private func letNobodyIn(_ folder: String? = nil) {
    guard geteuid() == 0 else { return }
    let directory = desktop.installation.directory
    chmod(directory.path, 0o711)
    for folder in folder.map({ [$0] })
      ?? ["home", "home/share", "home/share/gnome-shell", "config", "state", "runtime"].map(directory.file)
    {
      chown(folder, 65534, 65534)
    }
  }

  // MARK: Pictures and the mouse

  /// Stores a picture of the screen without notifications, once it no longer changes.
  func remember() async throws {
    try await run("xdotool", "xdotool", ["mousemove", "4", "300"])
    var picture = try await calm(for: 4)
    if let key = server.firstKey {
      try await run("xdotool", "xdotool", ["key", key])
      picture = try await calm(for: 4)
    }
    guard rename(picture, pictures.file("before.png")) == 0 else {
      throw RigError("cannot store a picture of the screen")
    }
  }

  /// Waits until this number of consecutive pictures are the same. Returns the last picture.
  private func calm(for most: Int) async throws -> String {
    var (last, calm) = (try await photograph(), 0)
    while calm < most {
      let now = try await photograph()
      calm = try await difference(last, now) == nil ? calm + 1 : 0
      last = now
    }
    return last
  }

  /// Waits until a notification is on the screen and no longer moves. It has to be there for `time`, as if a user reads
  /// it. Stores a picture with this name for the documentation, if the environment asks for pictures. Throws `RigError`
  /// if there is no picture of the screen.
  func shown(for time: Duration = .zero, storedAs name: String? = nil) async throws -> Box {
    var (last, since) = (try await photograph(), ContinuousClock.now)
    while true {
      let now = try await photograph()
      if let box = try await difference(pictures.file("before.png"), now), try await difference(last, now) == nil {
        if .now - since >= time {
          if let name { try await store(now, box, as: name) }
          return box
        }
      } else {
        since = .now
      }
      last = now
    }
  }

  /// Whether no part of a notification is beyond an edge of the screen. No server puts one at the very edge.
  static func holds(_ box: Box) -> Bool {
    let numbers = size.split(separator: "x").compactMap { Int($0) }
    return box.x > 0 && box.y > 0 && box.x + box.width < numbers[0] && box.y + box.height < numbers[1]
  }

  /// Waits until the screen looks the same as before the first notification.
  func empty() async throws {
    while try await difference(pictures.file("before.png"), photograph()) != nil {}
  }

  /// Moves the pointer to a place and clicks, like a user.
  func click(_ click: RealServer.Click, in box: Box) async throws {
    try await point(click, in: box)
    try await press(click)
  }

  /// Moves the pointer to a place, and waits until the notification has reacted.
  func point(_ click: RealServer.Click, in box: Box) async throws {
    let x = box.x + (click.x < 0 ? box.width + click.x : click.x)
    let y = box.y + (click.y < 0 ? box.height + click.y : click.y)
    // Some servers show their close button only under the pointer. The pointer has to move over the notification and
    // the button.
    try await run("xdotool", "xdotool", ["mousemove", "\(x - 4)", "\(y)"])
    _ = try await calm(for: 2)
    try await run("xdotool", "xdotool", ["mousemove", "\(x)", "\(y)"])
    _ = try await calm(for: 1)
  }

  /// Presses the button under the pointer, and moves the pointer away.
  func press(_ click: RealServer.Click) async throws {
    try await run("xdotool", "xdotool", ["click", "\(click.button)"])
    try await run("xdotool", "xdotool", ["mousemove", "4", "300"])
  }

  private func photograph() async throws -> String {
    // Loops that wait for a picture end with the time limit of the test.
    try Task.checkCancellation()
    count += 1
    let file = pictures.file("\(count).png")
    try await run("import", "imagemagick", ["-window", "root", "-quality", "1", file])
    if count > 3 { unlink(pictures.file("\(count - 3).png")) }
    return file
  }

  /// The smallest rectangle that contains all differences, or nil if the pictures are equal.
  private func difference(_ one: String, _ other: String) async throws -> Box? {
    let crop = server.area.map { ["-crop", $0, "+repage"] } ?? []
    let output = try await run(
      "convert", "imagemagick",
      [one, other] + crop + ["-compose", "difference", "-composite", "-threshold", "1%", "-format", "%@", "info:"])
    let numbers = output.split { !$0.isNumber }.compactMap { Int($0) }
    guard numbers.count == 4, numbers[0] > 0, numbers[1] > 0, !output.contains("-") else { return nil }
    let offset = server.area?.split(separator: "+").dropFirst().compactMap { Int($0) } ?? [0, 0]
    return Box(width: numbers[0], height: numbers[1], x: numbers[2] + offset[0], y: numbers[3] + offset[1])
  }

  private func store(_ picture: String, _ box: Box, as name: String) async throws {
    guard let folder = getenv(Self.pictureFolder).map({ String(cString: $0) }) else { return }
    let file = "\(folder)/\(name).png"
    let crop = "\(box.width + 32)x\(box.height + 32)+\(max(box.x - 16, 0))+\(max(box.y - 16, 0))"
    let arguments = [picture, "-crop", crop, "+repage", "-strip", "+dither", "-colors", "128", file]
    try await run("convert", "imagemagick", arguments)
  }

  @discardableResult
  private func run(_ program: String, _ package: String, _ arguments: [String]) async throws -> String {
    let result = try await ChildProcess.run(
      BuiltProducts.systemProgram(program, package: package), arguments,
      environment: ["DISPLAY": screen.display, "HOME": pictures.path, "PATH": "/usr/bin:/bin"])
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
    return result.output
  }
}

extension RealServerScreen {
  /// Starts everything, with an empty screen. With the server's own timeout, a slow machine might see only the end of a
  /// notification.
  ///
  /// `files` are written below the installation's directory before anything is started.
  static func stage(
    _ server: RealServer, timeout: String = "never", isSystems: Bool = true, files: [String: String] = [:],
    starter: String = #function
  ) async throws -> (desktop: Desktop, screen: RealServerScreen, taps: Taps) {
    let desktop = try await Desktop(environment: language, isSystems: isSystems, starter: starter)
    try desktop.installation.directory.write("[Notifications]\nTimeout=\(timeout)\n", to: "agent.conf")
    for (path, text) in files { try desktop.installation.directory.write(text, to: path) }
    let screen = try await RealServerScreen(server, on: desktop)
    atEndOfTest { await screen.stop() }
    try await screen.start()
    try await desktop.start()
    let taps = try await Taps(on: desktop.sessionBus)
    if !server.isActivated { try await desktop.agent.line(containing: "notifications go to \(server.ownName)") }
    try await screen.remember()
    return (desktop, screen, taps)
  }
}

/// The events of the agent's taps, in order.
actor Taps {
  private let agent: AgentClient
  private var events: AsyncStream<AgentClient.Event>.Iterator

  init(on bus: BusAddress) async throws {
    agent = try await AgentClient.connect(to: bus, on: EventLoop(label: "taps"))
    events = try await agent.events().makeAsyncIterator()
  }

  func received() async throws -> String {
    while let event = await next() {
      if case .received(let id) = event { return id }
    }
    throw RigError("the signals of the agent ended")
  }

  func end(of id: String) async -> String? {
    while let event = await next() {
      if case .closed(id, let state) = event { return state }
    }
    return nil
  }

  private func next() async -> AgentClient.Event? {
    var events = events
    defer { self.events = events }
    return await events.next(isolation: self)
  }
}
