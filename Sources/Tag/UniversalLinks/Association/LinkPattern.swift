import Names

/// A pattern in the syntax of apple-app-site-association files, for a path, a query, a query item or a fragment.
///
/// `*` matches zero or more characters, `?` exactly one, `$(name)` a value of a substitution variable. There is no
/// escape. A pattern has to cover the whole text. (Apple, "Supporting associated domains"; WWDC20-10098 for
/// substitution variables.)
///
/// For every pattern and text, matching takes time in proportion to the pattern's expanded length times the text's
/// length.
public struct LinkPattern: Sendable, Hashable {
  /// How a pattern and a text are compared.
  public struct Comparison: Sendable, Hashable {
    /// Whether `A` and `a` differ.
    public var isCaseSensitive: Bool
    /// Whether texts are compared as written in a URI. If false, both sides are percent-decoded as UTF-8 first.
    public var isPercentEncoded: Bool

    /// - Parameters:
    ///   - isCaseSensitive: whether `A` and `a` differ.
    ///   - isPercentEncoded: whether texts are compared as written in a URI.
    public init(isCaseSensitive: Bool = true, isPercentEncoded: Bool = true) {
      self.isCaseSensitive = isCaseSensitive
      self.isPercentEncoded = isPercentEncoded
    }
  }

  enum Atom: Sendable, Hashable {
    case scalar(Unicode.Scalar)
    case anyOne
    case anyMany
    case oneOf(CharacterKind)
    case code(CodeList)
    case alternatives([[Atom]])

    /// Its contribution to the time of matching.
    var cost: Int {
      guard case .alternatives(let alternatives) = self else { return 1 }
      return alternatives.reduce(1) { $0 + $1.reduce(1) { $0 + $1.cost } }
    }
  }

  /// The maximum number of atoms in a pattern, with those of variables counted at each use.
  static let maximumCost = 16_384

  let atoms: [Atom]
  let comparison: Comparison
  /// The number of atoms, counted like `maximumCost`.
  let cost: Int

  /// Reads a pattern.
  ///
  /// - Parameters:
  ///   - text: the pattern.
  ///   - comparison: how texts are compared with it.
  ///   - variables: the variables that `$(name)` may name. If nil, `$` is an ordinary character.
  /// - Throws: `AssociationError` if a variable is unknown or not closed, or if the pattern is too long.
  public init(
    _ text: String, comparison: Comparison = Comparison(), variables: SubstitutionVariables? = SubstitutionVariables()
  ) throws(AssociationError) {
    let atoms = try Self.atoms(of: text, variables)
    cost = atoms.reduce(0) { $0 + $1.cost }
    self.comparison = comparison
    self.atoms = Self.prepared(atoms, comparison)
  }

  /// Whether the pattern has a character that URIs contain only in percent-encoded form. It never matches a text as
  /// written in a URI.
  var hasCharactersThatNoLinkHas: Bool {
    atoms.contains { atom in
      guard case .scalar(let scalar) = atom else { return false }
      return !(0x21...0x7E).contains(scalar.value)
    }
  }

  /// Whether the pattern covers the whole of `text`.
  ///
  /// - Parameter text: the text as written in a URI.
  /// - Returns: false if any part of the text is left over.
  public func matches(_ text: String) -> Bool {
    var steps = MatchingSteps()
    return LinkPatternSubject(text, comparison).isCovered(by: self, steps: &steps)
  }

  // MARK: Reading

  private static func atoms(
    of text: String, _ variables: SubstitutionVariables?
  ) throws(AssociationError) -> [Atom] {
    var atoms: [Atom] = []
    var cost = 0
    func append(_ atom: Atom) throws(AssociationError) {
      cost += atom.cost
      guard cost <= maximumCost else {
        throw AssociationError("the pattern has more than \(maximumCost) characters, those of its variables counted")
      }
      atoms.append(atom)
    }
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard let variables, scalar == "$", rest.first == "(" else {
        try append(wildcard(scalar))
        continue
      }
      guard let end = rest.firstIndex(of: ")") else {
        throw AssociationError("a substitution variable is not closed with a parenthesis")
      }
      let name = String(rest[..<end].dropFirst())
      rest = rest[end...].dropFirst()
      guard let atom = variables.atom(named: name) else {
        throw AssociationError("there is no substitution variable \(JSONReader.quoted(name))")
      }
      try append(atom)
    }
    return atoms
  }

  /// The atom for one character. Values of variables may hold wildcards, but no other variable.
  static func wildcard(_ scalar: Unicode.Scalar) -> Atom {
    switch scalar {
    case "*": .anyMany
    case "?": .anyOne
    default: .scalar(scalar)
    }
  }

  /// Converts the atoms to the form in which `LinkPatternSubject` has its text.
  private static func prepared(_ atoms: [Atom], _ comparison: Comparison) -> [Atom] {
    var result: [Atom] = []
    var literal = String.UnicodeScalarView()
    func flush() {
      result += comparison.prepared(String(literal)).map(Atom.scalar)
      literal = String.UnicodeScalarView()
    }
    for atom in atoms {
      switch atom {
      case .scalar(let scalar): literal.append(scalar)
      case .alternatives(let alternatives):
        flush()
        result.append(.alternatives(alternatives.map { prepared($0, comparison) }))
      case .anyMany:
        flush()
        // Two in a row match the same texts as one.
        if result.last != .anyMany { result.append(atom) }
      default:
        flush()
        result.append(atom)
      }
    }
    flush()
    return result
  }
}

