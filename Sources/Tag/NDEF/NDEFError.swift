/// Why bytes are not a message, or a message cannot be encoded.
///
/// An error never contains bytes from the tag, so it is safe to log.
public struct NDEFError: Error, Sendable, Hashable {
  /// The kind of error.
  public let code: Code
  /// The position of the error, in bytes.
  ///
  /// - Decoding a message: the first byte of the field that is wrong or does not fit, from the start of the message.
  /// - Decoding a typed view of a record: the same, from the start of the record's payload.
  /// - Encoding: the number of bytes encoded before the error was found.
  public let offset: Int
  /// The reason, as the end of a sentence: "the payload is longer than what is left of the message".
  public let reason: String

  init(_ code: Code, at offset: Int, _ reason: String) {
    self.code = code
    self.offset = offset
    self.reason = reason
  }

  /// The same error, with an offset that is counted from `distance` bytes earlier.
  func shifted(by distance: Int) -> NDEFError {
    NDEFError(code, at: offset + distance, reason)
  }
}

extension NDEFError: CustomStringConvertible {
  /// The reason with its position: "at byte 4: the payload is longer than what is left of the message".
  public var description: String { "at byte \(offset): \(reason)" }
}

extension NDEFError {
  /// The kinds of errors. Later versions may add more.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The stable name of the code for logs and scripts, such as `truncated`.
    public let description: String

    private init(_ name: String) { description = name }

    /// The message has no records.
    public static let noRecords = Code("no-records")
    /// The bytes end within a field.
    public static let truncated = Code("truncated")
    /// Bytes follow the end of the message.
    public static let trailingBytes = Code("trailing-bytes")
    /// The first record does not begin the message, or a later record does (MB).
    public static let messageBegin = Code("message-begin")
    /// The last record does not end the message, or the message ends within a chunked record (ME).
    public static let messageEnd = Code("message-end")
    /// A chunk has no initial chunk, or another record follows before the last chunk (CF, TNF unchanged).
    public static let chunk = Code("chunk")
    /// The type is present although the TNF forbids it, absent although the TNF requires it, or too long.
    public static let type = Code("type")
    /// The id is present although it is forbidden, or too long.
    public static let id = Code("id")
    /// The payload is present although it is forbidden, or too long.
    public static let payload = Code("payload")
    /// One of the ``NDEFLimits`` is exceeded.
    public static let limit = Code("limit")
    /// The record's type is not the type of the view.
    public static let wrongType = Code("wrong-type")
    /// The text is not valid in its character encoding.
    public static let characterEncoding = Code("character-encoding")
    /// The language of a text is not an ASCII code of 1 to 63 bytes.
    public static let language = Code("language")
    /// A nested record is missing, occurs more often than allowed, or has the wrong form.
    public static let nestedRecord = Code("nested-record")
  }
}
