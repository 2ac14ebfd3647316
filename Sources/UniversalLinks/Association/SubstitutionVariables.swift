/// What `$(name)` in a pattern stands for: Apple's built-in variables and those that a file defines.
public struct SubstitutionVariables: Sendable, Hashable {
  private var defined: [String: LinkPattern.Atom] = [:]

  /// The built-in variables: `alpha`, `upper`, `lower`, `alnum`, `digit` and `xdigit`, one character each; `region` and
  /// `lang`, an ISO 3166-1 or ISO 639 code.
  public init() {}

  /// Defines a variable; one of a built-in name takes its place.
  ///
  /// - Parameters:
  ///   - name: case-sensitive, without `$`, `(` and `)`.
  ///   - values: what it stands for; `*` and `?` are wildcards in them, and other variables are not allowed.
  /// - Throws: `AssociationError`.
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

/// The built-in variables that stand for one character. The raw values are their names.
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
