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
      guard case .failure(let mistake) = read(path, AgentFiles(environment: ProcessEnvironment.current)) else {
        return 0
      }
      complain("\(mistake)")
      return Names.ExitCode.configuration
    case .run(let path, let isHeadless, let busName):
      return await run(configuration: path, isHeadless: isHeadless, busName: busName)
    }
  }

  /// Reads the only file at `path`, or the user's file if that is nil.
  private static func read(_ path: String?, _ files: AgentFiles) -> Result<AgentConfiguration, KeyFileError> {
    Result { () throws(KeyFileError) in
      if let path { return try AgentConfiguration.load(only: path) }
      return try AgentConfiguration.load([files.configuration].compactMap(\.self))
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
    let files = AgentFiles(environment: ProcessEnvironment.current)
    // From here on, SIGTERM and SIGINT end the agent in order, and SIGHUP reloads it.
    let signals = ProcessSignals([SIGTERM, SIGINT, SIGHUP])
    let configuration: AgentConfiguration
    let time = Timestamp.now()
    switch read(path, files) {
    case .success(let value): configuration = value
    case .failure(let mistake):
      complain("\(mistake)")
      return Names.ExitCode.configuration
    }
    let run = AgentRun(
      configuration: configuration, readAt: time, isHeadless: isHeadless, busName: busName, files: files,
      log: .fromEnvironment()
    ) {
      read(path, files)
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
