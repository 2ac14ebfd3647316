/// Text from outside that may stand on a screen: one line, bounded, without anything that acts instead of being shown.
///
/// Control characters and line breaks become spaces; bidirectional controls, invisible format characters, tag characters and
/// code points that mean nothing in public are gone; piles of combining marks are cut. What is left is text of any language,
/// joiners of scripts and emoji included. It is **not** escaped: that is the business of the place that knows the markup.
public struct DisplayText: Sendable, Hashable, CustomStringConvertible {
  /// The text.
  public let string: String

  /// Whether nothing is left to show.
  public var isEmpty: Bool { string.isEmpty }

  /// - Parameters:
  ///   - raw: text from anywhere, of any length.
  ///   - limit: at most this many characters, and twice as many scalars that are no marks: for Swift a whole line of Hangul letters, or
  ///     of emoji with joiners between them, can be one character. Longer text ends in "…".
  public init(_ raw: String, limit: Int = 200) {
    let limit = min(max(limit, 0), DisplayText.maximumLimit)
    var clean = String.UnicodeScalarView()
    var marks = 0
    var spaceIsDue = false
    var kept = 0
    var isCut = false
    // Sixteen scalars a character is more than any script needs; the rest of a huge text is not even looked at.
    reading: for scalar in raw.unicodeScalars.prefix(16 * limit) {
      switch DisplayText.treatment(of: scalar) {
      case .drop: continue
      case .space: spaceIsDue = !clean.isEmpty
      case .mark:
        marks += 1
        if marks <= DisplayText.maximumMarks && !spaceIsDue && !clean.isEmpty { clean.append(scalar) }
      case .keep:
        kept += spaceIsDue ? 2 : 1
        guard kept <= 2 * limit else {
          isCut = true
          break reading
        }
        if spaceIsDue { clean.append(" ") }
        spaceIsDue = false
        marks = 0
        clean.append(scalar)
      }
    }
    let text = String(clean)
    isCut = isCut || text.count > limit
    string = isCut && limit > 0 ? String(text.prefix(limit - 1)) + "…" : limit > 0 ? text : ""
  }

  /// The text.
  public var description: String { string }

  /// The same text with every `http://`, `https://` and `ftp://` left out.
  ///
  /// A server that turns plain addresses into links of its own (GNOME Shell does, for these) would open them past the agent.
  public var withoutSchemes: DisplayText {
    var result = String.UnicodeScalarView()
    // By scalars, as a server reads it: for Swift a mark behind the slash makes another character of that.
    for scalar in string.unicodeScalars {
      result.append(scalar)
      // What is left after a scheme was taken out may be one itself, so it is the result that is looked at.
      guard scalar == "/", let scheme = DisplayText.schemes.first(where: { $0.ends(result) }) else { continue }
      result.removeLast(scheme.length)
    }
    return DisplayText(String(result), limit: string.unicodeScalars.count)
  }

  /// The beginning of an address.
  private struct Scheme: Sendable {
    private let scalars: [Unicode.Scalar]
    var length: Int { scalars.count }

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// Whether the text ends in it; case does not count.
    func ends(_ text: String.UnicodeScalarView) -> Bool {
      text.suffix(length).elementsEqual(scalars) { $0 == $1 || $0.properties.lowercaseMapping == String($1) }
    }
  }

  private static let schemes = ["https://", "http://", "ftp://"].map(Scheme.init)

  /// A limit beyond this counts as this.
  private static let maximumLimit = 1 << 16

  private enum Treatment { case keep, drop, space, mark }

  private static let maximumMarks = 4

  private static func treatment(of scalar: Unicode.Scalar) -> Treatment {
    // Symbols that draw nothing: a braille pattern without dots, a note without a head.
    if scalar == "\u{2800}" || scalar == "\u{1D159}" { return .space }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: return .space
    case .nonspacingMark, .enclosingMark: return .mark
    // Joiners shape Indic and Arabic scripts and hold emoji together; every other format character is invisible.
    case .format: return scalar == "\u{200C}" || scalar == "\u{200D}" ? .mark : .drop
    case .privateUse, .surrogate, .unassigned: return .drop
    default:
      // Letters that look like nothing (the Hangul fillers) hide what follows them.
      return properties.isDefaultIgnorableCodePoint ? .drop : .keep
    }
  }
}
