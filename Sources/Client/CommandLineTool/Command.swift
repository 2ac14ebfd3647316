/// One command of `tagroute`.
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
