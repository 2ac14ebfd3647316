import Bus
import EventLoop
import Names
import Rig
import TestKit

/// The window on a virtual screen, beside a whole Tagroute, and a program that uses it as a screen reader does.
final class WindowRig: Sendable {
  let installation: Installation
  let server: NotificationServerStandIn
  private let screen: VirtualScreen
  private let accessibility: ChildProcess
  private let reader: ChildProcess
  let window: ChildProcess

  /// Starts everything. Returns when the window can be used. `prepare` runs before the window starts.
  init(
    _ environment: [String: String] = [:], size: String = "1000x760", starter: String = #function,
    prepare: (Installation) async throws -> Void = { _ in }
  ) async throws {
    screen = try await VirtualScreen(size: size)
    var options = Installation.Options()
    options.environment = [
      "DISPLAY": screen.display, "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "0", "ADW_DISABLE_PORTAL": "1",
      "G_DEBUG": "fatal-criticals",
    ]
    options.environment.merge(environment) { $1 }
    options.dataDirectories = ["/usr/share"]
    installation = try await Installation(options, starter: starter)
    server = try await NotificationServerStandIn.start(on: BusAddress(installation.sessionBus?.address ?? ""))
    try await installation.startAll()
    try await installation.agent?.line(containing: "registered with the daemon")
    try await prepare(installation)
    accessibility = try await installation.start("/usr/libexec/at-spi-bus-launcher", ["--launch-immediately"])
    let bus = try await Connection.open(
      BusAddress(installation.sessionBus?.address ?? ""), on: EventLoop(label: "window-rig"))
    for await owner in try await bus.owners(of: "org.a11y.Bus") where owner != nil { break }
    reader = try await installation.start(
      "/usr/bin/python3",
      ["\(repositoryRoot)/Tests/Client/System/TagsWindowSystemTests/screen-reader.py", "tagroute-gtk"], input: true)
    // A window that starts before the registry of AT-SPI may not be found in it.
    try await reader.line(containing: "ready")
    window = try await installation.start("tagroute-gtk")
  }

  func stop() async {
    for process in [reader, window, accessibility] { process.signal(15) }
    for process in [reader, window, accessibility] { _ = try? await process.exit() }
    await installation.stop()
    screen.process.signal(15)
    _ = try? await screen.process.exit()
  }

  /// A tag is held to the reader until its notification is there, and taken away.
  func tap(_ link: String) async throws {
    try await installation.simulate("tap \(link)")
    _ = try await server.next()
    try await installation.simulate("remove")
  }

  func press(_ name: String, role: String = "push button") async throws { try await ask("press", name, role) }

  /// Waits until a widget has this name. With a `*` at its end, it is the beginning of the name.
  func sees(_ name: String, role: String? = nil) async throws { try await ask("wait", name, role) }

  func doesNotSee(_ name: String, role: String? = nil) async throws { try await ask("gone", name, role) }

  func type(_ text: String, into name: String, role: String? = nil) async throws {
    try await ask("type", name, role, text)
  }

  /// The widgets that the keyboard reaches and that have no name.
  func unnamed() async throws -> String { try await answer(.record(["do": .string("missing")])) }

  /// Sends keys as xdotool names them, to the window with the focus.
  func key(_ keys: String...) async throws {
    let tool = try BuiltProducts.systemProgram("xdotool", package: "xdotool")
    _ = try await ChildProcess.run(tool, ["key"] + keys, environment: installation.environment)
  }

  /// Writes a picture of the screen.
  func picture(_ path: String) async throws {
    let tool = try BuiltProducts.systemProgram("import", package: "imagemagick")
    _ = try await ChildProcess.run(tool, ["-window", "root", path], environment: installation.environment)
  }

  private func ask(_ action: String, _ name: String, _ role: String?, _ text: String? = nil) async throws {
    let command = JSONTree.record([
      "do": .string(action), "name": .string(name), "role": role.map(JSONTree.string),
      "text": text.map(JSONTree.string),
    ])
    let answer = try await answer(command)
    guard answer.contains("\"ok\": true") else {
      throw RigError("\(action) \(name): \(answer)\n" + (await window.log().suffix(20).joined(separator: "\n")))
    }
  }

  private func answer(_ command: JSONTree) async throws -> String {
    let seen = await reader.log().count
    try await reader.send(String(decoding: command.bytes, as: UTF8.self))
    return try await reader.line(after: seen) { $0.hasPrefix("{") }
  }
}
