import EventLoop
import FoundationEssentials
import Glibc
import Journal
import Names

/// The output of a command: lines for a person, or JSON for a script.
package struct Console: Sendable {
  package let json: Bool

  package init(json: Bool) { self.json = json }

  /// Prints a command's result: the value as JSON, or the lines.
  package func answer(_ value: @autoclosure () -> some Encodable, _ lines: @autoclosure () -> [String] = [])
    throws(Failure)
  {
    if json { try object(value()) } else { try self.lines(lines()) }
  }

  /// Prints a line on standard output. Line breaks and control characters in it are printed as escapes.
  package func line(_ text: String) throws(Failure) { try lines([text]) }

  /// Prints lines in one write.
  func lines(_ texts: [String]) throws(Failure) { try Console.write(Console.text(texts)) }

  /// Prints a value as JSON, on several lines or on one.
  func object(_ value: some Encodable, onOneLine: Bool = false) throws(Failure) {
    try Console.write(try text(value, onOneLine: onOneLine))
  }

  /// The lines as `lines` prints them.
  static func text(_ lines: [String]) -> String { lines.map { printable($0) + "\n" }.joined() }

  /// The value as `object` prints it.
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
      throw Failure(message: "cannot write the output as JSON: \(error)", exitCode: 1)
    }
  }

  /// Prints a failure on standard error, as `tagroute: what: why`.
  package static func report(_ failure: Failure) {
    tell("tagroute: \(printable(failure.message))\n")
  }

  /// Writes on standard error. A failure to do so is ignored, because it could not be reported.
  static func tell(_ text: String) { try? write(text, to: errors) }

  /// `text` with escapes for control characters, for invisible ones, and for those that change how others look.
  static func printable(_ text: String) -> String { Escaping.printable(text) }

  /// The same JSON value with more characters escaped: those that control a terminal or change how others look. JSON
  /// requires this only below U+0020 (RFC 8259, section 7).
  ///
  /// All characters beyond ASCII are inside strings, so no parsing is needed.
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

  /// Writes text that needs no further escapes. Fails if it is not written in full, because a script must not take a
  /// part for the whole.
  static func write(_ text: String, to descriptor: FileDescriptor = output) throws(Failure) {
    do throws(SystemError) {
      try descriptor.write(Array(text.utf8))
    } catch {
      throw Failure(
        message: "cannot write the output: \(String(cString: strerror(error.number)))",
        exitCode: Names.ExitCode.outputFailed)
    }
  }

  /// Never released, so never closed.
  static let output = FileDescriptor(owning: STDOUT_FILENO)
  private static let errors = FileDescriptor(owning: STDERR_FILENO)
}
