/// Exchanges bytes with the one tag that is selected, and knows nothing of what they mean.
///
/// What a command and its answer are, by the kind of tag:
///
/// | Kind | Command | Answer |
/// |---|---|---|
/// | Type 1 | as in its specification, address, data and UID included, without CRC | as it comes, without CRC |
/// | Type 2 | as in its specification, without CRC | without CRC; an acknowledgement of four bits is the byte 0A |
/// | Type 3 | the command code and what follows it, without the length byte | the response code and what follows it |
/// | ISO-DEP (Type 4) | a command APDU | the response APDU with its status word |
/// | MIFARE Classic | 60 or 61, block, key (6), UID (4) to authenticate; 30, block; A0, block, data (16); and the like | the data, or nothing |
///
/// What can go wrong between the reader and the tag is an error; what a tag answers never is. A tag that refuses a command of
/// Type 2 or MIFARE Classic falls silent or sends a negative acknowledgement: both are `noAnswer`, and the tag then has to
/// be reselected before it hears another command.
public protocol TagChannel {
  /// Sends a command and waits for the answer.
  ///
  /// - Parameter command: as in the table.
  /// - Returns: the answer, of any length and content.
  /// - Throws: `TagChannelError` where there is none.
  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8]

  /// Selects the same tag anew: whatever state it was in, it is as it was after it was found.
  ///
  /// - Throws: `TagChannelError`, `noAnswer` where the tag is away or another is there.
  mutating func reselect() throws(TagChannelError)
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
    /// The exchanges for one reading are used up.
    public static let tooManyExchanges = Code("too many exchanges")
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
