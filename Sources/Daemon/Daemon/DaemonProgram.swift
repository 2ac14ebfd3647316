import Bus
import CShims
import EventLoop
import Glibc
import Journal
import Names
import Settings

package enum DaemonProgram {
  /// Runs the daemon until it gets SIGTERM or SIGINT, or fails. Returns 0 or one of `Names.ExitCode`.
  package static func run(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    let options: DaemonOptions
    do throws(DaemonOptions.Mistake) {
      options = try DaemonOptions(Array(arguments.dropFirst()))
    } catch {
      complain("\(error.description); see tagrouted --help")
      return Names.ExitCode.usage
    }
    switch options.mode {
    case .showHelp:
      print(DaemonOptions.usage)
      return 0
    case .showVersion:
      print("tagrouted \(Names.version)")
      return 0
    case .run, .check: break
    }
    // A reader process runs as the same user. Without this call it could read the daemon's memory, if the kernel has
    // neither Landlock nor Yama.
    _ = tagroute_set_not_dumpable()
    // Catch the signals before reading the configuration. Otherwise a SIGHUP in between would end the daemon.
    let signals = options.mode == .check ? nil : ProcessSignals([SIGTERM, SIGINT, SIGHUP])
    let time = SystemClock.now
    switch read(options.configuration) {
    case .failure(let mistake):
      complain(mistake.description)
      return Names.ExitCode.configuration
    case .success(let configuration):
      guard let signals else { return 0 }
      return await serve(configuration, readAt: time, signals) { read(options.configuration) }
    }
  }

  /// Reads `file`, or the standard files if it is nil. Stops at the first mistake.
  private static func read(_ file: String?) -> Result<DaemonConfiguration, KeyFileError> {
    Result { () throws(KeyFileError) in
      if let file { return try DaemonConfiguration.load(only: file) }
      return try DaemonConfiguration.load(DaemonConfiguration.standardFiles())
    }
  }

  private static func serve(
    _ configuration: DaemonConfiguration, readAt time: UInt64, _ signals: ProcessSignals,
    readFiles: @escaping @Sendable () -> Result<DaemonConfiguration, KeyFileError>
  ) async -> Int32 {
    // If a client leaves while the daemon writes to it, only that write fails.
    signal(SIGPIPE, SIG_IGN)
    let log = Log.fromEnvironment()
    let notifier = ServiceNotifier.fromEnvironment()
    let service = await DaemonService(
      configuration, readAt: time, readFiles: readFiles, log: log, notifier: notifier)
    let watch = Task {
      for await number in signals {
        guard number != SIGHUP else {
          await service.configuration.request()
          continue
        }
        await exit(onceReadersHaveEnded: service)
        await service.end(.requested)
      }
    }
    defer { watch.cancel() }
    do throws(DaemonError) {
      try await service.start()
    } catch {
      complain(error.description)
      await service.stop()
      return error.exitCode
    }
    let ending = await service.ending()
    notifier.stopping()
    await service.stop()
    guard case .failed(let error) = ending else { return 0 }
    log(.error, error.description)
    return error.exitCode
  }

  /// Exits about one second after the request to end, even if calls to the bus are still unanswered. It waits for the
  /// reader processes, so that no field stays on. They take at most `ReaderTiming.stop` and `ReaderTiming.kill`
  /// together.
  @DaemonLoop private static func exit(onceReadersHaveEnded service: DaemonService) {
    DaemonLoop.schedule(after: .milliseconds(900)) {
      if service.readers.haveProcesses {
        exit(onceReadersHaveEnded: service)
      } else {
        _exit(0)
      }
    }
  }

  private static func complain(_ text: String) {
    Log(threshold: .error, prefixed: false)(.error, "tagrouted: \(text)")
  }
}

/// The command line of `tagrouted`.
struct DaemonOptions: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    case run
    /// Only read the configuration, and report a mistake in it.
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

  /// `arguments` do not contain the program's name.
  init(_ arguments: [String]) throws(Mistake) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": mode = .showHelp
      case "--version": mode = .showVersion
      case "--check": mode = .check
      case "--config":
        guard let file = rest.popFirst(), !file.isEmpty else {
          throw Mistake(description: "--config needs a file")
        }
        configuration = file
      default:
        guard argument.hasPrefix("--config="), argument.utf8.count > "--config=".utf8.count else {
          throw Mistake(description: "unknown argument \(argument)")
        }
        configuration = String(argument.dropFirst("--config=".count))
      }
    }
  }
}

/// Why the daemon ends.
enum DaemonEnding: Sendable {
  case requested
  case failed(DaemonError)
}

/// An error that stops the daemon. The description says what failed, why, and what to do.
struct DaemonError: Error, Hashable, CustomStringConvertible {
  let description: String
  let exitCode: Int32

  init(_ description: String, exitCode: Int32) {
    self.description = description
    self.exitCode = exitCode
  }

  init(_ error: BusError) {
    if error.name == BusError.Name.accessDenied {
      self.init(
        "the system bus does not allow this user to own \(Names.Daemon.busName): add "
          + "<allow own=\"\(Names.Daemon.busName)\"/> in a <policy user=\"…\"> to /etc/dbus-1/system.d, and reload the bus",
        exitCode: Names.ExitCode.notAllowed)
    } else {
      self.init(
        "cannot use the system bus at \(BusAddress.system): \(error.message). Is the bus running?",
        exitCode: Names.ExitCode.unavailable)
    }
  }

  static let noReaderProgram = DaemonError(
    "\(Names.Files.readerProgram) was not found next to tagrouted or in \(Names.Files.libexec): install it",
    exitCode: Names.ExitCode.failure)
  static let nameIsTaken = DaemonError(
    "another process owns \(Names.Daemon.busName) on the bus: stop the other tagrouted",
    exitCode: Names.ExitCode.alreadyRunning)
}
