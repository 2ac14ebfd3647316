/// Text that a terminal would obey instead of showing it, and a check for such text.
package enum HostileText {
  /// Possible contents of a tag, a desktop entry or a file name, with a description of each.
  package static let samples: [(name: String, text: String)] = [
    ("an escape sequence that clears the screen", "a\u{1B}[2J\u{1B}[Hb"),
    ("one that sets the window's title", "a\u{1B}]0;owned\u{7}b\u{1B}\\"),
    ("one that has the terminal answer", "\u{1B}[6n\u{1B}[c\u{1B}P+q544e\u{1B}\\"),
    ("a C1 control sequence", "a\u{9B}31mb\u{90}c\u{9C}\u{85}"),
    ("carriage return, backspace and delete", "tagroute: all is well\rnothing\u{8}\u{8}\u{7F}"),
    ("lines", "one\ntwo\r\nthree\u{B}four\u{C}five\u{2028}six\u{2029}seven"),
    ("NUL", "a\u{0}b"),
    ("bidi overrides", "gpj.\u{202E}exe\u{202C}\u{202D}x"),
    ("bidi isolates and marks", "\u{2066}a\u{2069}\u{2067}b\u{2068}c\u{200E}\u{200F}\u{61C}"),
    ("what has no width", "a\u{200B}b\u{200C}c\u{200D}d\u{2060}e\u{FEFF}f\u{AD}g\u{34F}h\u{180E}i"),
    ("what looks like nothing", "a\u{3164}b\u{115F}c\u{1160}d\u{FFA0}e\u{2800}f\u{17B4}g"),
    ("tags and annotations", "a\u{E0041}\u{E0042}\u{E007F}b\u{FFF9}c\u{FFFB}\u{E0100}"),
    ("no characters at all", "a\u{E000}b\u{F8FF}c\u{10FFFD}d\u{378}"),
    ("a path", "../../../etc/passwd/../../x"),
    ("marks upon marks", "a" + String(repeating: "\u{300}\u{489}", count: 500)),
    ("marks on what stands before it", "\u{20DD}\u{336}a (\u{336}b) \u{338}c \u{1B}\u{333}"),
    ("64 KiB", String(repeating: "long \u{1B}[31m", count: 6554)),
  ]

  /// The scalars in printed text that a terminal would obey, that change how others look, or that are invisible. A
  /// combining mark is unsafe after four others in a row. It is also unsafe after a space, a bracket or a quotation
  /// mark, and at the beginning of a line. A line may end only with a line feed.
  package static func unsafe(in printed: String) -> [Unicode.Scalar] {
    var marks = 4
    return printed.unicodeScalars.filter { scalar in
      let properties = scalar.properties
      switch properties.generalCategory {
      case .nonspacingMark, .enclosingMark:
        marks += 1
        if marks > 4 { return true }
      default: marks = " (\"\n".unicodeScalars.contains(scalar) ? 4 : 0
      }
      if scalar == "\n" || scalar.value == 0xFE0E || scalar.value == 0xFE0F { return false }
      switch properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return true
      default: return properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
      }
    }
  }
}
