/// The choices that the specification leaves to the encoder.
public struct NDEFEncodingOptions: Sendable, Hashable {
  /// Whether payloads of less than 256 bytes are written as short records (NDEF 1.0, section 3.2.4).
  public var shortRecords: Bool
  /// The chunk size in bytes; nil for no chunks. A record with a longer payload is split into chunks of this size (NDEF
  /// 1.0, section 2.3.3). Many readers do not support chunks, and the specifications of most tag types forbid them.
  public var chunkSize: Int?

  /// Short records, no chunks.
  public static let `default` = NDEFEncodingOptions()

  /// Makes options.
  ///
  /// - Parameters:
  ///   - shortRecords: Whether short payloads are written as short records.
  ///   - chunkSize: The payload length in bytes above which a record is split; values below 1 are treated as 1.
  public init(shortRecords: Bool = true, chunkSize: Int? = nil) {
    self.shortRecords = shortRecords
    self.chunkSize = chunkSize
  }
}