extension LinkPattern.Comparison {
  /// Converts a text to the form that is compared.
  func prepared(_ text: String) -> [Unicode.Scalar] {
    let form = isPercentEncoded ? PercentEncoding.normalized(text) : PercentEncoding.decoded(text)
    guard !isCaseSensitive else { return Array(form.unicodeScalars) }
    return form.unicodeScalars.map(Self.folded)
  }

  /// Case folding that keeps the number of characters: `?` stays one character.
  static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    return lower.count == 1 ? lower.first ?? scalar : scalar
  }
}

/// A text that patterns are tried on. All patterns share the intermediate results about it.
struct LinkPatternSubject: Sendable {
  private let scalars: [Unicode.Scalar]
  private let isCaseSensitive: Bool
  /// The positions of the first `mostPlaces` different scalars in the text.
  private let places: [Unicode.Scalar: PositionSet]
  /// Whether `places` has all scalars of the text.
  private let hasAllPlaces: Bool

  /// As many sets as a word has bits, so that the time to make them is in proportion to the length of the text.
  private static let mostPlaces = UInt64.bitWidth

  /// The steps that its creation took.
  var cost: Int { 8 + scalars.count + places.count * ((scalars.count + 64) / 64) }

  init(_ text: String, _ comparison: LinkPattern.Comparison) {
    scalars = comparison.prepared(text)
    isCaseSensitive = comparison.isCaseSensitive
    var places: [Unicode.Scalar: PositionSet] = [:]
    var hasAllPlaces = true
    for (position, scalar) in scalars.enumerated() {
      if places[scalar] != nil || places.count < Self.mostPlaces {
        places[scalar, default: PositionSet(count: scalars.count + 1)].insert(position)
      } else {
        hasAllPlaces = false
      }
    }
    self.places = places
    self.hasAllPlaces = hasAllPlaces
  }

  /// Whether the pattern covers the whole text. The pattern has to use the same comparison as this subject.
  ///
  /// `steps` grows by the words of sets and the characters that were examined. That is at most in proportion to the
  /// pattern's cost times the text's length. If the steps run out, ignore the result.
  func isCovered(by pattern: LinkPattern, steps: inout MatchingSteps) -> Bool {
    // Most patterns begin with characters that most links do not have. Comparing these first needs no sets.
    var start = 0
    while start < pattern.atoms.count, case .scalar(let scalar) = pattern.atoms[start] {
      steps.take(1)
      guard start < scalars.count, scalars[start] == scalar else { return false }
      start += 1
    }
    var positions = PositionSet(count: scalars.count + 1)
    positions.insert(start)
    steps.take(positions.wordCount)
    run(pattern.atoms[start...], &positions, &steps)
    return !steps.isOver && positions.contains(scalars.count)
  }

  /// Replaces `positions`, at which the atoms may begin, by the positions at which they may end.
  private func run(_ atoms: ArraySlice<LinkPattern.Atom>, _ positions: inout PositionSet, _ steps: inout MatchingSteps)
  {
    for atom in atoms {
      steps.take(2 * positions.wordCount)
      guard !positions.isEmpty, !steps.isOver else { return }
      switch atom {
      case .anyMany: positions.fillUp()
      case .anyOne: positions.advance()
      case .scalar(let scalar): positions.advance(where: places(of: scalar, &steps))
      case .oneOf(let kind):
        positions.advance(where: places(&steps) { kind.contains($0, isCaseSensitive: isCaseSensitive) })
      case .code(let list): positions = ends(of: list, from: positions, &steps)
      case .alternatives(let alternatives):
        var union = PositionSet(count: positions.count)
        for alternative in alternatives {
          var ends = positions
          run(alternative[...], &ends, &steps)
          union.formUnion(ends)
          steps.take(2 * positions.wordCount)
        }
        positions = union
      }
    }
  }

  private func places(of scalar: Unicode.Scalar, _ steps: inout MatchingSteps) -> PositionSet {
    if let known = places[scalar] { return known }
    if hasAllPlaces { return PositionSet(count: scalars.count + 1) }
    return places(&steps) { $0 == scalar }
  }

