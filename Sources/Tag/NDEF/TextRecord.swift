/// A text in one language (NFC Forum Text Record Type Definition 1.0, type `T`).
public struct TextRecord: Sendable, Hashable {
  /// The encoding of the text on the tag.
  public enum Encoding: Sendable, Hashable {
    /// UTF-8, the usual encoding.
    case utf8
    /// UTF-16. The decoder follows a byte order mark, and reads big-endian without one (section 3.4). The encoder
    /// writes big-endian with a mark, because some readers do not follow that rule.
    case utf16
  }

  /// The text. Line breaks should be CR LF (section 3.4); others are kept unchanged.
  public var text: String
  /// The language: a code of RFC 3066 such as `en` or `pt-BR`, with 1 to 63 ASCII characters. It is empty if the tag
  /// has none, against section 3.2.2.
  public var language: String
  /// The encoding of the text on the tag.
  public var encoding: Encoding

  /// Makes a view of a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - language: The language: a code of RFC 3066 such as `en`.
  ///   - encoding: The encoding of the text on the tag.
  public init(_ text: String, language: String, encoding: Encoding = .utf8) {
    self.text = text
    self.language = language
    self.encoding = encoding
  }

  /// Reads a text record.
  ///
  /// The reserved bit of the status byte is ignored (section 3.2.1).
  ///
  /// - Parameter record: A record of the well-known type `T`.
  /// - Throws: ``NDEFError`` if the record has another type or ends too early. Also if the language is not ASCII, or
  ///   the text is not valid in its encoding. The offset is in the payload.
  public init(_ record: NDEFRecord) throws(NDEFError) {
    guard record.isWellKnown(Self.type) else {
      throw NDEFError(.wrongType, at: 0, "the record is not a text record")
    }
    let payload = record.payload
    guard let status = payload.first else {
      throw NDEFError(.truncated, at: 0, "the payload ends where the status byte should be")
    }
    let start = 1 + Int(status & Self.languageLengthMask)
    guard start <= payload.count else {
      throw NDEFError(.truncated, at: 1, "the language is longer than what is left of the payload")
    }
    if let offset = payload[1..<start].firstIndex(where: { $0 > 0x7F }) {
      throw NDEFError(.language, at: offset, "the language is not written in ASCII")
    }
    language = String(decoding: payload[1..<start], as: UTF8.self)
    encoding = status & Self.utf16Flag == 0 ? .utf8 : .utf16
    text =
      switch encoding {
      case .utf8: try String(utf8: payload, from: start)
      case .utf16: try String(utf16: payload, from: start)
      }
  }

  /// Makes a record from this view.
  ///
  /// - Parameter id: The record's identifier within its message; empty for none.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if the language does not consist of 1 to 63 ASCII characters.
  public func record(id: [UInt8] = []) throws(NDEFError) -> NDEFRecord {
    let code = language.utf8
    guard (1...Int(Self.languageLengthMask)).contains(code.count) else {
      throw NDEFError(.language, at: 1, "the language does not have 1 to 63 characters")
    }
    guard code.allSatisfy({ $0 <= 0x7F }) else {
      throw NDEFError(.language, at: 1, "the language is not written in ASCII")
    }
    var payload = [(encoding == .utf16 ? Self.utf16Flag : 0) | UInt8(truncatingIfNeeded: code.count)]
    payload += code
    switch encoding {
    case .utf8: payload += text.utf8
    case .utf16:
      payload += [0xFE, 0xFF]
      for unit in text.utf16 { payload += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
    }
    return .wellKnown(Self.type, id: id, payload: payload)
  }
}

extension TextRecord {
  /// The well-known type of text records.
  public static let type = "T"

  /// The bit of the status byte that selects UTF-16 (section 3.2.1).
  private static let utf16Flag: UInt8 = 0x80
  /// The bits of the status byte that hold the length of the language.
  private static let languageLengthMask: UInt8 = 0x3F
}

extension Sequence<TextRecord> {
  /// The text in the most preferred available language.
  ///
  /// A language matches a text in this language or in one of its variants (RFC 4647, sections 3.3.1 and 3.4). For
  /// example, `pt` matches `pt-BR`, but `pt-PT` does not. A caller that accepts any variant passes `pt` as well.
  ///
  /// - Parameter languages: Language codes of RFC 4646 such as `pt-BR`, most preferred first; case-insensitive.
  /// - Returns: The matching text; the first text if none matches; nil if there is no text.
  public func preferred(in languages: [String]) -> TextRecord? {
    var best: (rank: Int, text: TextRecord)?
    let wanted = languages.map { $0.lowercased() }
    for text in self {
      let language = text.language.lowercased()
      // For one language, an exact match ranks before a variant.
      let rank =
        wanted.firstIndex(of: language).map { 2 * $0 }
        ?? wanted.firstIndex { language.hasPrefix($0 + "-") }.map { 2 * $0 + 1 } ?? 2 * wanted.count
      if best.map({ rank < $0.rank }) ?? true { best = (rank, text) }
    }
    return best?.text
  }
}

extension String {
  /// Decodes the bytes from `start` on as strict UTF-8. The offset of an error is the first invalid byte.
  init(utf8 bytes: [UInt8], from start: Int) throws(NDEFError) {
    let span = bytes.span.extracting(droppingFirst: start)
    do {
      self = String(copying: try UTF8Span(validating: span))
    } catch {
      let offset = start + error.byteOffsets.lowerBound
      throw NDEFError(.characterEncoding, at: offset, "the text is not valid UTF-8")
    }
  }
}

extension String {
  /// Decodes the bytes from `start` on as strict UTF-16. A byte order mark gives the byte order; without one it is
  /// big-endian (RTD-Text 1.0, section 3.4). The offset of an error is the first invalid byte.
  init(utf16 bytes: [UInt8], from start: Int) throws(NDEFError) {
    let hasMark = bytes.count - start >= 2
    let mark = hasMark ? (bytes[start], bytes[start + 1]) : (0, 0)
    let isLittleEndian = mark == (0xFF, 0xFE)
    let textStart = isLittleEndian || mark == (0xFE, 0xFF) ? start + 2 : start
    let whole = (bytes.count - textStart) & ~1
    var units: [UInt16] = []
    units.reserveCapacity(whole / 2)
    for offset in stride(from: textStart, to: textStart + whole, by: 2) {
      let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
      units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
    }
    if let index = units.firstUnpairedSurrogate {
      let offset = textStart + 2 * index
      throw NDEFError(.characterEncoding, at: offset, "the text is not valid UTF-16")
    }
    guard textStart + whole == bytes.count else {
      let offset = textStart + whole
      throw NDEFError(.characterEncoding, at: offset, "the text is UTF-16 and ends within a character")
    }
    self = String(decoding: units, as: UTF16.self)
  }
}

extension [UInt16] {
  /// The index of the first surrogate that is not part of a pair.
  fileprivate var firstUnpairedSurrogate: Int? {
    var index = startIndex
    while index < endIndex {
      if UTF16.isLeadSurrogate(self[index]) {
        guard index + 1 < endIndex, UTF16.isTrailSurrogate(self[index + 1]) else { return index }
        index += 2
      } else if UTF16.isTrailSurrogate(self[index]) {
        return index
      } else {
        index += 1
      }
    }
    return nil
  }
}
