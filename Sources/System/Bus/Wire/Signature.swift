/// A sequence of complete types in D-Bus notation ("Type system" in the specification), at most 255 bytes long.
public struct Signature: Sendable, Hashable, CustomStringConvertible {
  /// The signature as text, for example `a{sv}`.
  public let string: String
  let types: [SignatureType]

  /// The signature without types.
  public static let empty: Signature = ""

  /// - Parameter string: type codes.
  /// - Throws: `BusError` if the text is not a signature.
  public init(_ string: String) throws(BusError) {
    // The variants of a long list mostly hold text and numbers.
    if string.utf8.count == 1, let code = string.utf8.first, TypeCode.isBasic(code) {
      self.init(.basic(code))
      return
    }
    guard NameRules.isSignature(string) else {
      throw .invalidValue("\(string.debugDescription) is not a valid signature")
    }
    self.init(validated: string)
  }

  private init(validated string: String) {
    var parser = SignatureParser(validated: string)
    self.string = string
    types = parser.types()
  }

  init(_ type: SignatureType) {
    string = type.code
    types = [type]
  }

  /// The text itself.
  public var description: String { string }

  /// Whether this is one complete type, as arguments and properties require.
  public var isSingleType: Bool { types.count == 1 }

  /// Compares the text.
  public static func == (a: Signature, b: Signature) -> Bool { a.string == b.string }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension Signature: ExpressibleByStringLiteral {
  /// For literals in the source code. Traps if the literal is invalid.
  public init(stringLiteral value: String) {
    precondition(NameRules.isSignature(value), "invalid signature in a literal")
    self.init(validated: value)
  }
}

/// One complete type.
enum SignatureType: Sendable, Hashable {
  case basic(UInt8)
  case variant
  case array(Signature)
  case dictionary(key: Signature, value: Signature)
  case structure([SignatureType])

  var code: String {
    switch self {
    case .basic(let code): String(UnicodeScalar(code))
    case .variant: "v"
    case .array(let element): "a" + element.string
    case .dictionary(let key, let value): "a{" + key.string + value.string + "}"
    case .structure(let members): "(" + members.map(\.code).joined() + ")"
    }
  }
}

/// The type codes of the specification. libdbus defines them as character macros, which Swift does not import.
enum TypeCode {
  static let byte = UInt8(ascii: "y")
  static let boolean = UInt8(ascii: "b")
  static let int16 = UInt8(ascii: "n")
  static let uint16 = UInt8(ascii: "q")
  static let int32 = UInt8(ascii: "i")
  static let uint32 = UInt8(ascii: "u")
  static let int64 = UInt8(ascii: "x")
  static let uint64 = UInt8(ascii: "t")
  static let double = UInt8(ascii: "d")
  static let string = UInt8(ascii: "s")
  static let objectPath = UInt8(ascii: "o")
  static let signature = UInt8(ascii: "g")
  static let unixFD = UInt8(ascii: "h")
  static let array = UInt8(ascii: "a")
  static let variant = UInt8(ascii: "v")
  // libdbus uses these two codes to create and walk containers. On the wire these types are written with brackets.
  static let structure = UInt8(ascii: "r")
  static let dictionaryEntry = UInt8(ascii: "e")

  static func isBasic(_ code: UInt8) -> Bool {
    "ybnqiuxtdsogh".utf8.contains(code)
  }
}

/// Splits a signature that libdbus accepts into its types. So brackets match, and libdbus has limited the nesting.
struct SignatureParser {
  private var codes: ArraySlice<UInt8>

  init(validated string: String) { codes = ArraySlice(string.utf8) }

  /// The types up to the end of the signature or of the container.
  mutating func types() -> [SignatureType] {
    var types: [SignatureType] = []
    while let type = next() { types.append(type) }
    return types
  }

  private mutating func next() -> SignatureType? {
    switch codes.popFirst() {
    case TypeCode.variant: return .variant
    case UInt8(ascii: "("): return .structure(types())
    case TypeCode.array:
      guard codes.first == UInt8(ascii: "{") else { return next().map { .array(Signature($0)) } }
      codes.removeFirst()
      let content = types()
      guard content.count == 2 else { return nil }
      return .dictionary(key: Signature(content[0]), value: Signature(content[1]))
    case let code?: return TypeCode.isBasic(code) ? .basic(code) : nil
    case nil: return nil
    }
  }
}
