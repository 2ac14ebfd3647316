import Names

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
