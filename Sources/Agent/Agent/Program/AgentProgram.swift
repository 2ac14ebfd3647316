import Bus
import CShims
import EventLoop
import Glibc
import Handlers
import Inbox
import Journal
import Localization
import Names
import Settings

/// `tagroute-agent`: from the command line to the exit code.
package enum AgentProgram {
  /// Runs until a signal arrives, or until the agent cannot continue. The command line begins with the program's name.
  /// Returns one of the exit codes in ``AgentArguments/help``.
  package static func run(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    switch AgentArguments(Array(arguments.dropFirst())) {
    case .print(let text):
      print(text)
      return 0
    case .mistake(let text):
      complain("\(text); see tagroute-agent --help")
      return Names.ExitCode.usage
    case .check(let path):
      guard case .failure(let mistake) = read(AgentFiles(environment: ProcessEnvironment.current, only: path)) else {
        return 0
      }
      complain("\(mistake)")
      return Names.ExitCode.configuration
    case .run(let path, let isHeadless, let busName):
      return await run(configuration: path, isHeadless: isHeadless, busName: busName)
    }
  }

  /// The user's file may be missing, but not one that the command line names.
  private static func read(_ files: AgentFiles) -> Result<AgentConfiguration, KeyFileError> {
    Result { () throws(KeyFileError) in
      guard let path = files.configuration else { return AgentConfiguration() }
      return files.isConfigurationNamed ? try AgentConfiguration.load(only: path) : try AgentConfiguration.load([path])
    }
  }

  private static func run(configuration path: String?, isHeadless: Bool, busName: String) async -> Int32 {
    // Check this before opening or storing anything.
    if let notice = LoginScreen.notice(environment: ProcessEnvironment.current) {
      Log.fromEnvironment()(.notice, notice)
      // systemd restarts a service that exits before it is ready.
      let notifier = ServiceNotifier.fromEnvironment()
      notifier.ready(status: "Not needed: \(notice)")
      notifier.stopping()
      return 0
    }
    // Keep tag data out of core dumps. This applies only to the agent: apps that it starts may dump core.
    _ = tagroute_set_not_dumpable()
    Translation.start()
    let files = AgentFiles(environment: ProcessEnvironment.current, only: path)
    // From here on, SIGTERM and SIGINT end the agent in order, and SIGHUP reloads it.
    let signals = ProcessSignals([SIGTERM, SIGINT, SIGHUP])
    let configuration: AgentConfiguration
    let time = Timestamp.now()
    switch read(files) {
    case .success(let value): configuration = value
    case .failure(let mistake):
      complain("\(mistake)")
      return Names.ExitCode.configuration
    }
    let run = AgentRun(
      configuration: configuration, readAt: time, isHeadless: isHeadless, busName: busName, files: files,
      log: .fromEnvironment()
    ) {
      read(files)
    }
    let (codes, ending) = AsyncStream.makeStream(of: Int32.self)
    Task { ending.yield(await run.serve()) }
    Task {
      for await number in signals {
        guard number == SIGHUP else {
          ending.yield(0)
          return
        }
        await run.reload()
      }
    }
    for await code in codes {
      await run.end()
      return code
    }
    return Names.ExitCode.failure
  }

  private static func complain(_ text: String) {
    var line = "tagroute-agent: \(text)\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

enum AgentArguments: Equatable {
  /// Run. If a configuration file is given, read only that file. A headless agent serves a station without a desktop.
  /// `busName` is the name that it owns on the session bus.
  case run(configuration: String?, isHeadless: Bool = false, busName: String = Names.Agent.busName)
  /// Read the configuration, or only the given file, and print its first error.
  case check(configuration: String?)
  /// Print this on standard output and exit.
  case print(String)
  /// Print this on standard error and exit with ``Names/ExitCode/usage``.
  case mistake(String)

  /// Without the program's name.
  init(_ arguments: [String]) {
    var configuration: String?
    var (checks, isHeadless, busName) = (false, false, Names.Agent.busName)
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h":
        self = .print(AgentArguments.help)
        return
      case "--version":
        self = .print("tagroute-agent \(Names.version)")
        return
      case "--check": checks = true
      case "--headless": isHeadless = true
      case "--config":
        guard let path = rest.popFirst() else {
          self = .mistake("--config needs a file")
          return
        }
        configuration = path
      case let argument where argument.hasPrefix("--config="): configuration = String(argument.dropFirst(9))
      case "--bus-name":
        guard let name = rest.popFirst() else {
          self = .mistake("--bus-name needs a name")
          return
        }
        busName = name
      default:
        self = .mistake("unknown argument \(argument)")
        return
      }
    }
    self =
      checks
      ? .check(configuration: configuration)
      : .run(configuration: configuration, isHeadless: isHeadless, busName: busName)
  }

  static let help = """
    Usage: tagroute-agent [--check] [--config FILE] [--headless] [--bus-name NAME]

    The Tagroute agent of a user's session. It shows a notification for each NFC
    tag, and hands the tag's message to the app that is registered for its link.
    The desktop starts it with the session. Only one runs on a session bus.

      --check         read the configuration, print its first mistake, and exit
      --config FILE   read only this file instead of ~/.config/tagroute/agent.conf
      --headless      show nothing: carry out rules with Ask=no, and keep every other
                      tap in the inbox (docs/stations.md)
      --bus-name NAME own another name on the session bus, to run beside the agent of
                      the session, as tagroute demo does
      --help          print this help
      --version       print the version

    Exit status: 0 ended by a signal, or started on a login screen, 1 failure,
    64 wrong usage, 69 no session bus, 73 another agent runs already,
    78 mistake in the configuration.

    On SIGHUP the agent reads its configuration and the desktop entries again.
    TAGROUTE_LOG=error|warning|notice|info|debug sets the level of the log.
    """
}

