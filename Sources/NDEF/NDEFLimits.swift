/// What a decoder accepts at most.
///
/// A tag is written by anyone, so what it may cost is decided before it is read.
public struct NDEFLimits: Sendable, Hashable {
  /// The length of an encoded message, in bytes.
  public var messageSize: Int
  /// The number of records in one message; the chunks of a record count as one.
  public var recordCount: Int
  /// How deep messages may lie in the payloads of others: 0 allows none, 1 a Smart Poster, 2 a Smart Poster within it.
  public var nesting: Int

  /// 1 MiB, 1,024 records, 4 levels.
  public static let `default` = NDEFLimits()

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - messageSize: The length of an encoded message, in bytes.
  ///   - recordCount: The number of records in one message.
  ///   - nesting: How deep messages may lie in the payloads of others.
  public init(messageSize: Int = 1 << 20, recordCount: Int = 1024, nesting: Int = 4) {
    self.messageSize = messageSize
    self.recordCount = recordCount
    self.nesting = nesting
  }
}
