/// What the specification leaves to whoever encodes a message.
public struct NDEFEncodingOptions: Sendable, Hashable {
  /// Whether payloads of less than 256 bytes are written as short records (NDEF 1.0, section 3.2.4).
  public var shortRecords: Bool
  /// The length of payload, in bytes, above which a record is split into chunks of that length (NDEF 1.0, section 2.3.3);
  /// nil for no chunks. Many readers do not know chunks, and the specifications of most tag types forbid them.
  public var chunkSize: Int?

  /// Short records, no chunks.
  public static let `default` = NDEFEncodingOptions()

  /// Makes options.
  ///
  /// - Parameters:
  ///   - shortRecords: Whether short payloads are written as short records.
  ///   - chunkSize: The length of payload above which a record is split, in bytes; less than 1 counts as 1.
  public init(shortRecords: Bool = true, chunkSize: Int? = nil) {
    self.shortRecords = shortRecords
    self.chunkSize = chunkSize
  }
}
