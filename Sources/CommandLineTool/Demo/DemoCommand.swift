import Bus
import Doctor
import EventLoop
import Glibc
import NDEF
import Names
import Rig
import TagrouteClient

extension Command {
  static let demo = Command(
    name: "demo", summary: "try Tagroute with a simulated reader",
    details: """
      Starts a simulated reader, the daemon and the agent on private buses, puts a tag
      on the reader, and waits for a click on its notification. The sample app prints
      the message. The system is not changed. Without a desktop the notification
      appears on a virtual screen, and the program clicks.

      With --uri it tests an app of yours: it taps a tag with that link and prints the
      output of the app. It finds the app by the desktop entries and D-Bus service
      files of this user and of the system, and opens it at once, without a
      notification and without a question. The app starts with the settings of a new
      user, on a private session bus. The command waits at most 10 seconds for the app
      to end.
      """,
    options: [
      .init("pcsc", "simulate a reader of pcscd instead of one of libnfc"),
      .init("unattended", "also click, and fail unless the app got the message"),
      .init("examples", "FOLDER", "use the sample app from this folder"),
      .init("screenshot", "FILE", "store a picture of the notification; only with --unattended"),
      .init("uri", "URI", "tap a tag with this link, for an app of yours"),
      .init("handler", "APP", "open this app, one of those that claim the link; required if there are several"),
    ], words: 0...0
  ) { arguments, console throws(Failure) in
    let isOfSample = ["examples", "screenshot", "unattended"].contains(where: arguments.has)
    guard arguments.has("uri") ? !isOfSample : !arguments.has("handler") else {
      throw .usage("use tagroute demo, or tagroute demo --uri URI [--handler APP]")
    }
    let reader = arguments.has("pcsc") ? Installation.Reader.pcsc : .serial
    try Demo.checkSimulator(reader)
    do {
      let report: DemoReport
      if let uri = arguments.options["uri"] {
        let demo = OwnAppDemo(uri: uri, handler: arguments.options["handler"], reader: reader, console: console)
        report = try await untilSignal(demo.run)
      } else {
        let demo = Demo(
          examples: arguments.options["examples"] ?? Demo.installedExamples(beside: OwnProgram.directory),
          isUnattended: arguments.has("unattended"),
          screenshot: arguments.options["screenshot"], reader: reader, console: console)
        try demo.checkExamples()
        report = try await untilSignal(demo.run)
      }
      try console.answer(report)
      return report.delivered ? 0 : Names.ExitCode.failure
    } catch let failure as Failure {
      throw failure
    } catch let interruption as Interruption {
      ProcessEnd.die(of: interruption.signal)
    } catch {
      throw Failure(message: "demo: \(error)", exitCode: Names.ExitCode.failure)
    }
  }
}

private struct Interruption: Error {
  let signal: Int32
}

/// Runs a demo, and cancels it if a signal arrives, so that it stops its programs first.
private func untilSignal(_ run: @escaping @Sendable () async throws -> DemoReport) async throws -> DemoReport {
  try await withThrowingTaskGroup(of: DemoReport.self) { group in
    group.addTask { try await run() }
    group.addTask {
      for await signal in ProcessSignals([SIGINT, SIGTERM, SIGHUP]) { throw Interruption(signal: signal) }
      throw CancellationError()
    }
    defer { group.cancelAll() }
    guard let report = try await group.next() else { throw CancellationError() }
    return report
  }
}

/// What `demo` prints with `--json`.
struct DemoReport: Encodable {
  /// Whether the app has the message. The sample app must have printed every record too.
  var delivered = false
  /// The tap's state in the inbox at the end.
  var state = ""
  /// What the app printed.
  var output: [String] = []
}

/// One run: start all programs, tap, click, stop all programs.
struct Demo {
  let examples: String
  let isUnattended: Bool
  let screenshot: String?
  let reader: Installation.Reader
  let console: Console

  private static let link = "https://menu.example.com/table/7"
  private static let text = "Table 7, by the window"

  func run() async throws -> DemoReport {
    let message = NDEFMessage(
      records: NDEFMessage.uri(Demo.link).records + [try TextRecord(Demo.text, language: "en").record()])
    let screen = try await DemoScreen.open(isUnattended: isUnattended)
    if let bus = screen.sessionBus { try await makeSureOfRoom(on: bus) }
    var options = Installation.Options()
    options.reader = reader
    options.environment = screen.environment
    options.environment["PATH"] = "\(examples):/usr/local/bin:/usr/bin:/bin"
    options.sessionBus = screen.sessionBus
    options.dataDirectories = ["/usr/local/share", "/usr/share"]
    let installation = try await Installation(options)
    defer { withExtendedLifetime(screen) {} }

    say("an app that registers menu.example.com for tags: \(examples)/\(Demo.entry)")
    try installation.directory.write(
      try readFile("\(examples)/\(Demo.entry)"), to: "share/applications/\(Demo.entry)")
    say("\(reader.description), tagrouted and tagroute-agent on private buses")
    try await screen.startServer(in: installation)
    try await installation.startAll()
    do {
      let report = try await tap(installation, screen, message)
      if !report.delivered { await explain(installation) }
      await installation.stop()
      return report
    } catch {
      if !Task.isCancelled { await explain(installation) }
      await installation.stop()
      throw error
    }
  }

  /// Checks that there is no other agent: a session bus can have only one. If Tagroute is installed, that is the user's
  /// own.
  private func makeSureOfRoom(on bus: String) async throws {
    let agent = try await AgentClient.connect(to: BusAddress(bus), on: EventLoop(label: "demo"))
    guard let status = try await agent.status() else { return }
    throw Failure(
      message: """
        demo: tagroute-agent \(status.version) is running in this session, and a session can have only one: \
        tap a real tag, or try an app of yours with tagroute demo --uri URI, or first \(Setup.current.stopping(.agent).text)
        """,
      exitCode: Names.ExitCode.tryAgain)
  }

  private func tap(_ installation: Installation, _ screen: DemoScreen, _ message: NDEFMessage) async throws
    -> DemoReport
  {
    let observer = try await DemoObserver(installation)
    try await observer.waitUntilScanning()

    say("a tag on the reader: \(Demo.link) and a text")
    try installation.directory.write(try message.encoded(), to: "tag.ndef")
    try await installation.simulate("tap --type 2 --ndef \(installation.directory.file("tag.ndef"))")
    let tap = try await observer.waitForNotification()
    if screen.isVirtual {
      if !isUnattended { say("no desktop here: a program clicks, on a virtual screen") }
      if let screenshot { try await screen.photograph(to: screenshot) }
      say("a click on the notification")
      try await screen.click()
    } else {
      say("click the notification (or press Ctrl-C)")
    }

    var report = DemoReport()
    report.state = try await observer.waitForEnd(of: tap)
    report.output = await observer.output()
    for line in report.output { say("the app prints: \(line)") }
    say("the inbox says: \(report.state)")
    let expected = [
      "link: \(Demo.link)", "record 1: well-known U: \(Demo.link)", "record 2: well-known T: \(Demo.text)",
    ]
    report.delivered = report.state == "delivered" && report.output == expected
    return report
  }

  /// Prints the last log lines of the programs, which contain the reason.
  private func explain(_ installation: Installation) async {
    for process in [await installation.daemon, await installation.agent] {
      guard let process else { continue }
      for line in await process.log().suffix(40) { say("\(process.name): \(line)") }
    }
  }

  private func say(_ text: String) {
    // The result is the exit code.
    if !console.json { try? console.line("· \(text)") }
  }
}
