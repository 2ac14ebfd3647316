/// A URI (NFC Forum URI Record Type Definition 1.0, type `U`).
public struct URIRecord: Sendable, Hashable {
  /// The whole URI, with its abbreviated prefix expanded. It is taken from the tag without a check that it is a valid
  /// URI.
  public var uri: String

  /// Makes a view of a URI.
  ///
  /// - Parameter uri: The whole URI, such as `https://example.com/menu`.
  public init(_ uri: String) {
    self.uri = uri
  }

  /// Reads a URI record.
  ///
  /// A reserved identifier code is read as "no prefix" (section 3.2.2).
  ///
  /// - Parameter record: A record of the well-known type `U`.
  /// - Throws: ``NDEFError`` if the record has another type, has no identifier code, or its URI is not valid UTF-8. The
  ///   offset is in the payload.
  public init(_ record: NDEFRecord) throws(NDEFError) {
    guard record.isWellKnown(Self.type) else {
      throw NDEFError(.wrongType, at: 0, "the record is not a URI record")
    }
    guard let code = record.payload.first else {
      throw NDEFError(.truncated, at: 0, "the payload ends where the identifier code should be")
    }
    let prefix = Int(code) < Self.prefixes.count ? Self.prefixes[Int(code)] : ""
    uri = prefix + (try String(utf8: record.payload, from: 1))
  }

  /// Makes a record from this view, with the identifier code that abbreviates the most.
  ///
  /// - Parameter id: The record's identifier within its message; empty for none.
  /// - Returns: The record.
  public func record(id: [UInt8] = []) -> NDEFRecord {
    var code = 0
    var length = 0
    for (index, prefix) in Self.prefixes.enumerated() where prefix.utf8.count > length {
      if uri.utf8.starts(with: prefix.utf8) { (code, length) = (index, prefix.utf8.count) }
    }
    let rest = uri.utf8.dropFirst(length)
    return .wellKnown(Self.type, id: id, payload: [UInt8(truncatingIfNeeded: code)] + rest)
  }
}

extension URIRecord {
  /// The well-known type of URI records.
  public static let type = "U"

  /// The prefixes by identifier code; all other codes are reserved (section 3.2.2, table 3).
  static let prefixes = [
    "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
    "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
    "rtsp://",
    "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://", "irdaobex://",
    "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:", "urn:nfc:",
  ]
}
