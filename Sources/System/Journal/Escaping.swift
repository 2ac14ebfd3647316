/// Decides which scalars of a text must be escaped if a person reads it on one line of a terminal or a log. These are
/// scalars that a terminal obeys, that change how their neighbours look, or that are invisible. Ask about each scalar
/// in turn.
package struct Escaping {
  /// The maximum number of combining marks on one character, more than any language needs.
  private static let maximumMarks = 4
  /// The number of marks on the current character. It starts at the maximum if there is no character that can carry a
  /// mark.
  private var marks = Escaping.maximumMarks

  /// Starts at the beginning of a text.
  package init() {}

  /// Whether to escape this scalar, the next of the text.
  package mutating func escapes(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      marks = Self.maximumMarks
      return true
    // Before an embedded text, or between columns, our own text has one of these. No mark of the embedded text may
    // attach to it.
    case .spaceSeparator, .openPunctuation, .initialPunctuation:
      marks = Self.maximumMarks
      return false
    case .nonspacingMark, .enclosingMark:
      guard marks < Self.maximumMarks else { return true }
      marks += 1
    default: marks = scalar == "\"" ? Self.maximumMarks : 0
    }
    // An invisible character, for example a Hangul filler, can hide the text after it. U+FE0E and U+FE0F hide no text:
    // they choose whether a symbol is shown as text or as a picture.
    return scalar == "\u{2800}"
      || properties.isDefaultIgnorableCodePoint && !(0xFE0E...0xFE0F).contains(scalar.value)
  }

  /// The text with its escapes, in Swift's notation: `\u{1b}`.
  package static func printable(_ text: String) -> String {
    var escaping = Escaping()
    var result = ""
    for scalar in text.unicodeScalars {
      if escaping.escapes(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
