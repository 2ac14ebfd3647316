import Names

/// The command line of `tagroute-agent`.
enum AgentArguments: Equatable {
  /// Run, with this configuration file alone where one is named.
  case run(configuration: String?)
  /// Read the configuration, that file alone where one is named, and say what is wrong with it.
  case check(configuration: String?)
  /// Print this on standard output and end.
  case print(String)
  /// Print this on standard error and end with ``Names/ExitCode/usage``.
  case mistake(String)

  /// - Parameter arguments: what follows the program's name.
  init(_ arguments: [String]) {
    var configuration: String?
    var checks = false
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
      case "--config":
        guard let path = rest.popFirst() else {
          self = .mistake("--config needs a file")
          return
        }
        configuration = path
      case let argument where argument.hasPrefix("--config="): configuration = String(argument.dropFirst(9))
      default:
        self = .mistake("unknown argument \(argument)")
        return
      }
    }
    self = checks ? .check(configuration: configuration) : .run(configuration: configuration)
  }

  static let help = """
    Usage: tagroute-agent [--check] [--config FILE]

    The Tagroute agent of a user's session: offers what NFC tags link to in a
    notification, and hands a tag's message to the app that is registered for it.
    It is started with the session; only one runs on a session bus.

      --check         read the configuration, say what is wrong with it, and end
      --config FILE   read only this file, not ~/.config/tagroute/agent.conf
      --help          print this
      --version       print the version

    Exit status: 0 ended by a signal, or a login screen's session, 1 a failure,
    64 usage, 69 no session bus, 73 another agent runs already, 78 a mistake in
    the configuration.

    SIGHUP has the agent read its configuration and the desktop entries again.
    TAGROUTE_LOG=error|warning|notice|info|debug sets how much is logged.
    """
}
