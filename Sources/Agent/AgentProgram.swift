import Bus
import Configuration
import EventLoop
import Glibc
import Handlers
import Inbox
import Journal
import KeyFile
import Names

/// `tagroute-agent`: from the command line to the exit code.
public enum AgentProgram {
  /// Runs until a signal, or until there is a reason to end.
  ///
  /// - Parameter arguments: the command line, the program's name first.
  /// - Returns: the exit code; ``AgentArguments/help`` lists them.
  public static func run(_ arguments: [String]) async -> Int32 {
    switch AgentArguments(Array(arguments.dropFirst())) {
    case .print(let text):
      print(text)
      return 0
    case .mistake(let text):
      complain("\(text); see tagroute-agent --help")
      return Names.ExitCode.usage
    case .run(let path): return await run(configuration: path)
    }
  }

  private static func run(configuration path: String?) async -> Int32 {
    Translation.start()
    let files = AgentFiles(environment: ProcessEnvironment.current)
    let configuration: AgentConfiguration
    do throws(KeyFileError) {
      configuration =
        if let path {
          try AgentConfiguration.load(only: path)
        } else {
          try AgentConfiguration.load([files.configuration].compactMap(\.self))
        }
    } catch {
      complain("\(error)")
      return Names.ExitCode.configuration
    }
    // From here on a signal ends it in order, whatever it is doing.
    let signals = ProcessSignals([SIGTERM, SIGINT])
    let run = AgentRun(configuration: configuration, files: files, log: .fromEnvironment())
    let (codes, ending) = AsyncStream.makeStream(of: Int32.self)
    Task { ending.yield(await run.serve()) }
    Task {
      for await _ in signals {
        ending.yield(0)
        return
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
