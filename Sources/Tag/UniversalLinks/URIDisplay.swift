extension URI {
  /// A text that shows people where the link leads, in characters that cannot mislead.
  ///
  /// An http or https link is displayed without its scheme, because desktops turn `https://` into a link themselves.
  /// Other links keep their scheme: `sms:evil.example` does not lead to the web. A query becomes `?…`, and a fragment
  /// is left out. A web host is displayed as by `Host/display`. In a web link's path, percent-encoded letters are
  /// decoded. Characters that are invisible, run from right to left or have a meaning in URIs stay encoded.
  ///
  /// - Parameters:
  ///   - limit: the maximum length in Unicode scalars, at least 16. In Swift a whole path of Hangul letters can be one
  ///     `Character`. In a longer text, `…` replaces the middle of the path, or the start of a host that is too long.
  ///     The part of the host that has an owner is never cut, even beyond the limit.
  ///   - suffixes: the public suffixes, which decide which part of the host has an owner.
  /// - Returns: one line of plain text, neither escaped nor marked up.
  public func display(limit: Int = 80, suffixes: PublicSuffixList = .system) -> String {
    let limit = max(limit, 16)
    let origin = displayedOrigin(suffixes)
    guard origin.text.unicodeScalars.count <= limit else {
      return URI.end(of: origin.text, limit: limit, kept: origin.kept)
    }
    var tail = isWeb && path == "/" && query == nil ? "" : isWeb ? URI.readable(path) : path
    if query != nil { tail += "?…" }
    let room = limit - origin.text.unicodeScalars.count
    guard tail.unicodeScalars.count > room else { return origin.text + tail }
    guard room >= 3 else { return origin.text + String(repeating: "…", count: min(room, 1)) }
    let end = (room - 1) / 2
    return origin.text + tail.beginning(room - 1 - end) + "…" + tail.ending(end)
  }

  /// The text if it fits, or `…` and its end. The last `kept` scalars are never cut.
  fileprivate static func end(of text: String, limit: Int, kept: Int) -> String {
    text.unicodeScalars.count <= max(limit, kept) ? text : "…" + text.ending(max(limit - 1, kept))
  }

  /// The text before the path, and how many scalars at its end show the host's owner.
  private func displayedOrigin(_ suffixes: PublicSuffixList) -> (text: String, kept: Int) {
    let text = isWeb ? "" : scheme + ":"
    guard let host else { return (text, 0) }
    let port = port.map { ":\($0)" } ?? ""
    guard isWeb else {
      let shown = "//" + host.description
      return (text + shown + port, host.kind == .opaque ? 0 : shown.unicodeScalars.count + port.count)
    }
    let shown = host.displayed(suffixes)
    return (text + shown.text + port, shown.kept + port.count)
  }

  /// Decodes percent-encoded UTF-8 if the character is a visible non-ASCII one.
  static func readable(_ encoded: String) -> String {
    var result = String.UnicodeScalarView()
    var bytes = encoded.utf8[...]
    while let byte = bytes.first {
      if let (scalar, length) = encodedScalar(bytes), isSafe(scalar, after: result) {
        result.append(scalar)
        bytes = bytes.dropFirst(length)
      } else {
        result.append(Unicode.Scalar(byte))
        bytes = bytes.dropFirst()
      }
    }
    return String(result)
  }

  /// The non-ASCII scalar that is percent-encoded at the start of `bytes`, and how many bytes its encoding takes.
  private static func encodedScalar(_ bytes: Substring.UTF8View) -> (Unicode.Scalar, Int)? {
    guard let (utf8, count) = PercentEncoding.character(bytes),
      let scalar = String(decoding: utf8, as: UTF8.self).unicodeScalars.first, !scalar.isASCII
    else { return nil }
    return (scalar, count)
  }

  private static func isSafe(_ scalar: Unicode.Scalar, after text: String.UnicodeScalarView) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber:
      return !scalar.properties.isDefaultIgnorableCodePoint && !isRightToLeft(scalar)
    case .modifierLetter:
      return DisplayScript(scalar) != nil
    case .nonspacingMark, .spacingMark:
      // A mark has to follow a letter of the same script. A letter may have three marks; no language needs more.
      guard let script = DisplayScript(scalar), let base = text.suffix(3).last(where: { !isMark($0) }) else {
        return false
      }
      return DisplayScript(base) == script
    default:
      return false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
  }

  /// Whether the scalar is in a Unicode range of right-to-left scripts (UAX #9 section 3.1, DerivedBidiClass).
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    [0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF]
      .contains { $0.contains(scalar.value) }
  }
}

extension String {
  /// The longest start of whole characters with at most `most` scalars.
  fileprivate func beginning(_ most: Int) -> Substring {
    var room = most
    return prefix { character in
      room -= character.unicodeScalars.count
      return room >= 0
    }
  }

