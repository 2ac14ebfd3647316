/// Checks text from a client before it is shown to a person. The text must have a limited length, and no character that
/// a terminal, a log or a notification would interpret.
enum PlainText {
  /// Why a text with this allowed length in bytes is rejected, and the remedy; nil if it is accepted. With
  /// `allowsLineBreaks`, it may contain U+000A.
  static func problem(
    _ text: String, _ name: String, _ bytes: ClosedRange<Int>, allowsLineBreaks: Bool = false
  ) -> String? {
    guard bytes.contains(text.utf8.count) else {
      return "\(name) has \(text.utf8.count) bytes: give \(bytes.lowerBound) to \(bytes.upperBound)"
    }
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control where scalar == "\n": allowsLineBreaks
      case .control, .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    let remedy = allowsLineBreaks ? "use plain text, with U+000A between lines" : "use plain text"
    return isPlain ? nil : "\(name) contains control characters: \(remedy)"
  }
}
