/// How to interpret the type of a record (NDEF 1.0, section 3.2.6, "TNF"; iOS 11).
public enum NFCTypeNameFormat: UInt8, Sendable {
  /// The record has no type, identifier or payload.
  case empty = 0
  /// The type is an NFC Forum well-known type, such as `U`.
  case nfcWellKnown = 1
  /// The type is a media type (RFC 2046), such as `image/png`.
  case media = 2
  /// The type is an absolute URI (RFC 3986) that names the type of the payload.
  case absoluteURI = 3
  /// The type is an NFC Forum external type, such as `example.com:ticket`.
  case nfcExternal = 4
  /// The record has no type.
  case unknown = 5
  /// A chunk that continues a record. A message that was read has none, because its chunks are put together.
  case unchanged = 6
}

/// Whether a tag holds NDEF messages (iOS 13).
public enum NFCNDEFStatus: UInt, Sendable {
  /// The tag holds none, and is not formatted for them.
  case notSupported = 1
  /// Messages can be read and written.
  case readWrite = 2
  /// Messages can only be read.
  case readOnly = 3
}
