/// A JSON value (RFC 8259) that keeps the order of its keys.
///
/// Ours, because even FoundationEssentials is larger than each of the programs.
package enum JSONTree: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int128)
  /// A finite number.
  case decimal(Double)
  case string(String)
  case array([JSONTree])
  case object([Member])

  package struct Member: Sendable, Hashable {
    package let key: String
    package let value: JSONTree

    package init(key: String, value: JSONTree) { (self.key, self.value) = (key, value) }
  }

  /// An object of pairs; those without a value are left out.
  package static func record(_ pairs: KeyValuePairs<String, JSONTree?>) -> JSONTree {
    .object(pairs.compactMap { pair in pair.value.map { Member(key: pair.key, value: $0) } })
  }

  /// The text, in UTF-8 and on one line.
  package var bytes: [UInt8] { bytes(indented: false) }

  /// The text in UTF-8. If it is indented, each element and each member has a line.
  package func bytes(indented: Bool) -> [UInt8] {
    var writer = JSONTreeWriter(isIndented: indented)
    writer.write(self)
    return writer.output
  }
}

private struct JSONTreeWriter {
  let isIndented: Bool
  private(set) var output: [UInt8] = []
  private var depth = 0

  init(isIndented: Bool) { self.isIndented = isIndented }

  mutating func write(_ tree: JSONTree) {
    switch tree {
    case .null: output += Array("null".utf8)
    case .boolean(let value): output += Array((value ? "true" : "false").utf8)
    case .integer(let value): output += Array(String(value).utf8)
    case .decimal(let value): output += Array(value.description.utf8)
    case .string(let text): write(text)
    case .array(let elements):
      writeList(elements, "[", "]") { writer, element in writer.write(element) }
    case .object(let members):
      writeList(members, "{", "}") { writer, member in
        writer.write(member.key)
        writer.output += Array((writer.isIndented ? " : " : ":").utf8)
        writer.write(member.value)
      }
    }
  }

  private mutating func writeList<Element>(
    _ elements: [Element], _ start: Unicode.Scalar, _ end: Unicode.Scalar,
    _ write: (inout JSONTreeWriter, Element) -> Void
  ) {
    output.append(UInt8(ascii: start))
    depth += 1
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      startLine()
      write(&self, element)
    }
    depth -= 1
    if !elements.isEmpty { startLine() }
    output.append(UInt8(ascii: end))
  }

  private mutating func startLine() {
    guard isIndented else { return }
    output.append(UInt8(ascii: "\n"))
    output += Array(repeating: UInt8(ascii: " "), count: 2 * depth)
  }

  private mutating func write(_ text: String) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): output += Array(#"\n"#.utf8)
      case UInt8(ascii: "\r"): output += Array(#"\r"#.utf8)
      case UInt8(ascii: "\t"): output += Array(#"\t"#.utf8)
      // U+007F is allowed, but a terminal acts on it.
      case 0..<0x20, 0x7F: output += Array("\\u00\(Hexadecimal.text(byte).lowercased())".utf8)
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }
}

/// An optional value that is null in JSON. A synthesized `encode(to:)` would omit the key, and scripts look for it.
@propertyWrapper package struct OrNull<Value: Encodable>: Encodable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension OrNull: Sendable where Value: Sendable {}

extension OrNull: Equatable where Value: Equatable {}