  private func places(_ steps: inout MatchingSteps, where isPlace: (Unicode.Scalar) -> Bool) -> PositionSet {
    var places = PositionSet(count: scalars.count + 1)
    for (position, scalar) in scalars.enumerated() where isPlace(scalar) { places.insert(position) }
    steps.take(scalars.count)
    return places
  }

  private func ends(of list: CodeList, from positions: PositionSet, _ steps: inout MatchingSteps) -> PositionSet {
    var ends = PositionSet(count: positions.count)
    positions.forEach { start in
      for length in list.lengths where start + length <= scalars.count {
        steps.take(length)
        if list.contains(scalars[start..<start + length], isCaseSensitive: isCaseSensitive) {
          ends.insert(start + length)
        }
      }
    }
    return ends
  }
}

/// Positions in a text, including its end, as bits: each is an end of a part that a pattern may have matched.
struct PositionSet: Equatable {
  private var words: [UInt64]
  /// The number of possible positions: one more than the text has characters.
  let count: Int

  init(count: Int) {
    self.count = count
    words = [UInt64](repeating: 0, count: (count + 63) / 64)
  }

  var wordCount: Int { words.count }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  func contains(_ position: Int) -> Bool { words[position / 64] & 1 << UInt64(position % 64) != 0 }

  mutating func insert(_ position: Int) { words[position / 64] |= 1 << UInt64(position % 64) }

  mutating func formUnion(_ other: PositionSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// Moves every position in `allowed` forward by one, and drops the others and those after the end.
  mutating func advance(where allowed: PositionSet) {
    for index in words.indices { words[index] &= allowed.words[index] }
    advance()
  }

  /// Moves every position forward by one, and drops those after the end.
  mutating func advance() {
    var carry: UInt64 = 0
    for index in words.indices {
      let word = words[index]
      words[index] = word << 1 | carry
      carry = word >> 63
    }
    dropExcess()
  }

  /// Adds all positions after the lowest one.
  mutating func fillUp() {
    guard let first = words.firstIndex(where: { $0 != 0 }) else { return }
    let lowest = words[first] & ~(words[first] &- 1)
    words[first] = ~(lowest &- 1)
    for index in words.indices.dropFirst(first + 1) { words[index] = ~0 }
    dropExcess()
  }

  /// Clears the bits that have no position.
  private mutating func dropExcess() {
    if !count.isMultiple(of: 64) { words[words.count - 1] &= (1 << UInt64(count % 64)) - 1 }
  }

  /// Calls `body` with each position, in ascending order.
  func forEach(_ body: (Int) -> Void) {
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        body(index * 64 + rest.trailingZeroBitCount)
        rest &= rest &- 1
      }
    }
  }
}

/// Percent-encoding (RFC 3986 section 2.1).
enum PercentEncoding {
  /// The text in the spelling that is compared. Escapes are in upper case (section 6.2.2.1). Escaped unreserved
  /// characters are decoded, which does not change the meaning (section 6.2.2.2).
  static func normalized(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let value = escaped(rest) else {
        result.append(byte)
        continue
      }
      rest = rest.dropFirst(2)
      if CharacterClasses.isUnreserved(value) {
        result.append(value)
      } else {
        result += CharacterClasses.percentEncoded(value)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The text with its escapes decoded as UTF-8. Only an escape that is not part of valid UTF-8 stays encoded, in upper
  /// case: one bad byte must not hide the characters next to it from a rule.
  static func decoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.first {
      if let (character, count) = character(rest) {
        result += character
        rest = rest.dropFirst(count)
      } else if byte == UInt8(ascii: "%"), let value = escaped(rest.dropFirst()) {
        result += CharacterClasses.percentEncoded(value)
        rest = rest.dropFirst(3)
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The UTF-8 of the character that is percent-encoded at the start of `text`, and how many bytes its escapes take.
  /// Nil if there is no such character.
  static func character(_ text: Substring.UTF8View) -> (utf8: [UInt8], count: Int)? {
    var bytes: [UInt8] = []
    var rest = text
    while bytes.count < 4, rest.first == UInt8(ascii: "%"), let value = escaped(rest.dropFirst()) {
      bytes.append(value)
      rest = rest.dropFirst(3)
      if String(validating: bytes, as: UTF8.self) != nil { return (bytes, bytes.count * 3) }
    }
    return nil
  }

  /// The byte that the two hexadecimal digits at the start of `text` encode.
  private static func escaped(_ text: Substring.UTF8View) -> UInt8? {
    var digits = text.makeIterator()
    guard let high = digits.next().flatMap(CharacterClasses.hexValue),
      let low = digits.next().flatMap(CharacterClasses.hexValue)
    else { return nil }
    return high << 4 | low
  }
}
