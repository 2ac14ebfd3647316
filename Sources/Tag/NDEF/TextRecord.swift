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
