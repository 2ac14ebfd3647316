import Bus
import CShims
import Configuration
import EventLoop
import Glibc
import Journal
import KeyFile
import Names

/// `tagrouted`.
public enum DaemonProgram {
  /// Runs the daemon until it is told to end (SIGTERM, SIGINT), or cannot go on.
  ///
  /// - Parameter arguments: the argument vector, the program's name first.
  /// - Returns: the exit code, one of `Names.ExitCode` or 0.
  public static func run(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    let options: DaemonOptions
    do throws(DaemonOptions.Mistake) {
      options = try DaemonOptions(Array(arguments.dropFirst()))
    } catch {
      complain(error.description)
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
    // A reader process runs as the same user. Where the kernel has neither Landlock nor Yama it could open this one's memory otherwise.
    _ = tagroute_set_not_dumpable()
    // Before anything is read: who wants it read again meanwhile is not to end the daemon by that.
    let signals = options.mode == .check ? nil : ProcessSignals([SIGTERM, SIGINT, SIGHUP])
    let time = DaemonService.microsecondsSince1970()
    switch read(options.configuration) {
    case .failure(let mistake):
      complain(mistake.description)
      return Names.ExitCode.configuration
    case .success(let configuration):
      guard let signals else { return 0 }
      return await serve(configuration, readAt: time, signals) { read(options.configuration) }
    }
  }

  /// Reads the configuration.
  ///
  /// - Parameter file: the only file; nil for the standard ones.
  /// - Returns: what it says, or the first mistake in it.
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
    // A client that goes away while it is written to is an error of that write and no more.
    signal(SIGPIPE, SIG_IGN)
    let log = Log.fromEnvironment()
    let notifier = ServiceNotifier.fromEnvironment()
    let loop = EventLoop(label: "tagrouted")
    let service = DaemonService(
      configuration, readAt: time, readFiles: readFiles, log: log, notifier: notifier, loop: loop)
    let watch = Task {
      for await number in signals {
        guard number != SIGHUP else {
          await service.reload()
          continue
        }
        exit(onceReadersHaveEnded: service, loop)
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

  /// Ends the process in a second where it does not end by itself: what a bus does not answer is not waited for. Readers are, so
  /// that no field stays on, and that takes no longer than `ReaderTiming.stop` and `ReaderTiming.kill`.
  private static func exit(onceReadersHaveEnded service: DaemonService, _ loop: EventLoop) {
    loop.schedule(after: .milliseconds(900)) {
      if service.assumeIsolated({ $0.hasReaderProcesses }) {
        exit(onceReadersHaveEnded: service, loop)
      } else {
        _exit(0)
      }
    }
  }

  private static func complain(_ text: String) {
    Log(threshold: .error, prefixed: false)(.error, "tagrouted: \(text)")
  }
}
