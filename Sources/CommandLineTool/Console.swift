import FoundationEssentials
import Glibc
import Journal
import Names

/// Where a command's answer goes: lines for a person, or JSON for a script.
struct Console {
  /// Whether answers are JSON.
  let json: Bool

  /// Prints a command's answer: the value where it is to be JSON, else the lines.
  ///
  /// - Parameters:
  ///   - value: for a script.
  ///   - lines: for a person.
  /// - Throws: that it cannot be written, or is no JSON; then nothing of it counts.
  func answer(_ value: @autoclosure () -> some Encodable, _ lines: @autoclosure () -> [String] = []) throws(Failure) {
    if json { try object(value()) } else { try self.lines(lines()) }
  }

  /// Prints a line on standard output. Whatever it holds stays on its line and cannot steer a terminal.
  func line(_ text: String) throws(Failure) { try lines([text]) }

  /// Prints lines, all at once.
  func lines(_ texts: [String]) throws(Failure) { try Console.write(Console.text(texts), to: STDOUT_FILENO) }

  /// Prints a value as JSON: on lines of its own, or on a single one where it is one of many.
  func object(_ value: some Encodable, onOneLine: Bool = false) throws(Failure) {
    try Console.write(try text(value, onOneLine: onOneLine), to: STDOUT_FILENO)
  }

  /// Lines as `lines` prints them.
  static func text(_ lines: [String]) -> String { lines.map { printable($0) + "\n" }.joined() }

  /// A value as JSON, as `object` prints it.
  func text(_ value: some Encodable, onOneLine: Bool) throws(Failure) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      onOneLine
      ? [.sortedKeys, .withoutEscapingSlashes]
      : [
        .prettyPrinted, .sortedKeys, .withoutEscapingSlashes,
      ]
    do {
      return Console.escaped(json: String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    } catch {
      throw Failure(message: "cannot write the answer as JSON: \(error)", exitCode: 1)
    }
  }

  /// Prints a failure on standard error, as `tagroute: what: why`.
  static func report(_ failure: Failure) {
    tell("tagroute: \(printable(failure.message))\n")
  }

  /// Writes on standard error: where that cannot be, there is nobody to be told so.
  static func tell(_ text: String) { try? write(text, to: STDERR_FILENO) }

  /// `text` with everything that a terminal would obey, that changes how its neighbours look, or that nobody sees, as an escape.
  static func printable(_ text: String) -> String { Escaping.printable(text) }

  /// The same JSON value, without anything that a terminal would obey or that changes how its neighbours look: JSON itself
  /// has only the controls below U+0020 escaped (RFC 8259, section 7).
  ///
  /// Beyond ASCII there is nothing in a JSON text but what stands in its strings, so no parsing is needed.
  static func escaped(json text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x7F }) { return text }
    var result = String.UnicodeScalarView()
    var escaping = Escaping()
    for scalar in text.unicodeScalars {
      let isEscaped = escaping.escapes(scalar) || scalar.properties.generalCategory == .spaceSeparator
      guard scalar.value > 0x7E, isEscaped else {
        result.append(scalar)
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        result.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
      }
    }
    return String(result)
  }

  /// Writes text that holds nothing but what may be written there.
  ///
  /// - Throws: why not all of it is written: a script that has half an answer must not take it for a whole one.
  static func write(_ text: String, to descriptor: Int32) throws(Failure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        throw Failure(
          message: "cannot write what there is to say: \(String(cString: strerror(errno)))",
          exitCode: Names.ExitCode.outputFailed)
      }
      rest = rest.dropFirst(count)
    }
  }
}
