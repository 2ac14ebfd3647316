package import NDEF

/// The facts of a tap that rules examine.
///
/// A tag without a message has `message` nil. Its UID, technology and reader can still match.
package struct TapFacts: Sendable, Hashable {
  /// The tag's UID; empty if it is unknown.
  package var uid: [UInt8]
  /// For example `type-2`; empty if it is unknown.
  package var technology: String
  /// The object path of the reader; empty if it is unknown.
  package var reader: String
  /// The message; nil if there is none, or if it cannot be decoded.
  package var message: NDEFMessage?
  /// The SHA-256 of the message's bytes in lower-case hexadecimal digits; empty if it is unknown.
  package var digest: String

  /// Everything that is left out is unknown.
  package init(
    uid: [UInt8] = [], technology: String = "", reader: String = "", message: NDEFMessage? = nil, digest: String = ""
  ) {
    self.uid = uid
    self.technology = technology
    self.reader = reader
    self.message = message
    self.digest = digest
  }

  private var records: [NDEFRecord] { message?.records ?? [] }

  /// The media types of the records, in lower case and without parameters (RFC 2045, section 5.1).
  var mimeTypes: [String] {
    records.filter { $0.typeNameFormat == .mediaType }.map { record in
      String(String(decoding: record.type, as: UTF8.self).prefix { $0 != ";" && $0 != " " }).lowercased()
    }
  }

  /// The external types of the records.
  var externalTypes: [String] { records.compactMap(\.externalType) }

  /// The texts of the Text records.
  var texts: [String] { records.compactMap { try? TextRecord($0).text } }
}
