/// One rule of an association file: the links that it covers, and whether it admits or excludes them.
public struct LinkRule: Sendable, Hashable {
  /// The condition on the query of a link.
  enum Query: Sendable, Hashable {
    case whole(LinkPattern)
    /// Each of these items has to match. Other items may have any value.
    case items([Item])
  }

  struct Item: Sendable, Hashable {
    /// UTF-8.
    let name: [UInt8]
    let pattern: LinkPattern
  }

  /// Its location in the file: `applinks.details[0].components[2]`.
  public let location: String
  /// Whether matching links are excluded.
  public let isExclusion: Bool
  let comparison: LinkPattern.Comparison
  let path: LinkPattern?
  let query: Query?
  let fragment: LinkPattern?

  /// The cost of a rule without patterns.
  static let ownCost = 3

  /// The maximum cost of trying the rule on a link, in the unit of pattern costs.
  var cost: Int {
    let patterns: [LinkPattern?]
    switch query {
    case nil: patterns = [path, fragment]
    case .whole(let pattern)?: patterns = [path, fragment, pattern]
    case .items(let items)?: patterns = [path, fragment] + items.map(\.pattern)
    }
    return patterns.reduce(1) { $0 + 1 + ($1?.cost ?? 0) }
  }

  /// Whether the rule covers this link. Parts that the rule does not name may have any value.
  func covers(_ link: LinkParts, steps: inout MatchingSteps) -> Bool {
    if let path, !link.path.isCovered(by: path, steps: &steps) { return false }
    if let fragment, !link.fragment.isCovered(by: fragment, steps: &steps) { return false }
    switch query {
    case nil: return true
    case .whole(let pattern)?: return link.query.isCovered(by: pattern, steps: &steps)
    case .items(let items)?:
      for item in items {
        steps.take(1)
        for value in link.values(of: item.name) where !value.isCovered(by: item.pattern, steps: &steps) { return false }
      }
      return true
    }
  }
}

/// The parts of a link that rules examine, prepared for one kind of comparison.
struct LinkParts {
  let path: LinkPatternSubject
  let query: LinkPatternSubject
  let fragment: LinkPatternSubject
  /// The key is the UTF-8 of the name, because Swift can treat two texts as equal that are different names to a server.
  private let items: [[UInt8]: [LinkPatternSubject]]
  private let missing: [LinkPatternSubject]

  init(_ uri: URI, _ comparison: LinkPattern.Comparison) {
    // RFC 3986 section 6.2.3: an empty path is the root.
    path = LinkPatternSubject(uri.path.isEmpty ? "/" : uri.path, comparison)
    query = LinkPatternSubject(uri.query ?? "", comparison)
    fragment = LinkPatternSubject(uri.fragment ?? "", comparison)
    var items: [[UInt8]: [LinkPatternSubject]] = [:]
    for item in (uri.query ?? "").split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      items[Array(PercentEncoding.decoded(parts[0]).utf8), default: []].append(
        LinkPatternSubject(parts.count == 2 ? parts[1] : "", comparison))
    }
    self.items = items
    missing = [LinkPatternSubject("", comparison)]
  }

  /// All values of an item, or one empty value if the link does not have the item.
  func values(of item: [UInt8]) -> [LinkPatternSubject] { items[item] ?? missing }

  /// The steps that their creation took.
  var cost: Int {
    items.values.joined().reduce(path.cost + query.cost + fragment.cost) { $0 + $1.cost }
  }
}

/// Tries one link on the rules of any number of files.
///
/// All files share the intermediate results about the link. They also share a limited number of steps. So the authors
/// of rules and links cannot keep a program busy.
public struct LinkMatching: Sendable {
  /// The default limit of steps for one link. It takes a few milliseconds.
  public static let standardSteps = 1 << 22

  /// The link.
  public let uri: URI
  /// The steps taken so far: words of sets, characters, rules and ids that were examined.
  public var steps: Int { taken.count }

  private var taken: MatchingSteps
  private let maximumSteps: Int
  private var parts: [LinkPattern.Comparison: LinkParts] = [:]
  private lazy var hasDotSegments = uri.hasDotSegments

  /// - Parameters:
  ///   - uri: the link. Its domain is ignored.
  ///   - maximumSteps: the maximum number of steps for all verdicts together. One file gets at most a quarter of them,
  ///     so that some are left for later files.
  public init(_ uri: URI, maximumSteps: Int = LinkMatching.standardSteps) {
    self.uri = uri
    self.maximumSteps = max(maximumSteps, 0)
    taken = MatchingSteps(limit: self.maximumSteps)
  }

