/// Parses type codes within the limits of the specification: 255 bytes, and at most 32 levels each of arrays and
/// structures.
struct SignatureParser {
  private static let maximumLength = 255
  private static let maximumDepth = 32
  private let codes: [UInt8]
  private var position = 0

  init(_ string: String) {
    codes = Array(string.utf8.prefix(Self.maximumLength + 1))
  }

  /// All types, or nil if the text is not a signature.
  mutating func parse() -> [SignatureType]? {
    guard codes.count <= Self.maximumLength else { return nil }
    var types: [SignatureType] = []
    while position < codes.count {
      guard let type = parseType() else { return nil }
      types.append(type)
    }
    return types
  }

  private mutating func next() -> UInt8? {
    guard position < codes.count else { return nil }
    defer { position += 1 }
    return codes[position]
  }

  private var upcoming: UInt8? { position < codes.count ? codes[position] : nil }

  private mutating func parseType(_ depth: Depth = Depth()) -> SignatureType? {
    guard let code = next() else { return nil }
    switch code {
    case TypeCode.variant: return .variant
    case TypeCode.array: return parseArray(depth.with(arrays: 1))
    case UInt8(ascii: "("): return parseStructure(depth.with(structures: 1))
    default: return TypeCode.isBasic(code) ? .basic(code) : nil
    }
  }

  private mutating func parseArray(_ depth: Depth) -> SignatureType? {
    guard depth.isAllowed else { return nil }
    guard upcoming == UInt8(ascii: "{") else { return parseType(depth).map { .array(Signature($0)) } }
    position += 1
    guard depth.with(entries: 1).isAllowed, let key = next(), TypeCode.isBasic(key),
      let value = parseType(depth.with(entries: 1)), next() == UInt8(ascii: "}")
    else { return nil }
    return .dictionary(key: Signature(.basic(key)), value: Signature(value))
  }

  private mutating func parseStructure(_ depth: Depth) -> SignatureType? {
    guard depth.isAllowed else { return nil }
    var members: [SignatureType] = []
    while let code = upcoming, code != UInt8(ascii: ")") {
      guard let member = parseType(depth) else { return nil }
      members.append(member)
    }
    guard next() == UInt8(ascii: ")"), !members.isEmpty else { return nil }
    return .structure(members)
  }

  /// The nesting depth in each kind of container. The specification limits each kind separately.
  private struct Depth {
    private var arrays = 0
    private var structures = 0
    private var entries = 0

    var isAllowed: Bool { max(arrays, structures, entries) <= SignatureParser.maximumDepth }

    func with(arrays: Int = 0, structures: Int = 0, entries: Int = 0) -> Depth {
      var deeper = self
      deeper.arrays += arrays
      deeper.structures += structures
      deeper.entries += entries
      return deeper
    }
  }
}
