import Settings

/// The lines of a file of rules: which group each belongs to, and what is repeated.
///
/// A key file merges groups of the same name, and of a repeated key only the last value counts. In a rule, either is a
/// mistake: a second `UID=` does not mean "or".
struct RuleFileLayout {
  /// A header or a key that occurs a second time.
  struct Repetition {
    let line: Int
    let problem: String
    let remedy: String
  }

  /// The lines of the headers, in ascending order.
  private var headers: [Int] = []
  /// The first repetition in the group with this header.
  private var repetitions: [Int: Repetition] = [:]

  init(_ bytes: [UInt8]) {
    var firstHeaders: [ArraySlice<UInt8>: Int] = [:]
    var keys: Set<ArraySlice<UInt8>> = []
    var first = 0
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let number = index + 1
      let text = Self.trimmed(line)
      if text.first == UInt8(ascii: "[") {
        headers.append(number)
        keys = []
        first = firstHeaders[text] ?? number
        if firstHeaders.updateValue(first, forKey: text) != nil {
          note(first, number, "the group of line \(first) is repeated", "give each rule a name of its own")
        }
      } else if text.first != UInt8(ascii: "#"), let equals = text.firstIndex(of: UInt8(ascii: "=")) {
        let key = Self.trimmed(text[..<equals])
        guard !keys.insert(key).inserted else { continue }
        let name = String(decoding: key.prefix(40), as: UTF8.self)
        note(first, number, "the key \(name) is repeated", "write a second rule")
      }
    }
  }

  /// The line of the header above this line, or of this line; nil above the first one. Of a repeated header, it is the
  /// line of the repetition.
  func header(ofLine line: Int) -> Int? { headers.last { $0 <= line } }

  /// The first repetition in the group.
  func repetition(of group: KeyFile.Group) -> Repetition? { repetitions[group.line] }

  private mutating func note(_ header: Int, _ line: Int, _ problem: String, _ remedy: String) {
    if repetitions[header] == nil { repetitions[header] = Repetition(line: line, problem: problem, remedy: remedy) }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var line = line.drop(while: isSpace)
    while let last = line.last, isSpace(last) { line.removeLast() }
    return line
  }
}