  /// Decides about the link.
  ///
  /// If several details name the application, their rules form one list, in the order of the file. No rule covers a
  /// path with dot segments. Resolved, such a path differs from the path as written, and an application may use either.
  ///
  /// - Parameters:
  ///   - association: the file.
  ///   - isApplication: whether an id in the file is the application's.
  /// - Returns: the decision of the first rule that covers the link.
  public mutating func verdict(
    of association: AppSiteAssociation, for isApplication: (String) -> Bool
  ) -> AppSiteAssociation.Verdict {
    taken.limit = min(maximumSteps, taken.count + max(maximumSteps / 4, 1))
    var verdict = AppSiteAssociation.Verdict.unnamed
    for detail in association.details {
      taken.take(1 + detail.appIDs.count)
      guard !taken.isOver else { return .undecided }
      guard detail.appIDs.contains(where: isApplication) else { continue }
      verdict = .unmatched
      guard !hasDotSegments else { continue }
      for rule in detail.rules {
        let link = parts(for: rule.comparison)
        taken.take(1)
        let covers = !taken.isOver && rule.covers(link, steps: &taken)
        // A result is invalid if the steps ran out before it.
        guard !taken.isOver else { return .undecided }
        if covers { return rule.isExclusion ? .excluded(rule) : .matched(rule) }
      }
    }
    return verdict
  }

  /// Decides whether a condition covers the link. Conditions share all steps. A pattern covers no path with dot
  /// segments, like a rule.
  ///
  /// - Parameter condition: the condition.
  /// - Returns: nil if the steps ran out, so that the answer is unknown.
  public mutating func covers(_ condition: LinkCondition) -> Bool? {
    taken.limit = maximumSteps
    taken.take(1)
    guard !taken.isOver else { return nil }
    switch condition.kind {
    case .exact(let link): return link == uri
    case .pattern(let scheme, let host, let rule):
      guard scheme == uri.scheme, host.covers(uri), !hasDotSegments else { return false }
      let covers = rule.covers(parts(for: rule.comparison), steps: &taken)
      return taken.isOver ? nil : covers
    }
  }

  private mutating func parts(for comparison: LinkPattern.Comparison) -> LinkParts {
    if let known = parts[comparison] { return known }
    let made = LinkParts(uri, comparison)
    taken.take(made.cost)
    parts[comparison] = made
    return made
  }
}

extension URI {
  /// Whether some reader sees a segment `.` or `..` in the path (RFC 3986, section 3.3). Browsers read `%2e` as a dot
  /// and `\` as a slash (WHATWG URL, "path state"). Many servers decode `%2F` and `%5C` before they resolve dot
  /// segments.
  var hasDotSegments: Bool {
    let segments = PercentEncoding.decoded(path).utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    return segments.contains { (1...2).contains($0.count) && $0.allSatisfy { $0 == UInt8(ascii: ".") } }
  }
}

/// Counts steps up to a limit.
struct MatchingSteps: Sendable {
  private(set) var count = 0
  /// Matching stops when the count is above this limit.
  var limit: Int

  init(limit: Int = .max) { self.limit = limit }

  var isOver: Bool { count > limit }

  mutating func take(_ steps: Int) { count += steps }
}

/// The values of `$(name)` in a pattern: Apple's built-in variables and those that a file defines.
public struct SubstitutionVariables: Sendable, Hashable {
  private var defined: [String: LinkPattern.Atom] = [:]

  /// The built-in variables. `alpha`, `upper`, `lower`, `alnum`, `digit` and `xdigit` match one character each.
  /// `region` and `lang` match an ISO 3166-1 or ISO 639 code.
  public init() {}

  /// Defines a variable. It replaces a built-in variable with the same name.
  ///
  /// - Parameters:
  ///   - name: the case-sensitive name, without `$`, `(` and `)`.
  ///   - values: the texts that it matches. `*` and `?` are wildcards in them, and other variables are not allowed.
  /// - Throws: `AssociationError` if the name or a value is not allowed, or if the values are too long.
  public mutating func define(_ name: String, as values: [String]) throws(AssociationError) {
    guard !name.isEmpty, !name.unicodeScalars.contains(where: { "$()".unicodeScalars.contains($0) }) else {
      throw AssociationError("a variable's name is not empty and has none of $ ( )")
    }
    let scalars = values.reduce(0) { $0 + $1.unicodeScalars.count }
    guard scalars <= LinkPattern.maximumCost else {
      throw AssociationError("the values have more than \(LinkPattern.maximumCost) characters")
    }
    for value in values where value.contains("$(") {
      throw AssociationError("a variable's value cannot hold another variable")
    }
    defined[name] = .alternatives(values.map { $0.unicodeScalars.map(LinkPattern.wildcard) })
  }

