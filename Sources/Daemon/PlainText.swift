/// Checks text from a client before it is shown to a person. The text must have a limited length, and no character that
/// a terminal, a log or a notification would interpret.
enum PlainText {
  /// Why a text is rejected.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - name: the name of the argument.
  ///   - bytes: the allowed length.
  /// - Returns: the problem and its remedy; nil if there is none.
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
    return isPlain ? nil : "\(name) holds control characters: give plain text"
  }
}
