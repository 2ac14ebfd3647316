import Names

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

  /// Parses the arguments after the program's name.
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
