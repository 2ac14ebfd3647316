import Names

package struct Arguments {
  /// The words that are not options.
  private(set) var words: [String] = []
  /// Options by their long name, without the dashes; the value is empty if the option takes none.
  package private(set) var options: [String: String] = [:]
  /// All options in their order, with all their values.
  private(set) var given: [(name: String, values: [String])] = []
  /// Options that no form of the command has, as they were typed.
  private(set) var unknown: [String] = []

  /// Parses arguments without the program's name. The value of an option is the next word, or follows `=`.
  init(_ arguments: [String], _ options: [Command.Option]) throws(Failure) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        continue
      }
      if argument == "--" {
        words += rest
        break
      }
      let body = argument == "-h" ? "help" : String(argument.drop { $0 == "-" })
      let equals = body.firstIndex(of: "=")
      let name = equals.map { String(body[..<$0]) } ?? body
      let attached = equals.map { String(body[body.index(after: $0)...]) }
      guard argument.hasPrefix("--") || argument == "-h", let option = options.first(where: { $0.name == name }) else {
        unknown.append(String(argument.prefix { $0 != "=" }))
        continue
      }
      guard option.valueCount > 0 || attached == nil else { throw .usage("--\(name) takes no value") }
      var values = [attached].compactMap(\.self)
      while values.count < option.valueCount, let value = rest.popFirst() { values.append(value) }
      // A variable that is not set gives an empty word.
      guard values.count == option.valueCount, values != [""] else {
        throw .usage("--\(name) needs \(option.valueCount == 1 ? "a value" : "two values"): \(option.synopsis)")
      }
      self.options[name] = values.first ?? ""
      given.append((name, values))
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
  /// The command line is wrong, and the message does not name the help yet.
  private var needsHelp = false

  package init(message: String, exitCode: Int32, sheet: String? = nil) {
    self.message = message
    self.exitCode = exitCode
    self.sheet = sheet
  }

  /// `suggestion` is `did you mean NAME?`.
  package static func usage(_ message: String, _ suggestion: String? = nil) -> Failure {
    var failure = Failure(
      message: message + (suggestion.map { ": \($0)" } ?? ""), exitCode: Names.ExitCode.usage)
    failure.needsHelp = true
    return failure
  }

  /// A usage failure that names the help of `command`; any other failure as it is.
  func pointing(to command: String) -> Failure {
    guard needsHelp else { return self }
    return Failure(
      message: "\(message)\(message.hasSuffix("?") ? " See" : "; see") \(command) --help", exitCode: exitCode)
  }
}
