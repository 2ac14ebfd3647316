import Bus
import CommandLineTool
import Doctor
import EventLoop
import Glibc
import NDEF
import Names
import Rig
import TagrouteClient

/// `tagroute-simulator demo`. Its options and its help are those of `tagroute demo`.
package enum DemoProgram {
  /// Runs one demo. `arguments` exclude the word `demo`. Returns 0 if an app got the message, or one of
  /// `Names.ExitCode`.
  package static func main(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    // If the reader of the output closes it, end by SIGPIPE and without a core dump.
    signal(SIGPIPE, SIG_DFL)
    do throws(Failure) {
      return try await Command.demo.invoke(arguments, run)
    } catch {
      Console.report(error)
      return error.exitCode
    }
  }

  private static func run(_ arguments: Arguments, _ console: Console) async throws(Failure) -> Int32 {
    let isOfSample = ["examples", "screenshot", "unattended"].contains(where: arguments.has)
    guard arguments.has("uri") ? !isOfSample : !arguments.has("handler") else {
      throw .usage("use tagroute demo, or tagroute demo --uri URI [--handler APP]")
    }
    let reader = arguments.has("pcsc") ? Installation.Reader.pcsc : .serial
    try Demo.check(reader)
    do {
      let report: DemoReport
      if let uri = arguments.options["uri"] {
        let demo = OwnAppDemo(uri: uri, handler: arguments.options["handler"], reader: reader, console: console)
        report = try await untilSignal(demo.run)
      } else {
        let examples = arguments.options["examples"] ?? Demo.installedExamples(beside: OwnProgram.directory)
        let demo = Demo(
          examples: Demo.absolute(examples),
          isUnattended: arguments.has("unattended"),
          screenshot: arguments.options["screenshot"], reader: reader, console: console)
        try demo.checkExamples()
        report = try await untilSignal(demo.run)
      }
      try console.answer(report)
      return report.delivered ? 0 : Names.ExitCode.failure
    } catch let failure as Failure {
      throw failure
    } catch let interruption as DemoInterruption {
      ProcessEnd.die(of: interruption.signal)
    } catch {
      throw Failure(message: "demo: \(DemoLogs.line(for: error))", exitCode: Names.ExitCode.failure)
    }
  }
}

private struct DemoInterruption: Error { let signal: Int32 }

