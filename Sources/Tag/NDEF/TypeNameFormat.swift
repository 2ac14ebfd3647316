/// How to interpret the type of a record (NDEF 1.0, section 3.2.6, "TNF").
///
/// The field has three bits. The value 7 is reserved. Decoders treat it as ``unknown``, as the specification
/// recommends, and encoders never write it.
public enum TypeNameFormat: UInt8, Sendable, Hashable, CaseIterable {
  /// The record has no type, id or payload.
  case empty = 0
  /// The type is an NFC Forum well-known type, such as `U` (NFC Record Type Definition 1.0).
  case wellKnown = 1
  /// The type is a media type (RFC 2046), such as `image/png`.
  case mediaType = 2
  /// The type is an absolute URI (RFC 3986) that names the type of the payload.
  case absoluteURI = 3
  /// The type is an NFC Forum external type, such as `example.com:ticket` (NFC Record Type Definition 1.0).
  case external = 4
  /// The record has no type. Only an application that knows the payload can interpret it.
  case unknown = 5
  /// A middle or terminating chunk of a chunked record. It only occurs in encoded messages: decoding reassembles
  /// chunks.
  case unchanged = 6
}
