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
