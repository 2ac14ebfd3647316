/// Text from outside, made safe to show: of bounded length, on one line or on a bounded number of lines, and without
/// characters that control the display.
///
/// Control characters become spaces. So do line breaks, except line feeds (U+000A) in a text of several lines.
/// Bidirectional controls, invisible format characters, tag characters, and private or unassigned code points are
/// removed. Long runs of combining marks are cut. Text of any language remains, including emoji and the joiners of
/// scripts. The text is **not** escaped; the code that knows the markup does that.
package struct DisplayText: Sendable, Hashable, CustomStringConvertible {
  package let string: String

  package var isEmpty: Bool { string.isEmpty }

  /// Keeps at most `limit` characters, and at most twice as many scalars that are not marks. Swift may count a whole
  /// line of Hangul letters, or of emoji with joiners, as one character. Longer text ends in "…".
  ///
  /// Keeps at most `lines` lines, and at most one empty line in a row. Further line feeds become spaces.
  package init(_ raw: String, limit: Int = 200, lines: Int = 1) {
    let limit = min(max(limit, 0), DisplayText.maximumLimit)
    var clean = String.UnicodeScalarView()
    var marks = 0
    var spaceIsDue = false
    var lineFeeds = 0
    var remainingLines = max(lines, 1) - 1
    var kept = 0
    var isCut = false
    // Sixteen scalars per character are more than any script needs. The rest of a huge text is not read.
    reading: for scalar in raw.unicodeScalars.prefix(16 * limit) {
      switch DisplayText.treatment(of: scalar) {
      case .drop: continue
      case .space: spaceIsDue = !clean.isEmpty
      case .lineFeed:
        guard !clean.isEmpty else { continue }
        spaceIsDue = true
        lineFeeds += 1
      case .mark:
        marks += 1
        if marks <= DisplayText.maximumMarks && !spaceIsDue && !clean.isEmpty { clean.append(scalar) }
      case .keep:
        let newLines = min(lineFeeds, 2, remainingLines)
        kept += spaceIsDue ? 1 + max(newLines, 1) : 1
        guard kept <= 2 * limit else {
          isCut = true
          break reading
        }
        if newLines > 0 {
          clean.append(contentsOf: [Unicode.Scalar](repeating: "\n", count: newLines))
        } else if spaceIsDue {
          clean.append(" ")
        }
        (spaceIsDue, lineFeeds) = (false, 0)
        remainingLines -= newLines
        marks = 0
        clean.append(scalar)
      }
    }
    let text = String(clean)
    isCut = isCut || text.count > limit
    string = isCut && limit > 0 ? String(text.prefix(limit - 1)) + "…" : limit > 0 ? text : ""
  }

  package var description: String { string }

  /// The same text with every `http://`, `https://` and `ftp://` left out.
  ///
  /// A server that turns plain addresses into links (GNOME Shell does so for these) would open them without the agent.
  package var withoutSchemes: DisplayText {
    var result = String.UnicodeScalarView()
    // Go through scalars, as a server does: Swift merges a slash and a mark after it into another character.
    for scalar in string.unicodeScalars {
      result.append(scalar)
      // Removing a scheme may leave another one, so check the result.
      guard scalar == "/", let scheme = DisplayText.schemes.first(where: { $0.ends(result) }) else { continue }
      result.removeLast(scheme.length)
    }
    return DisplayText(String(result), limit: string.unicodeScalars.count, lines: .max)
  }

  private struct Scheme: Sendable {
    private let scalars: [Unicode.Scalar]
    var length: Int { scalars.count }

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// Ignores case.
    func ends(_ text: String.UnicodeScalarView) -> Bool {
      text.suffix(length).elementsEqual(scalars) { $0 == $1 || $0.properties.lowercaseMapping == String($1) }
    }
  }

  private static let schemes = ["https://", "http://", "ftp://"].map(Scheme.init)

  /// A larger limit is reduced to this.
  private static let maximumLimit = 1 << 16

  private enum Treatment { case keep, drop, space, lineFeed, mark }

  private static let maximumMarks = 4

  private static func treatment(of scalar: Unicode.Scalar) -> Treatment {
    if scalar == "\n" { return .lineFeed }
    // Symbols without ink: a braille pattern without dots, a note without a head.
    if scalar == "\u{2800}" || scalar == "\u{1D159}" { return .space }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: return .space
    case .nonspacingMark, .enclosingMark: return .mark
    // Joiners shape Indic and Arabic scripts and hold emoji together. Every other format character is invisible.
    case .format: return scalar == "\u{200C}" || scalar == "\u{200D}" ? .mark : .drop
    case .privateUse, .surrogate, .unassigned: return .drop
    default:
      // Letters without a glyph (the Hangul fillers) hide the text after them.
      return properties.isDefaultIgnorableCodePoint ? .drop : .keep
    }
  }
}
