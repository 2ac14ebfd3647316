import FoundationEssentials
import Glibc

/// Where a command's answer goes: lines for a person, or JSON for a script.
struct Console {
  /// Whether answers are JSON.
  let json: Bool

  /// Prints a line on standard output. Whatever it holds stays on its line and cannot steer a terminal.
  func line(_ text: String) {
    write(Console.printable(text) + "\n", to: STDOUT_FILENO)
  }

  /// Prints a value as JSON: on lines of its own, or on a single one where it is one of many.
  func object(_ value: some Encodable, onOneLine: Bool = false) throws(Failure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      onOneLine
      ? [.sortedKeys, .withoutEscapingSlashes]
      : [
        .prettyPrinted, .sortedKeys, .withoutEscapingSlashes,
      ]
    do {
      let text = String(decoding: try encoder.encode(value), as: UTF8.self)
      write(Console.escaped(json: text) + "\n", to: STDOUT_FILENO)
    } catch {
      throw Failure(message: "cannot write the answer as JSON: \(error)", exitCode: 1)
    }
  }

  /// Prints a failure on standard error, as `tagroute: what: why`.
  static func report(_ failure: Failure) {
    Console(json: false).write("tagroute: \(printable(failure.message))\n", to: STDERR_FILENO)
  }

  /// `text` with everything that a terminal would obey, or that changes how its neighbours look, as an escape.
  static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The same JSON value, without anything that a terminal would obey or that changes how its neighbours look: JSON itself
  /// has only the controls below U+0020 escaped (RFC 8259, section 7).
  ///
  /// Beyond ASCII there is nothing in a JSON text but what stands in its strings, so no parsing is needed.
  static func escaped(json text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard scalar.value > 0x7E, isInvisible(scalar) else {
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

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
    default: false
    }
  }

  private func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
