import EventLoop
import Glibc
import Localization
import Names

/// The command line: `tagroute COMMAND`.
package enum CommandLineTool {
  /// Runs one command, given without the program's name. Returns 0 or one of `Names.ExitCode`.
  package static func run(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    // If the reader of the output closes it, end by SIGPIPE and without a core dump.
    signal(SIGPIPE, SIG_DFL)
    // Load the catalogue before the first text.
    Translation.start()
    do throws(Failure) {
      return try await dispatch(arguments)
    } catch {
      Console.report(error)
      return error.exitCode
    }
  }

  private static func dispatch(_ arguments: [String]) async throws(Failure) -> Int32 {
    // --json may come before the command or after it.
    let leading = arguments.prefix { $0 == "--json" }
    let arguments = Array(arguments.dropFirst(leading.count))
    guard let name = arguments.first else {
      throw .usage("no command given")
    }
    switch name {
    case "--help", "-h", "help":
      try Console(json: false).page(Help.overview)
      return 0
    case "--version":
      try Console(json: false).line("tagroute \(Names.version)")
      return 0
    case "--print-options":
      // For Packaging/check-options. Tabs separate the columns.
      try Console.write(Help.options.map { $0 + "\n" }.joined())
      return 0
    case ForeignCommand.word: try ForeignCommand.become(Array(arguments.dropFirst()))
    default: break
    }
    guard let command = Command.all.first(where: { $0.name == name }) else {
      throw .usage("unknown command \(name)")
    }
    let parsed = try command.parse(Array(leading) + arguments.dropFirst())
    if parsed.has("help") {
      try Console(json: false).page(Help.text(for: command))
      return 0
    }
    guard command.words.contains(parsed.words.count) else {
      throw .usage("tagroute \(name): wrong number of arguments")
    }
    return try await command.run(parsed, Console(json: parsed.has("json")))
  }
}
