/// How the type of a record is to be read (NDEF 1.0, section 3.2.6, "TNF").
///
/// The field has three bits. Its eighth value, 7, is reserved: a decoder takes it for ``unknown``, as the specification
/// advises, and no encoder writes it.
public enum TypeNameFormat: UInt8, Sendable, Hashable, CaseIterable {
  /// There is no type, id or payload.
  case empty = 0
  /// The type is an NFC Forum well-known type, such as `U` (NFC Record Type Definition 1.0).
  case wellKnown = 1
  /// The type is a media type (RFC 2046), such as `image/png`.
  case mediaType = 2
  /// The type is an absolute URI (RFC 3986) that names the type of the payload.
  case absoluteURI = 3
  /// The type is an NFC Forum external type, such as `example.com:ticket` (NFC Record Type Definition 1.0).
  case external = 4
  /// There is no type; the payload is bytes for an application that knows them.
  case unknown = 5
  /// A continuation of a chunked record. It exists on the wire only: decoding reassembles chunks.
  case unchanged = 6
}
