import Names

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
  /// The forms of a command with several. The first one has no word.
  var severalForms: [Form] = []
  /// How many words may follow the command.
  let words: ClosedRange<Int>
  let run: @Sendable (Arguments, Console) async throws(Failure) -> Int32

  var forms: [Form] { severalForms.isEmpty ? [Form(nil, arguments, summary, options)] : severalForms }

  /// One way to call a command, such as `inbox show ID`.
  struct Form: Sendable {
    /// The word after the command's name; nil if the form has none.
    let word: String?
    /// The arguments after the name and the word.
    let arguments: String
    /// One line, which starts with a verb.
    let summary: String
    let options: [Option]

    init(_ word: String?, _ arguments: String, _ summary: String, _ options: [Option] = []) {
      self.word = word
      self.arguments = arguments
      self.summary = summary
      self.options = options
    }
  }

  struct Option: Sendable {
    /// Without the dashes.
    let name: String
    /// What the help calls the value, or both values with a space in between; nil if the option takes none.
    let argument: String?
    let help: String

    init(_ name: String, _ help: String) { (self.name, argument, self.help) = (name, nil, help) }

    init(_ name: String, _ argument: String, _ help: String) {
      (self.name, self.argument, self.help) = (name, argument, help)
    }

    fileprivate var valueCount: Int { argument?.split(separator: " ").count ?? 0 }

    static let common = [Option("json", "print JSON"), Option("help", "print this help")]
  }

  static let groups: [(title: String, commands: [Command])] = [
    ("Status", [.status, .doctor, .monitor, .on, .off, .session]),
    ("Tags", [.read, .write, .info, .lock, .transceive, .run]),
    ("Links, apps and taps", [.resolve, .handlers, .rules, .inbox]),
    ("Try it", [.demo]),
  ]
  static var all: [Command] { groups.flatMap(\.commands) }

  /// Parses what follows the command's name. An option that belongs to another form is a usage failure.
  package func parse(_ arguments: [String]) throws(Failure) -> Arguments {
    let options = Option.common + forms.flatMap(\.options)
    let parsed = try Arguments(
      arguments, flags: Set(options.filter { $0.valueCount == 0 }.map(\.name)),
      valued: Set(options.filter { $0.valueCount == 1 }.map(\.name)),
      paired: Set(options.filter { $0.valueCount == 2 }.map(\.name)))
    guard !parsed.has("help") else { return parsed }
    let form = forms.first { $0.word == parsed.words.first } ?? forms[0]
    let allowed = Set((Option.common + form.options).map(\.name))
    if let other = parsed.options.keys.sorted().first(where: { !allowed.contains($0) }) {
      throw .usage("tagroute \(name)\(form.word.map { " \($0)" } ?? "") has no option --\(other)")
    }
    return parsed
  }
}

package struct Arguments {
  /// The words that are not options.
  private(set) var words: [String] = []
  /// Options by their long name, without the dashes; the value is empty if the option takes none.
  package private(set) var options: [String: String] = [:]
  /// All options in their order, with all their values.
  private(set) var given: [(name: String, values: [String])] = []

  /// Parses arguments without the program's name. The value of an option in `valued` is the next word, or follows `=`.
  /// An option in `paired` has two values.
  init(
    _ arguments: [String], flags: Set<String>, valued: Set<String> = [], paired: Set<String> = []
  ) throws(Failure) {
    var rest = arguments[...]
    var onlyWords = false
    while let argument = rest.popFirst() {
      guard !onlyWords, argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        continue
      }
      if argument == "--" {
        onlyWords = true
        continue
      }
      let body = argument == "-h" ? "help" : String(argument.drop { $0 == "-" })
      let equals = body.firstIndex(of: "=")
      let name = equals.map { String(body[..<$0]) } ?? body
      let attached = equals.map { String(body[body.index(after: $0)...]) }
      if flags.contains(name) && (argument.hasPrefix("--") || argument == "-h") {
        guard attached == nil else { throw .usage("--\(name) takes no value") }
        options[name] = ""
        given.append((name, []))
      } else if (valued.contains(name) || paired.contains(name)) && argument.hasPrefix("--") {
        guard let value = attached ?? rest.popFirst() else { throw .usage("--\(name) needs a value") }
        var values = [value]
        if paired.contains(name) {
          guard let second = rest.popFirst() else { throw .usage("--\(name) needs two values") }
          values.append(second)
        }
        options[name] = value
        given.append((name, values))
      } else {
        throw .usage("unknown option \(argument)")
      }
    }
  }

  package func has(_ option: String) -> Bool { options[option] != nil }

  /// The number of an option; nil if the option was not given.
  func number(_ option: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = options[option] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw .usage("--\(option) takes a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

/// Why a command failed: a message for a person, and an exit code for a script.
package struct Failure: Error, Equatable {
  /// `what: why`, without the program's name.
  package let message: String
  package let exitCode: Int32
  /// The message for the sheet of a reader session, in the user's language; nil if there is none.
  var sheet: String?

  package init(message: String, exitCode: Int32, sheet: String? = nil) {
    self.message = message
    self.exitCode = exitCode
    self.sheet = sheet
  }

  package static func usage(_ message: String) -> Failure {
    Failure(message: "\(message); see tagroute --help", exitCode: Names.ExitCode.usage)
  }
}
