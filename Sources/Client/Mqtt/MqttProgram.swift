import CShims
import EventLoop
import Glibc
import Journal
import Names
import Settings

/// `tagroute-mqtt`: from the command line to the exit code.
package enum MqttProgram {
  /// Runs until a signal arrives, or until the program cannot continue. The command line begins with the program's
  /// name. Returns one of the exit codes in the program's help.
  package static func run(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    switch MqttArguments(Array(arguments.dropFirst())) {
    case .print(let text):
      print(text)
      return 0
    case .mistake(let text):
      complain("\(text); see tagroute-mqtt --help")
      return Names.ExitCode.usage
    case .check: return readSettings() == nil ? Names.ExitCode.configuration : 0
    case .run:
      guard let settings = readSettings() else { return Names.ExitCode.configuration }
      return await run(settings)
    }
  }

  /// The settings; nil after a complaint.
  private static func readSettings() -> MqttSettings? {
    let files = MqttFiles(environment: ProcessEnvironment.current)
    do throws(KeyFileError) {
      guard let (path, configuration) = try files.load() else {
        complain(files.instruction)
        return nil
      }
      return try MqttSettings(configuration, from: path, files: files)
    } catch {
      complain("\(error)")
      return nil
    }
  }

  private static func run(_ settings: MqttSettings) async -> Int32 {
    // Keep the password and tag data out of core dumps.
    _ = tagroute_set_not_dumpable()
    // From here on, these end the program in order. There is no reload, because a restart loses no data.
    let signals = ProcessSignals([SIGTERM, SIGINT, SIGHUP])
    let run = MqttRun(settings, log: .fromEnvironment())
    let (codes, ending) = AsyncStream.makeStream(of: Int32.self)
    Task { ending.yield(await run.serve()) }
    Task {
      for await _ in signals {
        await run.end()
        ending.yield(0)
        return
      }
    }
    for await code in codes { return code }
    return Names.ExitCode.failure
  }

  private static func complain(_ text: String) {
    var line = "tagroute-mqtt: \(text)\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// The command line.
enum MqttArguments: Equatable {
  case run
  /// Read the configuration and print its first error.
  case check
  /// Print this on standard output and exit.
  case print(String)
  /// Print this on standard error and exit with ``Names/ExitCode/usage``.
  case mistake(String)

  /// Parses the arguments after the program's name.
  init(_ arguments: [String]) {
    var checks = false
    for argument in arguments {
      switch argument {
      case "--help", "-h":
        self = .print(Self.help)
        return
      case "--version":
        self = .print("tagroute-mqtt \(Names.version)")
        return
      case "--check": checks = true
      default:
        self = .mistake("unknown argument \(argument)")
        return
      }
    }
    self = checks ? .check : .run
  }

  static let help = """
    Usage: tagroute-mqtt [--check]

    Passes the taps of a user's session on to an MQTT broker. The agent keeps
    each tap until the broker has confirmed it. Only one runs on a session bus.
    It reads ~/.config/tagroute/mqtt.conf, or else /etc/tagroute/mqtt.conf.

      --check      read the configuration, print its first mistake, and exit
      --help       print this help
      --version    print the version

    Exit status: 0 ended by a signal, 1 failure, 64 wrong usage, 69 no session
    bus, 73 another one runs already, 78 no configuration, or a mistake in it.

    After a change of the configuration, restart it.
    TAGROUTE_LOG=error|warning|notice|info|debug sets the level of the log.
    """
}
