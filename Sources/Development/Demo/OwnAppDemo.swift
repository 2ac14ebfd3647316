import Bus
import CommandLineTool
import EventLoop
import Glibc
import NDEF
import Names
import Rig
import TagrouteClient

/// One tap that tests an app. Reader, daemon, agent and buses are private, so the session is not affected. Desktop
/// entries, service files and the app are the user's.
struct OwnAppDemo {
  let uri: String
  let handler: String?
  let reader: Installation.Reader
  let console: Console

  /// How long an app may run after the hand-over.
  private static let timeout = Duration.seconds(10)

  func run() async throws -> DemoReport {
    let message = try NDEFMessage.uri(uri).encoded()
    let own = ProcessEnvironment.current
    let directories = BaseDirectories(environment: own)
    var options = Installation.Options()
    options.reader = reader
    options.environment = Self.environment(own, data: directories.data)
    options.dataDirectories = directories.systemData ?? BaseDirectories.standardSystemData
    let installation = try await Installation(options)
    do {
      try await linkServices(of: [directories.data].compactMap(\.self) + options.dataDirectories, into: installation)
      say("\(reader.description), tagrouted and tagroute-agent on private buses")
      try await installation.startAll()
      return try await tap(installation, message)
    } catch {
      await installation.stop()
      throw error
    }
  }

  /// The app finds its files and its screen by these variables. Settings and state stay in the demo's directories.
  private static func environment(_ own: [String: String], data: String?) -> [String: String] {
    let kept = ["DISPLAY", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "PATH", "XAUTHORITY"]
    var result = own.filter { kept.contains($0.key) }
    result["XDG_DATA_HOME"] = data
    // The socket is in the session's runtime directory. The demo has another one.
    if let display = own["WAYLAND_DISPLAY"], let runtime = own["XDG_RUNTIME_DIR"] {
      result["WAYLAND_DISPLAY"] = display.hasPrefix("/") ? display : "\(runtime)/\(display)"
    }
    return result
  }

  /// Lets the bus start apps with a service file that is named like their desktop entry. Other services stay out, for
  /// example a second notification server or the session's own agent.
  private func linkServices(of data: [String], into installation: Installation) async throws {
    guard let bus = installation.sessionBus else { return }
    for folder in data {
      for file in fileNames(in: "\(folder)/dbus-1/services") ?? [] where file.hasSuffix(".service") {
        let entry = "applications/\(file.dropLast(".service".count)).desktop"
        guard data.contains(where: { access("\($0)/\(entry)", R_OK) == 0 }) else { continue }
        // Fails if an earlier directory has the file, because earlier directories have precedence.
        symlink("\(folder)/dbus-1/services/\(file)", "\(bus.servicesDirectory)/\(file)")
      }
    }
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "demo"))
    _ = try await connection.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    await connection.close()
  }

  private func tap(_ installation: Installation, _ message: [UInt8]) async throws -> DemoReport {
    let observer = try await DemoObserver(installation)
    try await observer.waitUntilScanning()
    let apps = await KnownApps.of(observer.agent)
    let app = try choose(try await observer.agent.resolve(uri), apps)
    say("a tag on the reader: \(uri)")
    let file = try installation.directory.write(message, to: "tag.ndef")
    try await installation.simulate("tap --type 4 --ndef \(file)")
    let tap = try await observer.waitForNotification()
    say("opening \(apps.text(app))")
    var report = DemoReport()
    var refusal: BusError?
    do throws(BusError) {
      try await observer.agent.open(tap, handler: app)
      (report.delivered, report.state) = (true, "delivered")
    } catch {
      (refusal, report.state) = (error, "failed")
    }
    report.output = try await end(installation)
    for line in report.output { say("the app prints: \(line)") }
    if let refusal { say("the app did not take it: \(refusal.message)") } else { say("the app has it") }
    return report
  }

  /// Stops all programs, and the app with its bus. Returns the output of the app, whether the bus or the agent started
  /// it.
  private func end(_ installation: Installation) async throws -> [String] {
    let agent = await installation.agent
    let called = try await installation.sessionBus?.end(within: Self.timeout) ?? []
    await installation.stop()
    await agent?.outputsClosed(within: Self.timeout)
    // The agent's own log lines begin with their priority.
    let started = await agent?.log().filter { !$0.hasPrefix("<") } ?? []
    return called + started
  }

  private func choose(_ resolution: Resolution, _ apps: KnownApps) throws(Failure) -> String {
    let candidates = resolution.candidates
    guard resolution.kind == "universal-link" || resolution.kind == "scheme", !candidates.isEmpty else {
      throw Failure(
        message:
          "demo: no app has registered \(uri) for tags (\(resolution.reason)); tagroute handlers --check shows "
          + "errors in entries",
        exitCode: Names.ExitCode.failure)
    }
    let list = candidates.map(AppID.text).joined(separator: ", ")
    if let handler {
      let app = try apps.id(of: handler)
      guard candidates.contains(app) else {
        throw .usage("\(handler) does not claim \(uri); these apps do: \(list)")
      }
      return app
    }
    guard candidates.count == 1 || resolution.question != "which" else {
      throw Failure(
        message: "demo: several apps claim the link. Choose one with --handler APP: "
          + list,
        exitCode: Names.ExitCode.tryAgain)
    }
    return resolution.handler ?? candidates[0]
  }

  private func say(_ text: String) {
    // The result is the exit code.
    if !console.json { try? console.line("· \(text)") }
  }
}
