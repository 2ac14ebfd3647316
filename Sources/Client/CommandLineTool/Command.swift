import Records
import Settings

package struct Command: Sendable {
  let name: String
  /// One line, which starts with a verb.
  let summary: String
  /// The arguments after the name, of a command with a single form.
  var arguments = ""
  /// The description beyond the forms and options, in paragraphs.
  let details: String
  /// The options of a command with a single form.
  var options: [Option] = []
  /// The forms of a command with several.
  var severalForms: [Form] = []
  let run: @Sendable (Arguments, Console) async throws(Failure) -> Int32

  var forms: [Form] { severalForms.isEmpty ? [Form(nil, arguments, summary, options)] : severalForms }

  /// One way to call a command, such as `inbox show ID`.
  struct Form: Sendable {
    /// The word after the command's name; nil if the form has none.
    let word: String?
    /// The arguments after the name and the word, as the help shows them: `ID [DOMAIN]`, or `FILE…` for one or more.
    let arguments: String
    /// One line, which starts with a verb.
    let summary: String
    let options: [Option]
    /// For a form with required options: its usage after the name and the word, one text for each way to call it. Empty
    /// for other forms.
    let usages: [String]

    init(
      _ word: String?, _ arguments: String, _ summary: String, _ options: [Option] = [], usages: [String] = []
    ) {
      self.word = word
      self.arguments = arguments
      self.summary = summary
      self.options = options
      self.usages = usages
    }
  }

  struct Option: Sendable {
    /// Without the dashes.
    let name: String
    /// What the help calls the value, or both values with a space in between; nil if the option takes none.
    let argument: String?
    let help: String
    /// Replaces the arguments of the form; nil if they stay as they are.
    let formArguments: String?

    init(_ name: String, _ help: String, formArguments: String? = nil) {
      (self.name, argument, self.help, self.formArguments) = (name, nil, help, formArguments)
    }

    init(_ name: String, _ argument: String, _ help: String, formArguments: String? = nil) {
      (self.name, self.argument, self.help, self.formArguments) = (name, argument, help, formArguments)
    }

    var valueCount: Int { argument?.split(separator: " ").count ?? 0 }
    var synopsis: String { "--\(name)" + (argument.map { " \($0)" } ?? "") }

    static let common = [Option("json", "print JSON"), Option("help", "print this help")]
  }

  static let groups: [(title: String, commands: [Command])] = [
    ("Status", [.status, .doctor, .report, .monitor, .on, .off, .session]),
    ("Tags", [.read, .write, .info, .lock, .transceive, .run]),
    ("Links, apps and taps", [.resolve, .handlers, .rules, .inbox]),
    ("Try it", [.demo, .help]),
  ]
  static var all: [Command] { groups.flatMap(\.commands) }

  /// The command that the first word of a command line names.
  static func named(_ name: String) throws(Failure) -> Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    guard !name.isEmpty else { throw .usage("the command is empty") }
    let options = Option.common + [Option.version]
    guard name.hasPrefix("-") else {
      // Other programs have a command `version`.
      let option = options.first { $0.name == name }.map { "did you mean --\($0.name)?" }
      throw .usage("there is no command \(name)", option ?? Spelling.suggestion(for: name, among: all.map(\.name)))
    }
    throw .usage("there is no option \(name)", Option.suggestion(for: name, among: options))
  }

  /// Runs the command, or prints its help. A usage failure names that help. `work` replaces what the command does.
  package func invoke(
    _ arguments: [String], _ work: (@Sendable (Arguments, Console) async throws(Failure) -> Int32)? = nil
  ) async throws(Failure) -> Int32 {
    do throws(Failure) {
      let parsed = try parse(arguments)
      let console = Console(json: parsed.has("json"))
      guard !parsed.has("help") else {
        try console.page(Help.text(for: self))
        return 0
      }
      return try await (work ?? run)(parsed, console)
    } catch {
      throw error.pointing(to: "tagroute \(name)")
    }
  }

  /// Parses what follows the command's name, and checks its options and the number of its arguments. With `--help`, it
  /// checks nothing.
  func parse(_ arguments: [String]) throws(Failure) -> Arguments {
    let parsed = try Arguments(arguments, Option.common + forms.flatMap(\.options))
    if !parsed.has("help") { try form(of: parsed).check(parsed, in: self) }
    return parsed
  }

  private func form(of arguments: Arguments) throws(Failure) -> Form {
    guard !severalForms.isEmpty else { return forms[0] }
    let wordless = forms.first { $0.word == nil }
    guard let word = arguments.words.first else {
      if let wordless { return wordless }
      throw .usage("a subcommand is missing: use \(Help.alternatives(forms, of: self))")
    }
    let isSubcommand = forms.contains { $0.word == word }
    // The word may be the value of a misspelt option, which the check of the form names.
    let takesWord = !Argument.all(in: wordless?.arguments(with: arguments) ?? "").isEmpty || !arguments.unknown.isEmpty
    if let wordless, !isSubcommand, takesWord { return wordless }
    return try form(word)
  }

  /// The form with this word after the command's name.
  func form(_ word: String) throws(Failure) -> Form {
    if let form = forms.first(where: { $0.word == word }) { return form }
    // `inbox list`: the form without a word lists.
    let isWordless = forms.contains { $0.word == nil && $0.summary.hasPrefix("\(word) ") }
    throw .usage(
      "\(name) has no subcommand \(word)",
      isWordless
        ? "did you mean tagroute \(name)?" : Spelling.suggestion(for: word, among: forms.compactMap(\.word)))
  }
}

