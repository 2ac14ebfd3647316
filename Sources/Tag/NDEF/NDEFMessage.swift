/// A message: an ordered list of one or more records (NDEF 1.0, section 2.3.1).
public struct NDEFMessage: Sendable, Hashable {
  /// The records. A message without records cannot be encoded.
  public var records: [NDEFRecord]

  /// Makes a message.
  ///
  /// - Parameter records: The records, at least one.
  public init(records: [NDEFRecord]) {
    self.records = records
  }
}

extension NDEFMessage {
  /// The message of one empty record. A formatted tag holds it, and an app receives it if it was opened without a tag.
  public static let empty = NDEFMessage(records: [.empty])

  /// Makes a message of one URI record.
  ///
  /// - Parameter uri: The URI, such as `https://example.com/menu`.
  /// - Returns: The message.
  public static func uri(_ uri: String) -> NDEFMessage {
    NDEFMessage(records: [URIRecord(uri).record()])
  }
}

extension NDEFMessage {
  /// Decodes a message (NDEF 1.0, section 3).
  ///
  /// Chunked records are reassembled. A record with the reserved type name format is decoded as one of unknown type.
  /// The bytes have to be exactly one message.
  ///
  /// - Parameters:
  ///   - bytes: The encoded message.
  ///   - limits: The limits of the decoder.
  /// - Throws: ``NDEFError``. Its offset is the position in `bytes` of the invalid field.
  public init(decoding bytes: [UInt8], limits: NDEFLimits = .default) throws(NDEFError) {
    var decoder = MessageDecoder(bytes, limits: limits)
    self.init(records: try decoder.decode().map(\.record))
  }

  /// Encodes the message (NDEF 1.0, section 3) in as few bytes as possible, unless the options say otherwise.
  ///
  /// - Parameter options: The choices that the specification leaves to the encoder.
  /// - Returns: The encoded message.
  /// - Throws: ``NDEFError`` if there is no record, or if a record breaks the rules of its type name format.
  public func encoded(_ options: NDEFEncodingOptions = .default) throws(NDEFError) -> [UInt8] {
    var encoder = MessageEncoder(options: options)
    try encoder.encode(self)
    return encoder.output
  }
}
