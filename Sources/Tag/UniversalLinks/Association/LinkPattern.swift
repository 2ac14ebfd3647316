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
        throw AssociationError("there is no substitution variable \(AssociationError.quoted(name))")
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
