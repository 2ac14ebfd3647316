/// A JSON value and its offset in the file.
package struct JSONValue: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// Nil if it is out of range.
    case number(Double?)
    case text(String)
    case list([JSONValue])
    /// In the order of the file. Names are unique.
    case object([Member])
  }

  package struct Member: Sendable, Hashable {
    package let name: String
    package let value: JSONValue
  }

  package let content: Content
  /// The offset of its first byte.
  package let offset: Int

  /// The member of this name; nil if there is none, or this is no object.
  package subscript(name: String) -> Content? {
    guard case .object(let members) = content else { return nil }
    return members.first { $0.name == name }?.value.content
  }
}

/// Why a text is not JSON, and the offset of the byte that shows it.
package struct JSONError: Error, Hashable {
  package let message: String
  package let offset: Int
}

/// Reads JSON (RFC 8259) strictly. It rejects a text that
/// - its grammar does not allow;
/// - has two members of one name in an object, because readers differ in which one they use (section 4);
/// - has half a surrogate pair;
/// - nests values too deeply.
package struct JSONReader {
  /// The maximum depth of nested lists and objects. The reader recurses to the same depth.
  package static let maximumDepth = 32

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads `bytes` as one value. A byte order mark at the start is ignored.
  package static func value(of bytes: [UInt8]) throws(JSONError) -> JSONValue {
    var reader = JSONReader(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.offset = 3 }
    let value = try reader.value()
    guard reader.offset == bytes.count else { throw reader.error("there is something after the end") }
    return value
  }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func error(_ message: String) -> JSONError {
    JSONError(message: offset < bytes.count ? message : "the file ends too early", offset: offset)
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { offset += 1 }
  }

  /// Skips the next byte if it is `byte`, and returns whether it was.
  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: byte) else { return false }
    offset += 1
    return true
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    skipSpace()
    let start = offset
    let content: JSONValue.Content
    switch next {
    case UInt8(ascii: "{"): content = .object(try nested { reader throws(JSONError) in try reader.members() })
    case UInt8(ascii: "["): content = .list(try nested { reader throws(JSONError) in try reader.elements() })
    case UInt8(ascii: "\""): content = .text(try text())
    case .some(let byte) where byte == UInt8(ascii: "-") || Self.isDigit(byte): content = try number()
    default: content = try word()
    }
    skipSpace()
    return JSONValue(content: content, offset: start)
  }

  private mutating func nested<Content>(
    _ body: (inout JSONReader) throws(JSONError) -> Content
  ) throws(JSONError) -> Content {
    guard depth < Self.maximumDepth else {
      throw error("there are more than \(Self.maximumDepth) values inside each other")
    }
    depth += 1
    offset += 1
    skipSpace()
    let content = try body(&self)
    depth -= 1
    return content
  }

  private mutating func members() throws(JSONError) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    var names: Set<String> = []
    guard !skip("}") else { return members }
    repeat {
      skipSpace()
      let start = offset
      guard next == UInt8(ascii: "\"") else { throw error("a name in quotation marks is missing") }
      let name = try text()
      guard names.insert(name).inserted else {
        throw JSONError(message: "there is a second \(Self.quoted(name)) in one object", offset: start)
      }
      skipSpace()
      guard skip(":") else { throw error("a colon is missing") }
      members.append(JSONValue.Member(name: name, value: try value()))
    } while skip(",")
    guard skip("}") else { throw error("a comma or } is missing") }
    return members
  }

  private mutating func elements() throws(JSONError) -> [JSONValue] {
    var elements: [JSONValue] = []
    guard !skip("]") else { return elements }
    repeat { elements.append(try value()) } while skip(",")
    guard skip("]") else { throw error("a comma or ] is missing") }
    return elements
  }

  private mutating func word() throws(JSONError) -> JSONValue.Content {
    let words: [(String, JSONValue.Content)] = [("true", .boolean(true)), ("false", .boolean(false)), ("null", .null)]
    for (word, content) in words where bytes[offset...].starts(with: word.utf8) {
      offset += word.utf8.count
      return content
    }
    throw error("a value is missing")
  }

  private mutating func number() throws(JSONError) -> JSONValue.Content {
    let start = offset
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      try digits()
    }
    return .number(Double(String(decoding: bytes[start..<offset], as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil })
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// A name from the file as an error message may show it: at most 40 characters, all of them visible ASCII or spaces.
  package static func quoted(_ name: String) -> String {
    let shown = name.unicodeScalars.prefix(40).map { (0x20...0x7E).contains($0.value) ? String($0) : "?" }.joined()
    return "\"\(shown)\""
  }

  private mutating func digits() throws(JSONError) {
    guard next.map(Self.isDigit) == true else { throw error("a digit is missing") }
    while next.map(Self.isDigit) == true { offset += 1 }
  }

  private mutating func text() throws(JSONError) -> String {
    offset += 1
    var result: [UInt8] = []
    let start = offset
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: result, as: UTF8.self) else {
          throw JSONError(message: "the text is not UTF-8", offset: start)
        }
        offset += 1
        return text
      case UInt8(ascii: "\\"):
        result += try escape()
      case 0..<0x20:
        throw error("a control character in a text has to be escaped")
      default:
        result.append(byte)
        offset += 1
      }
    }
    throw error("")
  }

  /// Reads an escape, and returns the UTF-8 of the character.
  private mutating func escape() throws(JSONError) -> [UInt8] {
    let start = offset
    offset += 1
    guard let letter = next else { throw error("") }
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"):
      let first = try codeUnit()
      guard UTF16.isLeadSurrogate(first), skip("\\"), skip("u") else {
        guard let scalar = Unicode.Scalar(first) else {
          throw JSONError(message: "half of a surrogate pair stands alone", offset: start)
        }
        return Array(String(scalar).utf8)
      }
      let second = try codeUnit()
      guard UTF16.isTrailSurrogate(second) else {
        throw JSONError(message: "half of a surrogate pair stands alone", offset: start)
      }
      return Array(String(decoding: [first, second], as: UTF16.self).utf8)
    default:
      throw JSONError(message: "there is no such escape", offset: start)
    }
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
        throw error("a hexadecimal digit is missing")
      }
      unit = unit << 4 | UInt16(digit)
      offset += 1
    }
    return unit
  }
}
