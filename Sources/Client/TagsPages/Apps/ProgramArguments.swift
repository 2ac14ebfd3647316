/// The arguments of a program as a person types them: words between spaces. Quotation marks keep spaces, and a
/// backslash takes the next character as it is, except between single quotation marks. Nothing else has a meaning.
package enum ProgramArguments {
  /// Nil if a quotation mark is missing, or nothing follows the last backslash.
  package static func words(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String.UnicodeScalarView?
    var quote: Unicode.Scalar?
    var isEscaped = false
    func append(_ scalar: Unicode.Scalar) {
      if word == nil { word = .init() }
      word?.append(scalar)
    }
    // Scalars, because a combining mark forms another character with a quotation mark.
    for scalar in text.unicodeScalars {
      if isEscaped {
        append(scalar)
        isEscaped = false
      } else if scalar == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if scalar == open { quote = nil } else { append(scalar) }
      } else if scalar == "'" || scalar == "\"" {
        (quote, word) = (scalar, word ?? .init())
      } else if scalar.properties.isWhitespace {
        if let done = word { words.append(String(done)) }
        word = nil
      } else {
        append(scalar)
      }
    }
    guard quote == nil, !isEscaped else { return nil }
    return words + (word.map { [String($0)] } ?? [])
  }
}
