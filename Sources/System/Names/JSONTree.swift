import Names

/// A JSON value (RFC 8259) that keeps the order of its keys.
///
/// Ours, because Foundation would cost a resident process megabytes of memory.
enum PayloadValue: Sendable, Hashable {
  case boolean(Bool)
  case integer(Int64)
  case string(String)
  case array([PayloadValue])
  case object([Member])

  struct Member: Sendable, Hashable {
    let key: String
    let value: PayloadValue
  }

  /// An object of pairs; those without a value are left out.
  static func record(_ pairs: KeyValuePairs<String, PayloadValue?>) -> PayloadValue {
    .object(pairs.compactMap { pair in pair.value.map { Member(key: pair.key, value: $0) } })
  }

  /// The text, in UTF-8 and on one line.
  var bytes: [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  private func write(to output: inout [UInt8]) {
    switch self {
    case .boolean(let value): output += Array((value ? "true" : "false").utf8)
    case .integer(let value): output += Array(String(value).utf8)
    case .string(let text): Self.write(text, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &output)
        output.append(UInt8(ascii: ":"))
        member.value.write(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to output: inout [UInt8]) {
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
