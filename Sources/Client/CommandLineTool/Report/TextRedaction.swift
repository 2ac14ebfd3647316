import Names

/// Replaces what identifies a person or a tag in the texts of a report: the user, the machine, and identifiers of tags.
struct TextRedaction: Sendable {
  /// Of the user, with the home directory.
  let users: [String]
  let home: String?
  let host: String
  /// Of tags.
  let identifiers: [[UInt8]]

  static let user = "USER"
  static let host = "HOST"
  static let identifier = "UID"
  /// The usual lengths of identifiers, in hexadecimal digits: 4, 7, 8 and 10 bytes.
  private static let lengths: Set<Int> = [8, 14, 16, 20]

  func redact(_ text: String) -> String {
    var text = text
    if let home, home.count > 1 { text = text.replacing(home, with: "~") }
    for user in users { text = Self.replaceWord(user, in: text, with: Self.user) }
    // The domain is a part of the name.
    text = Self.replaceWord(host, in: text, with: Self.host)
    if let short = host.split(separator: ".").first {
      text = Self.replaceWord(String(short), in: text, with: Self.host)
    }
    return redactIdentifiers(text)
  }

  /// Replaces each word that may be an identifier: `04A2B3C4D5E680`, `04-A2-B3-C4` or `04:A2:B3:C4`. A number in decimal
  /// digits stays, unless it is the identifier of a tag that was recorded.
  private func redactIdentifiers(_ text: String) -> String {
    let known = Set(identifiers.map { Hexadecimal.text($0) })
    var result = ""
    var word = ""
    func flush() {
      defer { word = "" }
      let pairs = word.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == ":" }
      let digits = pairs.joined().uppercased()
      // The numbers of a USB device are two groups of four digits.
      let isHexadecimal = digits.allSatisfy(\.isHexDigit) && (pairs.count == 1 || pairs.allSatisfy { $0.count == 2 })
      let looksAlike =
        Self.lengths.contains(digits.count) && digits.contains { !$0.isNumber } && word == word.uppercased()
      result += isHexadecimal && (known.contains(digits) || looksAlike) ? Self.identifier : word
    }
    for character in text {
      if character.isLetter || character.isNumber || character == "-" || character == ":" {
        word.append(character)
      } else {
        flush()
        result.append(character)
      }
    }
    flush()
    return result
  }

  /// A word ends at anything but a letter, a digit or `_`.
  private static func replaceWord(_ word: String, in text: String, with substitute: String) -> String {
    guard word.count > 1 else { return text }
    func isInWord(_ character: Character?) -> Bool {
      character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }
    var result = ""
    var rest = text[...]
    while let range = rest.firstRange(of: word) {
      let before = range.lowerBound > rest.startIndex ? rest[rest.index(before: range.lowerBound)] : result.last
      let after = range.upperBound < rest.endIndex ? rest[range.upperBound] : nil
      result += rest[..<range.lowerBound]
      result += isInWord(before) || isInWord(after) ? word : substitute
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
