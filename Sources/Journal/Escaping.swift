/// Which scalars of a text are to be escapes where a person reads it on a line, of a terminal or a log: those that a terminal would
/// obey, that change how their neighbours look, or that nobody sees. It is asked of each scalar in turn.
public struct Escaping {
  /// More than any language puts on one letter.
  private static let maximumMarks = 4
  /// How many marks the present character has; where there is none that could carry one, as many as it may have.
  private var marks = Escaping.maximumMarks

  /// At the beginning of a text.
  public init() {}

  /// Whether this scalar, the next of the text, is to be an escape.
  public mutating func escapes(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      marks = Self.maximumMarks
      return true
    // What stands before a text, or a column, is ours, and no mark of another's belongs on it.
    case .spaceSeparator, .openPunctuation, .initialPunctuation:
      marks = Self.maximumMarks
      return false
    case .nonspacingMark, .enclosingMark:
      guard marks < Self.maximumMarks else { return true }
      marks += 1
    default: marks = scalar == "\"" ? Self.maximumMarks : 0
    }
    // A character that is as good as not there, a Hangul filler say, hides what is behind it; what says whether a symbol is text or a
    // picture (U+FE0E, U+FE0F) hides nothing.
    return scalar == "\u{2800}"
      || properties.isDefaultIgnorableCodePoint && !(0xFE0E...0xFE0F).contains(scalar.value)
  }

  /// A text with its escapes, as Swift writes them: `\u{1b}`.
  public static func printable(_ text: String) -> String {
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
