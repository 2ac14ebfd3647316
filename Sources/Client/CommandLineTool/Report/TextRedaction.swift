import Names

/// Replaces what identifies a person or a tag in the texts of a report: users, the machine, serial numbers of readers,
/// and identifiers of tags. Removes lines with the contents of a tag.
struct TextRedaction: Sendable {
  /// Login names and real names.
  let users: [String]
  let home: String?
  let host: String
  /// Of tags, by their first two bytes. Each is also here with its last byte first.
  private let identifiers: [[UInt8]: [[UInt8]]]
  /// Links and texts of tags.
  private let contents: [String]

  static let user = "USER"
  static let host = "HOST"
  static let identifier = "UID"
  static let serial = "SERIAL"
  /// The usual lengths of identifiers, in hexadecimal digits: 4, 7, 8 and 10 bytes.
  private static let lengths: Set<Int> = [8, 14, 16, 20]

  init(users: [String], home: String?, host: String, identifiers: [[UInt8]], contents: [String] = []) {
    // A longer name may contain a shorter one.
    self.users = Set(users).sorted { ($1.count, $0) < ($0.count, $1) }
    (self.home, self.host, self.contents) = (home, host, contents)
    self.identifiers = Dictionary(
      grouping: Set(identifiers + identifiers.map { $0.reversed() }).filter { $0.count >= 4 }
        .sorted { $0.count > $1.count }
    ) { Array($0.prefix(2)) }
  }

  func redact(_ text: String) -> String {
    var text = withoutContents(text)
    if let home, home.count > 1 { text = text.replacing(home, with: "~") }
    for user in users { text = Self.replaceWord(user, in: text, with: Self.user) }
    // The domain is a part of the name.
    text = Self.replaceWord(host, in: text, with: Self.host)
    if let short = host.split(separator: ".").first {
      text = Self.replaceWord(String(short), in: text, with: Self.host)
    }
    return Self.redactIdentifiers(redactKnownIdentifiers(Self.withoutSerials(text)))
  }

  private func withoutContents(_ text: String) -> String {
    guard !contents.isEmpty else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      !contents.contains { line.contains($0) }
    }.joined(separator: "\n")
  }

  // MARK: Serial numbers of readers

  /// pcscd puts the serial number into the name of a reader, before the numbers that it appends: `… (SERIAL) 00 00`.
  /// udev puts it into a file name.
  static func withoutSerials(_ text: String) -> String {
    text.replacing(/\([^()\n]+\)(?= [0-9A-Fa-f]{2} [0-9A-Fa-f]{2}(?![0-9A-Za-z]))/, with: "(\(serial))")
      .replacing(/\/dev\/serial\/by-id\/[^\s"':,;)]+/, with: "/dev/serial/by-id/\(serial)")
  }

  // MARK: Identifiers

  /// Replaces the identifiers of recorded tags, also inside other words, in either case, and with a space, `-` or `:`
  /// between the bytes.
  private func redactKnownIdentifiers(_ text: String) -> String {
    guard !identifiers.isEmpty else { return text }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if let end = endOfIdentifier(in: bytes, at: index) {
        result += Self.identifier.utf8
        index = end
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Nil if no identifier begins at `start`.
  private func endOfIdentifier(in text: [UInt8], at start: Int) -> Int? {
    var index = start
    func nextByte() -> UInt8? {
      if index > start, index < text.count, [0x20, 0x2D, 0x3A].contains(text[index]) { index += 1 }
      guard index + 1 < text.count, let high = Hexadecimal.digit(text[index]),
        let low = Hexadecimal.digit(text[index + 1])
      else { return nil }
      index += 2
      return high << 4 | low
    }
    guard let first = nextByte(), let second = nextByte(), let candidates = identifiers[[first, second]] else {
      return nil
    }
    let end = index
    for candidate in candidates {
      index = end
      if candidate.dropFirst(2).allSatisfy({ nextByte() == $0 }) { return index }
    }
    return nil
  }

  /// Replaces each word that may be an identifier, such as `04A2B3C4D5E680`, `04-A2-B3-C4` or `04:A2:B3:C4`.
  private static func redactIdentifiers(_ text: String) -> String {
    var result = ""
    var word = ""
    for character in text {
      if character.isLetter || character.isNumber || character == "-" || character == ":" {
        word.append(character)
      } else {
        result += redact(word: word)
        result.append(character)
        word = ""
      }
    }
    return result + redact(word: word)
  }

  /// A word has parts, with `-` or `:` between them: `uid:04A2B3C4D5E680`.
  private static func redact(word: String) -> String {
    guard word.count >= 8 else { return word }
    var result = ""
    var rest = word[...]
    while !rest.isEmpty {
      let part = rest.prefix { $0 != "-" && $0 != ":" }
      // Pairs of digits belong together.
      let pairs = rest.prefixMatch(of: /[0-9A-Fa-f]{2}(?:[-:][0-9A-Fa-f]{2})+(?![0-9A-Za-z])/)?.output
      let taken = pairs ?? part
      if isLikeIdentifier(taken.filter { $0 != "-" && $0 != ":" }) {
        result += identifier
      } else {
        result += taken
      }
      rest = rest[taken.endIndex...]
      if let separator = rest.first {
        result.append(separator)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  /// Not for a number in decimal digits, nor for an English word such as `defaced`.
  private static func isLikeIdentifier(_ digits: String) -> Bool {
    lengths.contains(digits.count) && digits.allSatisfy(\.isHexDigit) && digits.contains(where: \.isLetter)
      && (digits.contains(where: \.isNumber) || digits == digits.uppercased())
  }

  // MARK: Names

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

/// The lines of the journal that may go into a report.
///
/// An app that the agent starts has the agent's standard output, so its lines have the agent's identifier. With `--apdu`,
/// pcscd logs the bytes of cards.
enum JournalRedaction {
  /// The kernel's names of the processes, which have at most 15 characters, as matches for journalctl(1).
  static let matches = ["tagrouted", "tagroute-agent", "tagroute-reader", "tagroute-mqtt", "pcscd"]
    .map { "_COMM=\($0)" }

  /// `journal` is the output of `journalctl --output=short-iso --no-hostname`.
  static func redact(_ journal: String) -> String {
    journal.split(separator: "\n").filter(isKept).map { "\($0)\n" }.joined()
  }

  /// The identifier follows the time: `2026-11-29T15:49:44+0000 pcscd[71]: text`. A further line of a message has none.
  private static func isKept(_ line: Substring) -> Bool {
    guard let match = line.prefixMatch(of: #/[0-9][^ ]* ([^ \[]+)\[[0-9]+\]: /#) else { return false }
    switch match.output.1 {
    case "tagrouted", "tagroute-agent", "tagroute-reader", "tagroute-reader-pcsc", "tagroute-mqtt": return true
    case "pcscd":
      // Each line begins with the microseconds since the line before.
      let text = line[match.range.upperBound...].trimmingPrefix(#/[0-9]{8} /#)
      return !text.contains("APDU") && !text.contains("SW:")
        && !text.contains(#/(?:^|[^0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ :-]?){4}/#)
    default: return false
    }
  }
}
