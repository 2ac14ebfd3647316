/// Exchanges bytes with the selected tag, without interpreting them.
///
/// The format of a command and its answer depends on the kind of tag:
///
/// | Kind | Command | Answer |
/// |---|---|---|
/// | Type 1 | as specified, including address, data and UID, without CRC | as received, without CRC |
/// | Type 2 | as specified, without CRC | without CRC; the byte 0A for a 4-bit acknowledgement |
/// | Type 3 | the command code and its parameters, without the length byte | the response code and its data |
/// | ISO-DEP (Type 4) | a command APDU | the response APDU with its status word |
/// | MIFARE Classic | authenticate: 60 or 61, block, key (6), UID (4) | empty |
/// | MIFARE Classic | read: 30, block; write: A0, block, data (16); and the like | the data, if any |
/// | Type 5 | request flags, command code, parameters, without SOF, CRC and EOF | response flags, data or error |
///
/// A failed transmission between reader and tag is an error. An answer is never an error, even if it reports one. A
/// Type 2 or MIFARE Classic tag refuses a command with silence or a negative acknowledgement. Both are `noAnswer`. The
/// tag then has to be reselected before it accepts another command.
///
/// Type 5 (ISO/IEC 15693-3, 7.3 and 7.4): requests are not addressed, so they reach every such tag in the field. The
/// flags are 02: high data rate, one subcarrier. With the option flag (42), the tag answers a write or lock request
/// only after another EOF, which the reader sends 20 ms later. The answer `01 0F` is an error. A Type 5 tag may also
/// refuse a command with silence, but then accepts the next one.
package protocol TagChannel {
  /// Sends a command, as in the table, and waits for the answer, which may have any length and content.
  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8]

  /// Selects the same tag again. The tag is then in the state in which it was found. Fails with `noAnswer` if the tag
  /// was removed or replaced.
  mutating func reselect() throws(TagChannelError)

  /// Whether the reader can send this command. If it cannot, `exchange` fails with `unsupported`.
  ///
  /// Some readers read and write blocks of a tag, but cannot send every command of its specification.
  func canSend(_ command: [UInt8]) -> Bool
}

extension TagChannel {
  /// True: the reader passes on every command.
  package func canSend(_ command: [UInt8]) -> Bool { true }
}

/// Why a tag gave no answer.
package struct TagChannelError: Error, Sendable, Hashable {
  /// The kinds of failure. Later versions may add more.
  package struct Code: Sendable, Hashable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The tag did not answer. It was removed, or it refuses the command by silence, as Type 2 tags do.
    package static let noAnswer = Code("no answer")
    /// The answer is invalid: a wrong checksum, a collision or a protocol error.
    package static let transmission = Code("transmission")
    /// The reader cannot send this command. There was no exchange, and the tag is as it was.
    package static let unsupported = Code("unsupported")
    /// The reader itself does not answer.
    package static let readerGone = Code("reader gone")
    /// The reader process aborted the exchange.
    package static let aborted = Code("aborted")
    /// The time for one operation is used up.
    package static let tooSlow = Code("too slow")
    /// The exchanges for one operation are used up.
    package static let tooManyExchanges = Code("too many exchanges")
  }

  /// The kind of failure.
  package let code: Code
  /// The reason, as the end of a sentence: "the tag does not answer".
  package let reason: String

  /// A failure with a reason, which is the end of a sentence.
  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}
