/// Text of a client that a person is shown: bounded, and nothing in it that a terminal, a log or a notification would act on.
enum PlainText {
  /// Why a text is not taken.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - name: what the caller calls it.
  ///   - bytes: how many it may have.
  /// - Returns: what is wrong and what to do; nil where it is plain.
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
