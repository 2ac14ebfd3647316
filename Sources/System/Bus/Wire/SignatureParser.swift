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