  func atom(named name: String) -> LinkPattern.Atom? {
    if let atom = defined[name] { return atom }
    if let kind = CharacterKind(rawValue: name) { return .oneOf(kind) }
    return CodeList(rawValue: name).map(LinkPattern.Atom.code)
  }
}

/// The built-in variables that match one character. The raw values are the variables' names.
enum CharacterKind: String, Sendable, Hashable {
  case alpha
  case upper
  case lower
  case alnum
  case digit
  case xdigit

  func contains(_ scalar: Unicode.Scalar, isCaseSensitive: Bool) -> Bool {
    guard scalar.isASCII, let byte = scalar.utf8.first else { return false }
    let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    return switch self {
    case .alpha: CharacterClasses.isAlpha(byte)
    case .upper: isCaseSensitive ? isUpper : CharacterClasses.isAlpha(byte)
    case .lower: CharacterClasses.isAlpha(byte) && !(isCaseSensitive && isUpper)
    case .alnum: CharacterClasses.isAlpha(byte) || CharacterClasses.isDigit(byte)
    case .digit: CharacterClasses.isDigit(byte)
    case .xdigit: CharacterClasses.isHexDigit(byte)
    }
  }
}

/// The built-in variables that match a code from a registry. The raw values are the variables' names.
enum CodeList: String, Sendable, Hashable {
  /// ISO 3166-1, two upper-case letters.
  case region
  /// ISO 639: two letters, or three if a language has no code of two.
  case lang

  var lengths: [Int] { self == .region ? [2] : [2, 3] }

  func contains(_ code: ArraySlice<Unicode.Scalar>, isCaseSensitive: Bool) -> Bool {
    var key: UInt32 = 0
    for scalar in code {
      guard scalar.isASCII, var byte = scalar.utf8.first, CharacterClasses.isAlpha(byte) else { return false }
      if !isCaseSensitive { byte = self == .region ? byte & 0xDF : byte | 0x20 }
      key = key << 8 | UInt32(byte)
    }
    return self == .region ? Self.regions.contains(key) : Self.languages.contains(key)
  }

  private static let regions = keys(of: regionCodes)
  private static let languages = keys(of: languageCodes)

  /// Codes as numbers. Making a number from a part of a link and comparing it is faster than with a text.
  private static func keys(of codes: String) -> Set<UInt32> {
    Set(codes.split(whereSeparator: \.isWhitespace).map { $0.utf8.reduce(0) { $0 << 8 | UInt32($1) } })
  }

  private static let regionCodes = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA
    CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA
    GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
    KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS
    MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS
    RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW
    TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """

  private static let languageCodes = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne
    ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu ace ach ada ady afa
    afh ain akk ale alg alt ang anp apa arc arn arp art arw ast ath aus awa bad bai bal ban bas bat bej bem ber bho bik
    bin bla bnt bra btk bua bug byn cad cai car cau ceb cel chb chg chk chm chn cho chp chr chy cmc cnr cop cpe cpf cpp
    crh crp csb cus dak dar day del den dgr din doi dra dsb dua dum dyu efi egy eka elx enm ewo fan fat fil fiu fon frm
    fro frr frs fur gaa gay gba gem gez gil gmh goh gon gor got grb grc gsw gwi hai haw hil him hit hmn hsb hup iba ijo
    ilo inc ine inh ira iro jbo jpr jrb kaa kab kac kam kar kaw kbd kha khi kho kmb kok kos kpe krc krl kro kru kum kut
    lad lah lam lez lol loz lua lui lun luo lus mad mag mai mak man map mas mdf mdr men mga mic min mis mkh mnc mni mno
    moh mos mul mun mus mwl mwr myn myv nah nai nap nds new nia nic niu nog non nqo nso nub nwc nym nyn nyo nzi osa ota
    oto paa pag pal pam pap pau peo phi phn pon pra pro raj rap rar roa rom rup sad sah sai sal sam sas sat scn sco sel
    sem sga sgn shn sid sio sit sla sma smi smj smn sms snk sog son srn srr ssa suk sus sux syc syr tai tem ter tet tig
    tiv tkl tlh tli tmh tog tpi tsi tum tup tut tvl tyv udm uga umb und vai vot wak wal war was wen xal yao yap ypk zap
    zbl zen zgh znd zun zxx zza
    """
}
