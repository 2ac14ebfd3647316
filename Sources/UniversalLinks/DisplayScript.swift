/// The scripts in which internationalised hosts are shown as they are written.
///
/// The recommended ones of UAX #31, table 5, that run from left to right: a text with both directions is laid out in an order
/// in which nobody can tell where the host ends. Only their letters in everyday use and the marks on them, no digits of their
/// own, which look like others'. A host with anything else is shown in its ASCII form.
enum DisplayScript: CaseIterable {
  case latin, greek, cyrillic, armenian, georgian
  case devanagari, bengali, gurmukhi, gujarati, oriya, tamil, telugu, kannada, malayalam, sinhala
  case thai, lao, tibetan, myanmar, khmer, ethiopic
  case hangul, hiragana, katakana, bopomofo, han

  /// Where its letters are, as Unicode has them.
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

  /// The script of a letter or mark that is shown; nil for all others.
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

  /// The scripts that one label may have together (UTS #39 section 5.2, "highly restrictive").
  static let together: [Set<DisplayScript>] = [
    [.latin, .han, .hiragana, .katakana], [.latin, .han, .bopomofo], [.latin, .han, .hangul],
  ]

  /// Letters that look like those of ASCII, by Unicode's confusables.txt (UTS #39) and a few more: a label of nothing else can
  /// be taken for another, as `аррӏе` can.
  static let looksLikeASCII = Set(
    ("абсԁеһіјӏорԛгѕԝхуүѵԍпьъѡҽӕ" + "αγηικνορςστυχω" + "ագզլհյոռսցքօ" + "იყხძჩ" + "ഠဝ").unicodeScalars)

  /// Latin letters that are those of ASCII but for what is below the line, where underlines are, or goes through the letter: in
  /// `exạmple` nobody sees it. `ç` is none of them, which is in everyday use where no other mark is. A label that has more
  /// than such letters beyond ASCII, as words of the languages that have them mostly do (`łódź`, `việt`), is not taken for another.
  static let looksLikeItsBase = Set("ạẹịọụỵąęįųģķļņŗţșțşłđħŧơư".unicodeScalars)

  /// Letters and marks that look like slashes, dots, hyphens, colons and question marks.
  static let looksLikePunctuation = Set(
    ("ーノソンヽヾゝゞ一丨丶丿乀乁乚" + "\u{903}\u{983}\u{A83}\u{B03}\u{C03}\u{C83}\u{D03}\u{D83}\u{1038}\u{17C7}ஃॽ")
      .unicodeScalars)
}

extension Host {
  /// The host as a person is shown it.
  ///
  /// Internationalised labels are shown as they are written where none of them can mislead and the host is the same when it is
  /// typed in so; otherwise all of the host is in its ASCII form. A label may mislead that mixes scripts other than Japanese,
  /// Chinese or Korean do, whose letters all look like ASCII ones, as those of Latin with a dot or a hook below or a stroke do,
  /// whose letters look like slashes or dots beside Latin ones, or that has more than `DisplayScript`.
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
    // Beside a label like `xo--a`, which ASCII alone lets pass, there is no way back from letters beyond ASCII.
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

  /// UTS #39 section 5.4: marks that hide each other, or pile up over other lines, are none of any language.
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