/// Runs a demo, and cancels it if a signal arrives, so that it stops its programs first.
private func untilSignal(_ run: @escaping @Sendable () async throws -> DemoReport) async throws -> DemoReport {
  try await withThrowingTaskGroup(of: DemoReport.self) { group in
    group.addTask { try await run() }
    group.addTask {
      for await signal in ProcessSignals([SIGINT, SIGTERM, SIGHUP]) { throw DemoInterruption(signal: signal) }
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

  /// The agent's name on the session bus, which may have an agent of the user.
  private static let agentName = "\(Names.Agent.demoNamePrefix)\(getpid())"

  func run() async throws -> DemoReport {
    let message = NDEFMessage(
      records: NDEFMessage.uri(Demo.link).records + [try TextRecord(Demo.text, language: "en").record()])
    let screen = try await DemoScreen.open(isUnattended: isUnattended)
    var options = Installation.Options()
    options.reader = reader
    options.agentArguments = ["--bus-name", Self.agentName]
    options.environment = screen.environment
    options.environment["PATH"] = "\(examples):/usr/local/bin:/usr/bin:/bin"
    options.sessionBus = screen.sessionBus
    options.dataDirectories = ["/usr/local/share", "/usr/share"]
    let installation = try await Installation(options)
    defer { withExtendedLifetime(screen) {} }

    say("an app that claims links to menu.example.com: \(examples)/\(Demo.entry)")
    // The user's own, so the notification asks for permission.
    try installation.directory.write(
      readFile("\(examples)/\(Demo.entry)"), to: "home/share/applications/\(Demo.entry)")
    say("\(reader.description), tagrouted and tagroute-agent")
    switch screen.kind {
    case .desktop: break
    case .virtual(let reason):
      if let reason { say(reason) }
      say("a virtual screen, on which a program clicks")
    }
    do {
      try await screen.startServer(in: installation)
      try await installation.startAll()
      let report = try await tap(installation, screen, message)
      if !report.delivered, screen.isVirtual || report.state == "failed" { await explain(installation, screen) }
      await installation.stop()
      return report
    } catch {
      if !Task.isCancelled { await explain(installation, screen, error) }
      await installation.stop()
      throw error
    }
  }

  private func tap(_ installation: Installation, _ screen: DemoScreen, _ message: NDEFMessage) async throws
    -> DemoReport
  {
    let observer = try await DemoObserver(installation, agentName: Self.agentName)
    try await observer.waitUntilScanning()

    say("a tag on the reader: \(Demo.link) and a text")
    try installation.directory.write(try message.encoded(), to: "tag.ndef")
    try await installation.simulate("tap --type 2 --ndef \(installation.directory.file("tag.ndef"))")
    let id = try await observer.waitForNotification()
    let tap: TapDescription
    if screen.isVirtual {
      if let screenshot { try await screen.photograph(to: screenshot) }
      say("a click on “Allow and Open”")
      try await screen.click(in: installation)
      tap = try await observer.waitForEnd(of: id)
    } else {
      let menu = screen.kind == .desktop(server: "dunst") ? " (dunst has it in the menu of dunstctl context)" : ""
      say("click “Allow and Open” on the notification\(menu), or press Ctrl-C")
      tap = try await observer.waitForEnd(of: id, within: .seconds(300))
    }

    var report = DemoReport()
    report.state = tap.state
    if tap.state == "delivered" { report.output = await observer.output() }
    for line in report.output { say("the app prints: \(line)") }
    let expected = [
      "link: \(Demo.link)", "record 1: well-known U: \(Demo.link)", "record 2: well-known T: \(Demo.text)",
    ]
    report.delivered = tap.state == "delivered" && report.output == expected
    say(report.delivered ? "the inbox says: delivered" : Self.failure(of: tap))
    return report
  }

  /// Why the app does not have the message of this tap, or has printed something else.
  static func failure(of tap: TapDescription) -> String {
    switch tap.state {
    case "delivered": "the app has the message, but did not print all of it"
    case "dismissed": "the notification was closed, so the app was not opened; run the demo again"
    case "shown", "expired": "nobody clicked the notification; run the demo again"
    default: "the app did not get the message (\(tap.stateReason.isEmpty ? tap.state : tap.stateReason))"
    }
  }

  /// Prints what the programs complain about, and where their logs are.
  private func explain(_ installation: Installation, _ screen: DemoScreen, _ error: (any Error)? = nil) async {
    var logs = DemoLogs()
    if let failed = error as? RigError, !failed.log.isEmpty { logs.add(failed.message, failed.log) }
    for process in [await installation.simulator, await installation.daemon, await installation.agent] {
      if let process { logs.add(process.name, await process.log()) }
    }
    logs.add("dunst", await screen.log())
    for line in logs.warnings { say(line) }
    do {
      say("the logs of all programs: \(try logs.store())")
    } catch {
      say("the logs of the programs are lost: \(error)")
    }
  }

  private func say(_ text: String) {
    // The result is the exit code.
    if !console.json { try? console.line("· \(text)") }
  }
}

/// Requirements of the demo that the daemon's package does not contain.
extension Demo {
  /// The desktop entry of the sample app, in the folder of the examples.
  static let entry = "org.example.Menu.desktop"

  /// The folder of the system's pcscd. A private one needs it too, but does not use it.
  private static let pcscdFolder = "/run/pcscd"

  /// Where `Packaging/install` puts the sample app. `program` is the directory of this program, which has `share`
  /// beside it.
  static func installedExamples(beside program: String?) -> String {
    let prefix = program.flatMap { folder in folder.lastIndex(of: "/").map { String(folder[..<$0]) } } ?? "/usr"
    return "\(prefix)/share/tagroute/examples"
  }

  /// The absolute path of a folder, for programs that run in another one. A missing folder stays as it is.
  static func absolute(_ folder: String) -> String {
    guard let path = realpath(folder, nil) else { return folder }
    defer { free(path) }
    return String(cString: path)
  }

  /// The failure has the command that installs what the reader needs.
  static func check(_ reader: Installation.Reader) throws(Failure) {
    guard reader == .pcsc else { return }
    if (try? BuiltProducts.systemProgram("pcscd", package: "pcscd")) == nil {
      throw Failure(
        message: "demo --pcsc needs pcscd, which is not installed: \(Setup.current.installingPCSCD.text)",
        exitCode: Names.ExitCode.failure)
    }
    // pcscd creates the folder if it can, and ends without it. systemd creates it for pcscd.socket.
    guard geteuid() != 0, access(pcscdFolder, F_OK) != 0 else { return }
    throw Failure(
      message: "demo --pcsc needs the folder of pcscd, which is missing: sudo mkdir \(pcscdFolder)",
      exitCode: Names.ExitCode.failure)
  }

  func checkExamples() throws(Failure) {
    let file = "\(examples)/\(Demo.entry)"
    guard access(file, R_OK) != 0 else { return }
    throw Failure(
      message: """
        demo: the sample app is missing: \(file): \(String(cString: strerror(errno))); it comes with \
        tagroute-simulator, and --examples names another folder
        """, exitCode: Names.ExitCode.failure)
  }
}

extension Installation.Reader {
  /// The simulated reader and what drives it, for a line of the demo.
  var description: String {
    switch self {
    case .serial: "a simulated PN532 reader, libnfc"
    case .pcsc: "a simulated ACR1252U, pcscd"
    case .others: "readers of others"
    }
  }
}

/// The logs of a demo's programs, to explain a failure.
struct DemoLogs {
  private var logs: [(program: String, lines: [String])] = []

  /// The most lines that are printed.
  private static let mostPrinted = 10

  mutating func add(_ program: String, _ lines: [String]) { logs.append((program, lines)) }

  /// The last warnings and errors of our own programs, without their priorities (sd-daemon(3)).
  var warnings: [String] {
    let all = logs.flatMap { log in
      log.lines.filter { line in (0...4).contains { line.hasPrefix("<\($0)>") } }
        .map { "\(log.program): \($0.dropFirst(3))" }
    }
    return Array(all.suffix(Self.mostPrinted))
  }

  /// An error on one line, with the last line of the log of a process that failed.
  static func line(for error: any Error) -> String {
    guard let error = error as? RigError, let last = error.log.last(where: { !$0.isEmpty }) else { return "\(error)" }
    return "\(error.message): \(last)"
  }

  /// All lines, below the name of their program.
  var text: String { logs.map { "== \($0.program)\n" + $0.lines.map { "\($0)\n" }.joined() }.joined() }

  /// Writes all lines to a new file, which only this user can read. Returns its path.
  func store() throws -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/tagroute-demo.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw RigError("cannot create a file in \(folder): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw RigError("cannot write to \(folder)") }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
