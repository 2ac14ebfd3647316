public import NDEF

/// The facts of a tap that rules examine.
///
/// A tag without a message has `message` nil. Its UID, technology and reader can still match.
public struct TapFacts: Sendable, Hashable {
  /// The tag's UID; empty if it is unknown.
  public var uid: [UInt8]
  /// For example `type-2`; empty if it is unknown.
  public var technology: String
  /// The object path of the reader; empty if it is unknown.
  public var reader: String
  /// The message; nil if there is none, or if it cannot be decoded.
  public var message: NDEFMessage?
  /// The SHA-256 of the message's bytes in lower-case hexadecimal digits; empty if it is unknown.
  public var digest: String

  /// Everything that is left out is unknown.
  public init(
    uid: [UInt8] = [], technology: String = "", reader: String = "", message: NDEFMessage? = nil, digest: String = ""
  ) {
    self.uid = uid
    self.technology = technology
    self.reader = reader
    self.message = message
    self.digest = digest
  }

  /// The media types of the records, in lower case and without parameters (RFC 2045, section 5.1).
  var mimeTypes: [String] {
    types(.mediaType).map { type in String(type.prefix { $0 != ";" && $0 != " " }).lowercased() }
  }

  /// The external types of the records, in lower case (NFC Record Type Definition 1.0, section 3.3: they are not
  /// case-sensitive).
  var externalTypes: [String] { types(.external).map { $0.lowercased() } }

  /// The texts of the Text records.
  var texts: [String] { (message?.records ?? []).compactMap { try? TextRecord($0).text } }

  private func types(_ format: TypeNameFormat) -> [String] {
    (message?.records ?? []).filter { $0.typeNameFormat == format }.map { String(decoding: $0.type, as: UTF8.self) }
  }
}
