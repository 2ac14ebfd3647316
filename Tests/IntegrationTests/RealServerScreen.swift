import Bus
import EventLoop
import Glibc
import TestSupport

/// A screen that only programs see, with a real notification server on it, and a hand with a mouse.
actor RealServerScreen {
  /// A rectangle in pixels.
  struct Box: Sendable, Hashable {
    let width: Int
    let height: Int
    let x: Int
    let y: Int
  }

  /// The language of the pictures that are asked for; English where none is.
  static var language: [String: String] {
    ProcessEnvironment.current.filter {
      getenv(pictureFolder) != nil && ["LANGUAGE", "LC_ALL", "TAGROUTE_LOCALE"].contains($0.key)
    }
  }

  private static let pictureFolder = "TAGROUTE_SCREENSHOTS"

  private let server: RealServer
  private let desktop: Desktop
  private let screen: VirtualScreen
  private let pictures: TemporaryDirectory
  private var environment: [String: String]
  private var companion: ChildProcess?
  private var process: ChildProcess?
  private var count = 0

  /// Makes the screen, and starts nothing on it but what the server draws on.
  init(_ server: RealServer, on desktop: Desktop) async throws {
    self.server = server
    self.desktop = desktop
    screen = try await VirtualScreen(size: server.screenSize)
    pictures = try TemporaryDirectory()
    environment = desktop.installation.environment.merging(server.environment) { _, given in given }
    environment["DISPLAY"] = screen.display
    environment["XDG_DATA_DIRS"] = "/usr/share"
    environment["XDG_CONFIG_DIRS"] = "/etc/xdg"
    environment["NO_AT_BRIDGE"] = "1"
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
      throw RigError("\(program) is not installed: Packaging/try-notification-server \(server.testDescription)")
    }
    process = try child(program, server.arguments, asNobody: server.ground == .itself)
    if let line = server.readyLine { try await process?.line(containing: line) }
  }

  /// Ends the server as a crash would.
  func kill() async throws {
    if let process {
      process.signal(SIGKILL)
      try await process.exit()
    } else {
      let connection = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "screen"))
      let reply = try await connection.call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
        [.string("org.freedesktop.Notifications")])
      await connection.close()
      guard let identifier = reply.first?.asUInt32 else { throw RigError("nobody knows the server's process") }
      Glibc.kill(Int32(identifier), SIGKILL)
    }
  }

  /// Switches do-not-disturb, as its user does.
  func setQuiet(_ isQuiet: Bool) async throws {
    let program = try BuiltProducts.systemProgram(server.quieting.first ?? "", package: server.package)
    let arguments = Array(server.quieting.dropFirst()) + ["\(isQuiet)"]
    let result = try await ChildProcess.run(program, arguments, environment: environment)
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
  }

  /// What the screen looks like now is what it looked like while nothing was shown.
  func isEmpty() async throws -> Bool { try await difference(pictures.file("before.png"), calm(for: 2)) == nil }

  /// Ends everything on the screen.
  func stop() async {
    for process in [process, companion, screen.process] { process?.signal(SIGTERM) }
  }

  /// Lets the bus start what the server needs.
  private func provideServices() async throws {
    guard let bus = desktop.installation.sessionBus, !server.services.isEmpty else { return }
    for service in server.services {
      let file = "/usr/share/dbus-1/services/\(service).service"
      guard symlink(file, "\(bus.servicesDirectory)/\(service).service") == 0, access(file, R_OK) == 0 else {
        throw RigError("\(file) is not there: Packaging/try-notification-server \(server.testDescription)")
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

  /// sway in a window of the screen: what clicks there clicks in it.
  private func startSway() async throws {
    let sway = try BuiltProducts.systemProgram("sway", package: "sway")
    let settings = try desktop.installation.directory.write(
      """
      output * resolution \(server.screenSize) bg #336699 solid_color
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

  /// sway does not run as root, and GNOME Shell tells root that it had better not.
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

  // MARK: What is to be seen, and the hand

  /// Remembers what the screen looks like while nothing is shown, as soon as it does not change any more.
  func remember() async throws {
    try await run("xdotool", "xdotool", ["mousemove", "4", "300"])
    var picture = try await calm(for: 4)
    if let key = server.firstKey {
      try await run("xdotool", "xdotool", ["key", key])
      picture = try await calm(for: 4)
    }
    guard rename(picture, pictures.file("before.png")) == 0 else { throw RigError("no picture of the screen") }
  }

  /// Waits until so many pictures one after the other are the same.
  ///
  /// - Returns: the last one.
  private func calm(for most: Int) async throws -> String {
    var (last, calm) = (try await photograph(), 0)
    while calm < most {
      let now = try await photograph()
      calm = try await difference(last, now) == nil ? calm + 1 : 0
      last = now
    }
    return last
  }

  /// Waits until a notification is on the screen, and moves no more.
  ///
  /// - Parameter time: for how long it has to be there, as for somebody who reads it.
  /// - Returns: where it is.
  /// - Throws: `RigError` if there is no picture of the screen.
  func shown(for time: Duration = .zero) async throws -> Box {
    var (last, since) = (try await photograph(), ContinuousClock.now)
    while true {
      let now = try await photograph()
      if let box = try await difference(pictures.file("before.png"), now), try await difference(last, now) == nil {
        if .now - since >= time {
          try await keep(now, box)
          return box
        }
      } else {
        since = .now
      }
      last = now
    }
  }

  /// Waits until the screen is as it was.
  func empty() async throws {
    while try await difference(pictures.file("before.png"), photograph()) != nil {}
  }

  /// Clicks as a person does.
  func click(_ click: RealServer.Click, in box: Box) async throws {
    try await point(click, in: box)
    try await press(click)
  }

  /// Moves the pointer there, and waits until what it does to the notification is over.
  func point(_ click: RealServer.Click, in box: Box) async throws {
    let x = box.x + (click.x < 0 ? box.width + click.x : click.x)
    let y = box.y + (click.y < 0 ? box.height + click.y : click.y)
    // What shows its cross only while the pointer is on it has to see it come, and the cross too.
    try await run("xdotool", "xdotool", ["mousemove", "\(x - 4)", "\(y)"])
    _ = try await calm(for: 2)
    try await run("xdotool", "xdotool", ["mousemove", "\(x)", "\(y)"])
    _ = try await calm(for: 1)
  }

  /// Presses the button where the pointer is, and moves the pointer away.
  func press(_ click: RealServer.Click) async throws {
    try await run("xdotool", "xdotool", ["click", "\(click.button)"])
    try await run("xdotool", "xdotool", ["mousemove", "4", "300"])
  }

  private func photograph() async throws -> String {
    // What is waited for by one picture after the other ends with the test's time.
    try Task.checkCancellation()
    count += 1
    let file = pictures.file("\(count).png")
    try await run("import", "imagemagick", ["-window", "root", "-quality", "1", file])
    if count > 3 { unlink(pictures.file("\(count - 3).png")) }
    return file
  }

  /// The smallest rectangle that holds all that differs; nil where nothing does.
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

  /// The notification as a picture for the documentation, where the environment asks for one.
  private func keep(_ picture: String, _ box: Box) async throws {
    guard let folder = getenv(Self.pictureFolder).map({ String(cString: $0) }) else { return }
    let file = "\(folder)/\(server.testDescription).png"
    guard access(file, F_OK) != 0 else { return }
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
