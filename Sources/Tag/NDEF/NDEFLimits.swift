/// The limits of a decoder.
///
/// Anyone can write a tag, so these limits bound the cost of decoding in advance.
public struct NDEFLimits: Sendable, Hashable {
  /// The maximum length of an encoded message, in bytes.
  public var messageSize: Int
  /// The maximum number of records in one message. All chunks of a record together are one record.
  public var recordCount: Int
  /// The maximum nesting of messages in payloads. 0 allows none, 1 a Smart Poster, 2 a Smart Poster within a Smart
  /// Poster.
  public var nesting: Int

  /// 1 MiB, 1,024 records, 4 levels.
  public static let `default` = NDEFLimits()

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - messageSize: The maximum length of an encoded message, in bytes.
  ///   - recordCount: The maximum number of records in one message.
  ///   - nesting: The maximum nesting of messages in payloads.
  public init(messageSize: Int = 1 << 20, recordCount: Int = 1024, nesting: Int = 4) {
    self.messageSize = messageSize
    self.recordCount = recordCount
    self.nesting = nesting
  }
}
