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

/// The texts of `--help`.
package enum Help {
  /// What `tagroute --help` prints.
  static var overview: String {
    let width = Command.all.map(\.name.count).max() ?? 0
    let groups = Command.groups.map { group in
      "\(group.title):\n" + table(group.commands.map { ("  \($0.name)", $0.summary) }, width: width + 2)
    }
    return """
      Usage: tagroute COMMAND [OPTION…]

      Read and write NFC tags, and show where tapped tags go.

      \(groups.joined(separator: "\n\n"))

      Options of every command:
      \(table(Command.Option.common.map { row($0) }))

      Exit codes:
      \(table(exitCodes.map { ("  \($0)", $1) }))

      tagroute COMMAND --help explains a command. tagroute(1) explains them all.
      """
  }

  /// What `tagroute COMMAND --help` prints.
  package static func text(for command: Command) -> String {
    let usages = command.forms.map { usage($0, of: command) }
    let isSingle = command.forms.count == 1
    let rows = command.forms.flatMap { form in
      (isSingle ? [] : [("  \(usage(form, of: command, withOptions: false))", form.summary)])
        + form.options.map { row($0, indent: isSingle ? 2 : 6) }
    }
    let sentence = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
    let details = command.details.isEmpty ? "" : "\n\n" + command.details
    return """
      Usage: \(usages.map { "tagroute \($0)" }.joined(separator: "\n       "))

      \(wrapped(sentence, width: columns).joined(separator: "\n"))\(details)

      \(isSingle ? "Options" : "Commands and options"):
      \(table(rows + Command.Option.common.map { row($0) }))
      """
  }

  /// What `tagroute --print-options` prints, for scripts: a line for each form and each option. Tabs separate the form,
  /// the option, its argument and the help.
  static var options: [String] {
    let common = Command.Option.common + [Command.Option("version", "print the version")]
    return common.map { line("", $0) }
      + Command.all.flatMap { command in
        command.forms.flatMap { form in
          let name = [command.name, form.word].compactMap(\.self).joined(separator: " ")
          return ["\(name)\t\t\t\(form.summary)"] + form.options.map { line(name, $0) }
        }
      }
  }

  private static func line(_ command: String, _ option: Command.Option) -> String {
    "\(command)\t--\(option.name)\t\(option.argument ?? "")\t\(option.help)"
  }

  private static let exitCodes = [
    ("0", "done"), ("1", "failed"), ("64", "wrong usage"), ("66", "no such tap"),
    ("69", "the daemon, the agent or a bus cannot be reached"), ("73", "cannot write a file"),
    ("74", "cannot write the output"), ("75", "try again later"), ("76", "an app did not reply"), ("77", "not allowed"),
    ("78", "wrong configuration"),
  ]

  private static func usage(_ form: Command.Form, of command: Command, withOptions: Bool = true) -> String {
    [command.name, form.word ?? "", withOptions && !form.options.isEmpty ? "[OPTION…]" : "", form.arguments]
      .filter { !$0.isEmpty }.joined(separator: " ")
  }

  private static func row(_ option: Command.Option, indent: Int = 2) -> (String, String) {
    let argument = option.argument.map { " \($0)" } ?? ""
    return (String(repeating: " ", count: indent) + "--\(option.name)\(argument)", option.help)
  }

  /// Two aligned columns. A long entry on the left gets a separate line.
  private static func table(_ rows: [(left: String, right: String)], width: Int? = nil) -> String {
    let width = (width ?? min(rows.map(\.left.count).max() ?? 0, 30)) + 2
    return rows.map { left, right in
      let text = wrapped(right, width: columns - width).joined(separator: "\n" + String(repeating: " ", count: width))
      let gap = width - left.count
      return left + (gap >= 2 ? String(repeating: " ", count: gap) : "\n" + String(repeating: " ", count: width)) + text
    }.joined(separator: "\n")
  }

  private static let columns = 80

  private static func wrapped(_ text: String, width: Int) -> [String] {
    text.split(separator: " ").reduce(into: [""]) { lines, word in
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.count + 1 + word.count <= width {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
  }
}

extension Console {
  package func page(_ text: String) throws(Failure) {
    try lines(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }
}