  /// The longest end of whole characters with at most `most` scalars.
  fileprivate func ending(_ most: Int) -> Substring {
    var room = most
    let start = indices.reversed().prefix { index in
      room -= self[index].unicodeScalars.count
      return room >= 0
    }.last
    return start.map { self[$0...] } ?? ""
  }
}

extension Host {
  /// The host as displayed in little space. It is cut at its start, because its end shows its owner.
  ///
  /// - Parameters:
  ///   - limit: the maximum length in Unicode scalars. The part of the host that has an owner is never cut, even beyond
  ///     it.
  ///   - suffixes: the public suffixes, which decide which part of the host has an owner.
  /// - Returns: ``display`` if it fits, or `…` and its end.
  public func display(limit: Int, suffixes: PublicSuffixList = .system) -> String {
    let (text, kept) = displayed(suffixes)
    return URI.end(of: text, limit: limit, kept: kept)
  }

  /// The displayed host, and how many scalars at its end show its owner.
  fileprivate func displayed(_ suffixes: PublicSuffixList) -> (text: String, kept: Int) {
    let shown = display
    guard kind == .domain, let registrable = suffixes.registrableDomain(of: text) else {
      return (shown, shown.unicodeScalars.count)
    }
    let labels = registrable.split(separator: ".").count
    return (shown, shown.split(separator: ".").suffix(labels).joined(separator: ".").unicodeScalars.count)
  }
}

extension DomainPattern {
  /// The pattern as displayed in little space. Its domain is displayed as by ``Host/display(limit:suffixes:)``.
  ///
  /// - Parameters:
  ///   - limit: the maximum length in Unicode scalars. The part of the domain that has an owner is never cut.
  ///   - suffixes: the public suffixes, which decide which part of the domain has an owner.
  /// - Returns: the domain, with `*.` in front if the pattern is a wildcard.
  public func display(limit: Int, suffixes: PublicSuffixList = .system) -> String {
    let wildcard = isWildcard ? "*." : ""
    guard let host = try? Host(name: domain) else { return description }
    return wildcard + host.display(limit: limit - wildcard.count, suffixes: suffixes)
  }
}

/// The scripts that an internationalised host may be displayed in: the recommended left-to-right ones of UAX #31, table
/// 5.
///
/// In a text with both directions, a reader cannot tell where the host ends. Only letters in everyday use and the marks
/// on them are included. The scripts' own digits are left out, because they look like digits of other scripts. A host
/// with any other character is displayed in its ASCII form.
enum DisplayScript: CaseIterable {
  case latin, greek, cyrillic, armenian, georgian
  case devanagari, bengali, gurmukhi, gujarati, oriya, tamil, telugu, kannada, malayalam, sinhala
  case thai, lao, tibetan, myanmar, khmer, ethiopic
  case hangul, hiragana, katakana, bopomofo, han

  /// The Unicode ranges of the script's letters and marks.
  var ranges: [ClosedRange<UInt32>] {
    switch self {
    case .latin:
      [
        0x61...0x7A, 0xDF...0xF6, 0xF8...0x130, 0x132...0x137, 0x139...0x148, 0x14A...0x17E, 0x1A1...0x1A1,
        0x1B0...0x1B0, 0x1CE...0x1DC, 0x219...0x219, 0x21B...0x21B, 0x259...0x259, 0x1EA1...0x1EF9,
      ]
    case .greek: [0x3AC...0x3CE]
    case .cyrillic: [0x430...0x45F, 0x48A...0x52F]
    case .armenian: [0x561...0x586]
    case .georgian: [0x10D0...0x10F0]
    case .devanagari: [0x901...0x950, 0x955...0x963, 0x971...0x97F]
    case .bengali: [0x981...0x9FE]
    case .gurmukhi: [0xA01...0xA75]
    case .gujarati: [0xA81...0xAF9]
    case .oriya: [0xB01...0xB71]
    case .tamil: [0xB82...0xBD7]
    case .telugu: [0xC01...0xC5A, 0xC60...0xC63]
    case .kannada: [0xC81...0xCD6, 0xCDE...0xCF2]
    case .malayalam: [0xD02...0xD7F]
    case .sinhala: [0xD82...0xDF3]
    case .thai: [0xE01...0xE4E]
    case .lao: [0xE81...0xECD]
    case .tibetan: [0xF40...0xFBC]
    case .myanmar: [0x1000...0x103F]
    case .khmer: [0x1780...0x17D3]
    case .ethiopic: [0x1200...0x135A]
    case .hangul: [0xAC00...0xD7A3]
    case .hiragana: [0x3041...0x3096, 0x309D...0x309E]
    case .katakana: [0x30A1...0x30FA, 0x30FC...0x30FE]
    case .bopomofo: [0x3105...0x312F]
    case .han: [0x3005...0x3005, 0x3400...0x4DBF, 0x4E00...0x9FFF]
    }
  }

