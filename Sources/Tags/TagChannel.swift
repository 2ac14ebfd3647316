/// Exchanges bytes with the one tag that is selected, and knows nothing of what they mean.
///
/// Type 2: a command as in its specification, without CRC, and the answer without CRC. ISO-DEP (Type 4): a command APDU and
/// the answer with its status word. What can go wrong between the reader and the tag is an error; what a tag answers never is.
public protocol TagChannel {
  /// Sends a command and waits for the answer.
  ///
  /// - Parameter command: at most 255 bytes.
  /// - Returns: the answer, of any length and content.
  /// - Throws: `TagChannelError` where there is none.
  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8]
}

/// Why there was no answer from a tag.
public struct TagChannelError: Error, Sendable, Hashable {
  /// The kinds of failure; a later version may know more.
  public struct Code: Sendable, Hashable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The tag did not answer: it is away, or it refuses the command without a word, as Type 2 tags do.
    public static let noAnswer = Code("no answer")
    /// Something came that is no valid answer: a wrong checksum, a collision, a broken protocol.
    public static let transmission = Code("transmission")
    /// The reader itself does not answer.
    public static let readerGone = Code("reader gone")
    /// The exchange was given up on our side.
    public static let aborted = Code("aborted")
    /// The time for one reading is used up.
    public static let tooSlow = Code("too slow")
  }

  /// What kind of failure it is.
  public let code: Code
  /// What happened, as the end of a sentence: "the tag does not answer".
  public let reason: String

  /// - Parameters:
  ///   - code: what kind of failure it is.
  ///   - reason: what happened, as the end of a sentence.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}
