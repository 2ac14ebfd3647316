/// Why bytes are not a message, or a message cannot be encoded.
///
/// Nothing in an error repeats what is on the tag, so that it may go to a log.
public struct NDEFError: Error, Sendable, Hashable {
  /// What kind of mistake it is.
  public let code: Code
  /// Where it is, in bytes.
  ///
  /// Decoding a message: the first byte of the field that is wrong or does not fit, from the beginning of the message.
  /// Decoding a typed view of a record: the same, from the beginning of the record's payload. Encoding: the length of what
  /// had been encoded when the mistake was found.
  public let offset: Int
  /// What is wrong, as the end of a sentence: "the payload is longer than what is left of the message".
  public let reason: String

  init(_ code: Code, at offset: Int, _ reason: String) {
    self.code = code
    self.offset = offset
    self.reason = reason
  }

  /// The same mistake, counted from a point `distance` bytes earlier.
  func shifted(by distance: Int) -> NDEFError {
    NDEFError(code, at: offset + distance, reason)
  }
}

extension NDEFError: CustomStringConvertible {
  /// The reason with its place: "at byte 4: the payload is longer than what is left of the message".
  public var description: String { "at byte \(offset): \(reason)" }
}

extension NDEFError {
  /// The kinds of mistakes; a later version may know more.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code, such as `truncated`: stable, for logs and scripts.
    public let description: String

    private init(_ name: String) { description = name }

    /// A message without records.
    public static let noRecords = Code("no-records")
    /// The bytes end within a field.
    public static let truncated = Code("truncated")
    /// Bytes follow the end of the message.
    public static let trailingBytes = Code("trailing-bytes")
    /// The first record does not begin the message, or another one does (MB).
    public static let messageBegin = Code("message-begin")
    /// The last record does not end the message, or it ends within a chunked record (ME).
    public static let messageEnd = Code("message-end")
    /// A chunk without a beginning, or another record where a chunk has to follow (CF, TNF unchanged).
    public static let chunk = Code("chunk")
    /// The type is present where the TNF forbids it, absent where it is required, or too long.
    public static let type = Code("type")
    /// The id is present where it is forbidden, or too long.
    public static let id = Code("id")
    /// The payload is present where it is forbidden, or too long.
    public static let payload = Code("payload")
    /// One of the ``NDEFLimits`` is exceeded.
    public static let limit = Code("limit")
    /// The record is not of the type that the view is for.
    public static let wrongType = Code("wrong-type")
    /// Text is not valid in its character encoding.
    public static let characterEncoding = Code("character-encoding")
    /// The language of a text is not an ASCII code of 1 to 63 bytes.
    public static let language = Code("language")
    /// A record within a record is missing, there more often than allowed, or not of its form.
    public static let nestedRecord = Code("nested-record")
  }
}