  /// The script of a letter or mark that may be displayed. Nil for every other scalar.
  init?(_ scalar: Unicode.Scalar) {
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark: break
    default: return nil
    }
    guard let script = Self.allCases.first(where: { $0.ranges.contains { $0.contains(scalar.value) } }) else {
      return nil
    }
    self = script
  }

  /// The sets of scripts that may be mixed in one label (UTS #39 section 5.2, "highly restrictive").
  static let together: [Set<DisplayScript>] = [
    [.latin, .han, .hiragana, .katakana], [.latin, .han, .bopomofo], [.latin, .han, .hangul],
  ]

  /// Letters that look like ASCII letters, from Unicode's confusables.txt (UTS #39), and a few more. A label with no
  /// other letters can be mistaken for an ASCII one: `аррӏе` looks like `apple`.
  static let looksLikeASCII = Set(
    ("абсԁеһіјӏорԛгѕԝхуүѵԍпьъѡҽӕ" + "αγηικνορςστυχω" + "ագզլհյոռսցքօ" + "იყხძჩ" + "ഠဝ").unicodeScalars)

  /// Latin letters that differ from an ASCII letter only below the line, where underlines are drawn, or by a stroke. In
  /// `exạmple` the dot is easy to miss. `ç` is not listed, because it is the only mark in many everyday words. A label
  /// with other non-ASCII letters too is not taken for another, and most words with these letters have some (`łódź`,
  /// `việt`).
  static let looksLikeItsBase = Set("ạẹịọụỵąęįųģķļņŗţșțşłđħŧơư".unicodeScalars)

  /// Letters and marks that look like slashes, dots, hyphens, colons or question marks.
  static let looksLikePunctuation = Set(
    ("ーノソンヽヾゝゞ一丨丶丿乀乁乚" + "\u{903}\u{983}\u{A83}\u{B03}\u{C03}\u{C83}\u{D03}\u{D83}\u{1038}\u{17C7}ஃॽ")
      .unicodeScalars)
}

extension Host {
  /// The host in the form that is displayed to people.
  ///
  /// Internationalised labels are displayed in Unicode if none of them can mislead and the displayed host, typed in,
  /// gives the same host. Otherwise the whole host is displayed in its ASCII form. A label can mislead if it
  /// - has characters that no `DisplayScript` contains, other than ASCII digits and hyphens;
  /// - mixes scripts in another way than Japanese, Chinese and Korean do;
  /// - has only letters that look like ASCII letters;
  /// - has, beyond ASCII, only Latin letters with a dot or hook below or with a stroke;
  /// - has letters that look like slashes or dots beside ASCII characters, or has only such letters;
  /// - repeats or piles up marks on a letter.
  public var display: String {
    guard kind == .domain, text.contains("xn--") else { return description }
    var labels: [String] = []
    for label in text.split(separator: ".") {
      guard label.hasPrefix("xn--") else {
        labels.append(String(label))
        continue
      }
      guard let unicode = InternationalDomainName.unicode(label: String(label)), Host.isPlain(unicode.unicodeScalars)
      else {
        return text
      }
      labels.append(unicode)
    }
    let shown = labels.joined(separator: ".")
    // A label such as `xo--a` is valid in an all-ASCII host. libidn2 rejects it beside non-ASCII letters.
    return (try? InternationalDomainName.ascii(shown)) == text ? shown : text
  }

  private static func isPlain(_ label: String.UnicodeScalarView) -> Bool {
    var scripts: Set<DisplayScript> = []
    var letters: [Unicode.Scalar] = []
    var hasASCII = false
    for scalar in label {
      hasASCII = hasASCII || scalar.isASCII
      if scalar == "-" || ("0"..."9").contains(scalar) { continue }
      guard let script = DisplayScript(scalar) else { return false }
      scripts.insert(script)
      letters.append(scalar)
    }
    guard scripts.count == 1 || DisplayScript.together.contains(where: scripts.isSubset) else { return false }
    let punctuation = letters.count { DisplayScript.looksLikePunctuation.contains($0) }
    guard punctuation == 0 || !hasASCII && punctuation < letters.count else { return false }
    guard !letters.allSatisfy(DisplayScript.looksLikeASCII.contains) else { return false }
    let foreign = letters.filter { !$0.isASCII }
    guard !foreign.allSatisfy(DisplayScript.looksLikeItsBase.contains) else { return false }
    return hasOrdinaryMarks(letters)
  }

  /// No letter may have a mark twice or more than four marks (UTS #39 section 5.4). They hide each other or cover other
  /// lines, and no language uses them.
  private static func hasOrdinaryMarks(_ letters: [Unicode.Scalar]) -> Bool {
    var marks: [Unicode.Scalar] = []
    for letter in letters {
      guard letter.properties.generalCategory == .nonspacingMark else {
        marks = []
        continue
      }
      guard marks.count < 4, !marks.contains(letter) else { return false }
      marks.append(letter)
    }
    return true
  }
}
