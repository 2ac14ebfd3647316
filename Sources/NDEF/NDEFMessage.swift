/// A message: one record or more, in order (NDEF 1.0, section 2.3.1).
public struct NDEFMessage: Sendable, Hashable {
  /// The records. A message without any cannot be encoded.
  public var records: [NDEFRecord]

  /// Makes a message.
  ///
  /// - Parameter records: The records, at least one.
  public init(records: [NDEFRecord]) {
    self.records = records
  }
}

extension NDEFMessage {
  /// The message of one empty record: what a formatted tag holds, and what an app gets that no tag opened.
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
  /// Chunked records are reassembled. A record with the reserved type name format counts as one of unknown type. The bytes
  /// have to be exactly one message.
  ///
  /// - Parameters:
  ///   - bytes: The encoded message.
  ///   - limits: What to accept at most.
  /// - Throws: ``NDEFError``, with the offset in `bytes` of the field that is wrong.
  public init(decoding bytes: [UInt8], limits: NDEFLimits = .default) throws(NDEFError) {
    var decoder = MessageDecoder(bytes, limits: limits)
    self.init(records: try decoder.decode().map(\.record))
  }

  /// Encodes the message (NDEF 1.0, section 3), with as few bytes as it takes unless the options say otherwise.
  ///
  /// - Parameter options: The freedom that the specification leaves.
  /// - Returns: The encoded message.
  /// - Throws: ``NDEFError`` if there is no record, or one does not keep to the rules of its type name format.
  public func encoded(_ options: NDEFEncodingOptions = .default) throws(NDEFError) -> [UInt8] {
    var encoder = MessageEncoder(options: options)
    try encoder.encode(self)
    return encoder.output
  }
}
