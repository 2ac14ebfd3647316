/// Checks text from a client before it is shown to a person. The text must have a limited length, and no character that
/// a terminal, a log or a notification would interpret.
enum PlainText {
  /// Why a text with this allowed length in bytes is rejected, and the remedy; nil if it is accepted.
  static func problem(_ text: String, _ name: String, _ bytes: ClosedRange<Int>) -> String? {
    guard bytes.contains(text.utf8.count) else {
      return "\(name) has \(text.utf8.count) bytes: give \(bytes.lowerBound) to \(bytes.upperBound)"
    }
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    return isPlain ? nil : "\(name) contains control characters: use plain text"
  }
}
