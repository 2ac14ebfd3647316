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
      let failure = error.pointing(to: "tagroute")
      Console.report(failure)
      return failure.exitCode
    }
  }

  private static func dispatch(_ arguments: [String]) async throws(Failure) -> Int32 {
    // --json may come before the command or after it.
    let leading = arguments.prefix { $0 == "--json" }
    guard let name = arguments.dropFirst(leading.count).first else {
      throw .usage("no command given")
    }
    let rest = Array(arguments.dropFirst(leading.count + 1))
    switch name {
    case "--help", "-h": return try await Command.help.invoke(leading + rest)
    case "--version":
      try Console(json: false).line("tagroute \(Names.version)")
      return 0
    case "--print-options":
      // For Packaging/check-options. Tabs separate the columns.
      try Console.write(Help.options.map { $0 + "\n" }.joined())
      return 0
    case ForeignCommand.word: try ForeignCommand.become(rest)
    default: return try await Command.named(name).invoke(leading + rest)
    }
  }
}

extension Command {
  static let help = Command(
    name: "help", summary: "explain a command", arguments: "[COMMAND [SUBCOMMAND]]",
    details: "Prints the same as tagroute COMMAND --help; without COMMAND, lists the commands."
  ) { arguments, console throws(Failure) in
    try console.page(Help.page(arguments.words))
    return 0
  }
}

/// The texts of `--help`.
enum Help {
  /// What `tagroute help` prints, for a command and its subcommand if there are any.
  static func page(_ words: [String]) throws(Failure) -> String {
    guard let name = words.first else { return overview }
    let command = try Command.named(name)
    do throws(Failure) {
      if let word = words.dropFirst().first { _ = try command.form(word) }
    } catch {
      throw error.pointing(to: "tagroute \(name)")
    }
    return text(for: command)
  }

  /// What `tagroute --help` prints.
  static var overview: String {
    let width = Command.all.map(\.name.count).max() ?? 0
    let groups = Command.groups.map { group in
      "\(group.title):\n" + table(group.commands.map { ("  \($0.name)", $0.summary) }, width: width + 2)
    }
    return """
      Usage: tagroute COMMAND [OPTION…]
             tagroute --help | --version

      Read and write NFC tags, and show where tapped tags go.

      \(groups.joined(separator: "\n\n"))

      Options of every command:
      \(table(Command.Option.common.map { row($0) }))

      Exit codes:
      \(table(exitCodes.map { ("  \($0)", $1) }))

      tagroute COMMAND --help explains a command. man tagroute-COMMAND has more.
      """
  }

  /// What `tagroute COMMAND --help` prints.
  static func text(for command: Command) -> String {
    let lines = command.forms.flatMap { usages(of: $0, in: command) }
    let isSingle = command.forms.count == 1
    let rows = command.forms.flatMap { form in
      (isSingle ? [] : [("  \(joined(command.name, form.word, form.arguments))", form.summary)])
        + form.options.map { row($0, indent: isSingle ? 2 : 6) }
    }
    let synopses = lines.map { wrapped("tagroute \($0)", width: columns - 9).joined(separator: "\n         ") }
    let sentence = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
    let details = command.details.isEmpty ? "" : "\n\n" + command.details
    return """
      Usage: \(synopses.joined(separator: "\n       "))

      \(wrapped(sentence, width: columns).joined(separator: "\n"))\(details)

      \(isSingle ? "Options" : "Commands and options"):
      \(table(rows + Command.Option.common.map { row($0) }))
      """
  }

  /// What `tagroute --print-options` prints, for scripts: a line for each form and each option. Tabs separate the form,
  /// the option, its argument and the help.
  static var options: [String] {
    let common = Command.Option.common + [.version]
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
    ("0", "done"), ("1", "failed"), ("64", "wrong usage"), ("66", "no such tap or rule"),
    ("69", "the daemon, the agent or a bus cannot be reached"), ("73", "cannot write a file"),
    ("74", "cannot write the output"), ("75", "try again later"), ("76", "an app did not reply"), ("77", "not allowed"),
    ("78", "wrong configuration"),
  ]

  /// The usage of the forms, for a message: `tagroute inbox export ID FILE, or tagroute inbox export --all FILE`.
  static func alternatives(_ forms: [Command.Form], of command: Command) -> String {
    forms.flatMap { usages(of: $0, in: command, withOptions: false) }.map { "tagroute \($0)" }.joined(
      separator: ", or ")
  }

  /// The usage of a form, and another one for each option that changes its arguments.
  private static func usages(of form: Command.Form, in command: Command, withOptions: Bool = true) -> [String] {
    guard form.usages.isEmpty else { return form.usages.map { joined(command.name, form.word, $0) } }
    let options = form.options.contains { $0.formArguments == nil } && withOptions ? "[OPTION…]" : nil
    return [joined(command.name, form.word, options, form.arguments)]
      + form.options.filter { $0.formArguments != nil }.map { option in
        joined(command.name, form.word, options, option.synopsis, option.formArguments)
      }
  }

  private static func joined(_ words: String?...) -> String {
    words.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
  }

  private static func row(_ option: Command.Option, indent: Int = 2) -> (String, String) {
    (String(repeating: " ", count: indent) + option.synopsis, option.help)
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
  func page(_ text: String) throws(Failure) {
    try lines(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }
}
