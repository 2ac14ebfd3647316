import EventLoop
import Glibc
import Localization
import Names

/// The command line: `tagroute COMMAND`.
public enum CommandLineTool {
  /// Runs one command.
  ///
  /// - Parameter arguments: without the program's name.
  /// - Returns: the exit code, one of `Names.ExitCode` or 0.
  public static func run(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    // A reader of our output that goes away ends us by a failed write, not by a signal with a core.
    signal(SIGPIPE, SIG_DFL)
    // Before the first text.
    Translation.start()
    do throws(Failure) {
      return try await dispatch(arguments)
    } catch {
      Console.report(error)
      return error.exitCode
    }
  }

  private static func dispatch(_ arguments: [String]) async throws(Failure) -> Int32 {
    // Whoever reads JSON says so first, or last.
    let leading = arguments.prefix { $0 == "--json" }
    let arguments = Array(arguments.dropFirst(leading.count))
    guard let name = arguments.first else {
      throw .usage("say what to do")
    }
    switch name {
    case "--help", "-h", "help":
      try Console(json: false).page(Command.overview)
      return 0
    case "--version":
      try Console(json: false).line("tagroute \(Names.version)")
      return 0
    case ForeignCommand.word: try ForeignCommand.become(Array(arguments.dropFirst()))
    default: break
    }
    guard let command = Command.all.first(where: { $0.name == name }) else {
      throw .usage("there is no command \(name)")
    }
    let parsed = try Arguments(
      Array(leading) + arguments.dropFirst(), flags: command.flags.union(["help", "json"]), valued: command.options)
    if parsed.has("help") {
      try Console(json: false).page(command.help)
      return 0
    }
    guard command.words.contains(parsed.words.count) else {
      throw .usage("tagroute \(command.usage): wrong number of arguments")
    }
    return try await command.run(parsed, Console(json: parsed.has("json")))
  }
}
