/// The command line of `tagrouted`.
struct DaemonOptions: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    case run
    /// Read the configuration, and report a mistake in it.
    case check
    case showHelp
    case showVersion
  }

  /// A mistake in the command line, with its correction.
  struct Mistake: Error, Hashable, CustomStringConvertible {
    let description: String
  }

  static let usage = """
    usage: tagrouted [--check] [--config FILE]
           tagrouted --help | --version

    The system daemon of Tagroute: finds NFC readers, decides when they look for tags, and hands each tag to the agent of
    the session on the reader's seat.

      --check        check the configuration, print the first mistake, and exit
      --config FILE  read this configuration instead of /etc/tagroute.conf and its drop-ins
      --help         print this help and exit
      --version      print the version and exit

    Environment: DBUS_SYSTEM_BUS_ADDRESS is the address of the system bus, STATE_DIRECTORY the folder of the master
    switch, PCSCLITE_CSOCK_NAME the socket of pcscd, TAGROUTE_LOG the log level (error, warning, notice, info, debug).
    SIGHUP reloads the configuration.
    """

  var mode = Mode.run
  /// The only file to read; nil for the standard ones.
  var configuration: String?

  /// Parses `arguments`, which do not contain the program's name.
  init(_ arguments: [String]) throws(Mistake) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": mode = .showHelp
      case "--version": mode = .showVersion
      case "--check": mode = .check
      case "--config":
        guard let file = rest.popFirst(), !file.isEmpty else {
          throw Mistake(description: "--config needs a file: --config FILE")
        }
        configuration = file
      default:
        guard argument.hasPrefix("--config="), argument.utf8.count > "--config=".utf8.count else {
          throw Mistake(description: "unknown argument \(argument): see tagrouted --help")
        }
        configuration = String(argument.dropFirst("--config=".count))
      }
    }
  }
}