extension Command.Form {
  /// The arguments, given the options on the command line.
  func arguments(with given: Arguments) -> String {
    options.first { given.has($0.name) && $0.formArguments != nil }?.formArguments ?? arguments
  }

  /// Fails unless the options belong to this form and the number of the arguments is right.
  func check(_ given: Arguments, in command: Command) throws(Failure) {
    let title = [command.name, word].compactMap(\.self).joined(separator: " ")
    let own = Command.Option.common + options
    let wrong =
      given.unknown + given.given.map(\.name).filter { name in !own.contains { $0.name == name } }.map { "--\($0)" }
    if let option = wrong.first {
      throw .usage("\(title) has no option \(option)", Command.Option.suggestion(for: option, among: own))
    }
    let exclusive = options.filter { $0.formArguments != nil && given.has($0.name) }.map { "--\($0.name)" }
    guard exclusive.count < 2 else { throw .usage("use only one of \(exclusive.joined(separator: " and "))") }
    let words = word == nil ? given.words : Array(given.words.dropFirst())
    let expected = Argument.all(in: arguments(with: given))
    let usage = Help.alternatives([self], of: command)
    if let missing = expected.dropFirst(words.count).first, !missing.isOptional {
      // The option may have taken a word that was meant as the argument.
      let last = given.given.last { !$0.values.isEmpty }
      let value = last.map { " (\($0.values.joined(separator: " ")) is the value of --\($0.name))" } ?? ""
      throw .usage("\(missing.name) is missing\(value): use \(usage)")
    }
    if words.count > expected.count, expected.last?.isRepeated != true {
      let extra = words[expected.count]
      let isLink =
        words.count == 1 && options.contains { $0.name == RecordOption.uri.rawValue }
        && !RecordOption.allCases.contains { given.has($0.rawValue) } && TypedLink.isMeant(by: extra)
      throw .usage("the argument \(extra) is one too many: use \(isLink ? Self.withLink(extra, title, given) : usage)")
    }
    // A variable that is not set gives an empty word. On the bus, an empty text may mean all.
    if let empty = zip(expected, words).first(where: { $0.1.isEmpty && !$0.0.isRepeated }) {
      throw .usage("\(empty.0.name) is empty: use \(usage)")
    }
  }

  /// The command that was typed, with its only word as the value of `--uri`.
  private static func withLink(_ link: String, _ title: String, _ given: Arguments) -> String {
    let words = given.given.flatMap { ["--\($0.name)"] + $0.values } + ["--uri", link]
    return "tagroute \(title) \(words.map(ShellWord.quoted).joined(separator: " "))"
  }
}

extension Command.Option {
  static let version = Command.Option("version", "print the version")

  /// `name` may have dashes.
  static func suggestion(for name: String, among options: [Command.Option]) -> String? {
    Spelling.suggestion(for: String(name.drop { $0 == "-" }), among: options.map(\.name)) { "--\($0)" }
  }
}

/// An argument in the notation of the help.
private struct Argument {
  let name: String
  let isOptional: Bool
  let isRepeated: Bool

  /// `-- COMMAND…` has one, `ID [DOMAIN]` two, the second of which is optional.
  static func all(in synopsis: String) -> [Argument] {
    synopsis.split(separator: " ").filter { $0 != "--" }.map { word in
      Argument(
        name: String(word.filter { !"[]…".contains($0) }), isOptional: word.contains("["),
        isRepeated: word.contains("…"))
    }
  }
}
