import Names

/// The command line.
enum MqttArguments: Equatable {
  /// Run.
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