/// The locations of the agent's files (XDG Base Directory Specification).
struct AgentFiles: Sendable, Hashable {
  /// Nil if no home directory is known.
  let configuration: String?
  /// Whether the command line names it.
  let isConfigurationNamed: Bool
  /// Nil if no home directory is known.
  let state: String?
  /// At least one of these must exist for the agent to keep an outbox.
  let mqtt: [String]

  /// Uses `XDG_CONFIG_HOME`, `XDG_STATE_HOME` and `HOME`. The configuration is `path`, unless that is nil.
  init(environment: [String: String], only path: String? = nil) {
    let base = BaseDirectories(environment: environment)
    isConfigurationNamed = path != nil
    configuration = path ?? base.configuration.map { "\($0)/\(Names.Files.agentConfiguration)" }
    state = base.state.map { "\($0)/\(Names.Files.agentState)" }
    mqtt = [base.configuration.map { "\($0)/\(Names.Files.mqttConfiguration)" }, Names.Files.systemMqttConfiguration]
      .compactMap(\.self)
  }

  func inbox(_ configuration: AgentConfiguration) -> Inbox.Location {
    guard configuration.inbox else { return .memoryWhileOpen(directory: state, name: Names.Files.inboxDatabase) }
    guard let state else { return .memory }
    return .file(directory: state, name: Names.Files.inboxDatabase)
  }
}

extension Retention {
  init(_ configuration: AgentConfiguration) {
    self.init(days: configuration.retentionDays, maximumTaps: configuration.maximumTaps)
  }
}

extension Timestamp {
  static func now() -> Timestamp { Timestamp(microseconds: Int64(clamping: SystemClock.now)) }
}

/// Recognizes the session of a login screen or a screen locker.
///
/// Such a session has its own desktop, which starts the same programs as any other. But no user is logged in there, so
/// the agent must not show or store a tap: the next user would find it.
enum LoginScreen {
  /// The classes of such sessions in logind (pam_systemd(8), `class=`).
  private static let classes: Set<String> = ["greeter", "lock-screen"]

  /// Why the agent is not needed; nil if it is. pam_systemd(8) sets `XDG_SESSION_CLASS`, and desktops pass it on to the
  /// services of systemd.
  static func notice(environment: [String: String]) -> String? {
    guard let name = environment["XDG_SESSION_CLASS"], classes.contains(name) else { return nil }
    return "this is the session of a login screen (XDG_SESSION_CLASS=\(name)): no user is logged in, so the agent exits"
  }
}
