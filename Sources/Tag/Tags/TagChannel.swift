import NDEF
package import Names

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
  /// The answer may have any length and content.
  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8]

  /// The tag is then in the state in which it was found. Fails with `noAnswer` if it was removed or replaced.
  mutating func reselect() throws(TagChannelError)

  /// If not, `exchange` fails with `unsupported`. Some readers read and write blocks of a tag, but cannot send every
  /// command of its specification.
  func canSend(_ command: [UInt8]) -> Bool
}

extension TagChannel {
  package func canSend(_ command: [UInt8]) -> Bool { true }
}

/// Why a tag gave no answer.
package struct TagChannelError: Error, Sendable, Hashable {
  package struct Code: Sendable, Hashable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The tag did not answer. It was removed, or it refuses the command by silence, as Type 2 tags do.
    package static let noAnswer = Code("no answer")
    /// The answer is invalid: a wrong checksum, a collision or a protocol error.
    package static let transmission = Code("transmission")
    /// There was no exchange, and the tag is as it was.
    package static let unsupported = Code("unsupported")
    /// The reader itself does not answer.
    package static let readerGone = Code("reader gone")
    package static let aborted = Code("aborted")
    /// For one operation.
    package static let tooSlow = Code("too slow")
    /// For one operation.
    package static let tooManyExchanges = Code("too many exchanges")
  }

  package let code: Code
  /// The end of a sentence: "the tag does not answer".
  package let reason: String

  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// A channel with a deadline. It stops a tag that answers each command just in time from blocking the reader.
package struct TimedChannel<Channel: TagChannel>: TagChannel {
  package private(set) var channel: Channel
  private let now: () -> SuspendingClock.Instant
  private let end: SuspendingClock.Instant

  /// `now` returns the current time.
  package init(
    _ channel: Channel, until end: SuspendingClock.Instant, now: @escaping () -> SuspendingClock.Instant = { .now }
  ) {
    self.channel = channel
    self.end = end
    self.now = now
  }

  /// Fails with `tooSlow` after the deadline.
  package mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try checkTime()
    return try channel.exchange(command)
  }

  /// Fails with `tooSlow` after the deadline.
  package mutating func reselect() throws(TagChannelError) {
    try checkTime()
    try channel.reselect()
  }

  package func canSend(_ command: [UInt8]) -> Bool { channel.canSend(command) }

  private func checkTime() throws(TagChannelError) {
    guard now() < end else { throw TagChannelError(.tooSlow, "the tag takes too long to answer") }
  }
}

/// The command and answer lengths in bytes that every reader supports in one exchange.
///
/// A PN53x passes on about 262 bytes. An ACR122U wraps the frames of its PN532 in APDUs: at most 254 bytes to the
/// reader, and at most 255 from it (libnfc's driver acr122_usb). Up to seven of these are the chip's own command,
/// status and length bytes.
enum ExchangeLimit {
  static let command = 250
  static let answer = 248
}

extension TagType {
  /// The maximum number of exchanges for reading a message of any length and then locking the tag.
  var mostExchangesToRead: Int { mostExchanges(reading: NDEFLimits.default.messageSize) }

  /// The maximum number of exchanges for one operation on a tag, even if the tag reports false sizes. The operations
  /// are reading a message, querying the status, and reading a message and then locking the tag.
  ///
  /// | Type | Smallest pieces | Other exchanges |
  /// |---|---|---|
  /// | 1 | the largest memory: 256 blocks, and each byte of the first 15 | each is read, written and retried |
  /// | 2 | the largest memory in pages of 4 bytes: 16 bytes, 255 times 8, 64 lock bytes | the same |
  /// | 5 | the largest memory that is used, 64 KiB, in blocks of 4 bytes | the same; or each is locked |
  /// | MIFARE Classic | the largest memory: 256 blocks, and 40 sectors to authenticate | the same |
  /// | 3 | a block of 16 bytes: Nbr is at least 1 (Type 3 Tag, 6.1) | a poll, the attribute block; to lock, 4 more |
  /// | 4 | 13 bytes: MLe, at least 15 (Type 4 Tag, 5.1), less a data object's header | `opening`; the length, twice |
  ///
  /// Type 4 adds nine short answers: the ninth ends the operation. It also adds 15 exchanges to reopen and lock the
  /// card. They suffice unless the container arrives byte by byte twice. `size` is the length of the NDEF message in
  /// bytes, zero for the status alone. It matters for types 3 and 4.
  package func mostExchanges(reading size: Int) -> Int {
    func ofMemory(_ pieces: Int) -> Int { 3 * pieces + 32 }
    switch self {
    case .type1: return ofMemory(256 + 15 * 8)
    case .type2: return ofMemory((16 + 255 * 8 + 64) / 4)
    case .mifareClassic: return ofMemory(256 + 40)
    case .type5: return ofMemory(Type5Access.mostMemory / Type5Access.leastBlock)
    case .type3: return 6 + pieces(size, of: 16)
    default: return Self.opening + 2 + 9 + 15 + pieces(size, of: 13)
    }
  }

  /// The maximum number of exchanges for writing a message and reading it back, even if the tag reports false sizes.
  ///
  /// | Type | Smallest pieces | Other exchanges |
  /// |---|---|---|
  /// | 1, 2, 5, MIFARE Classic | the largest memory | included in the limit for reading |
  /// | 3 | a block of 16 bytes: Nbw is at least 1 (Type 3 Tag, 6.1) | a poll, two blocks read, two written |
  /// | 4 | 2 bytes up to offset 7FFF, 1 byte beyond it | `opening`; the length, twice |
  ///
  /// Only mapping 3.0 requires an MLc of at least 13 (Type 4 Tag, 5.1). Cards with a smaller MLc are written as well.
  /// `size` is the length of the NDEF message in bytes. It matters for types 3 and 4.
  package func mostExchanges(writing size: Int) -> Int {
    let reading = mostExchanges(reading: size)
    switch self {
    case .type1, .type2, .type5, .mifareClassic: return reading
    case .type3: return reading + 5 + pieces(size, of: 16)
    default:
      let plain = min(size, Type4File.farthestOffset + 1)
      return reading + Self.opening + 2 + pieces(plain, of: 2) + size - plain
    }
  }

  /// Type 4: three SELECTs, and a container of 255 bytes. Its first 15 bytes arrive at once, the others one by one.
  private static let opening = 3 + 1 + 240

  private func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }
}

/// A channel that fails after a fixed number of exchanges. A tag that reports false sizes cannot block the reader.
struct LimitedChannel<Channel: TagChannel>: TagChannel {
  private(set) var channel: Channel
  private var left: Int

  init(_ channel: Channel, most: Int) {
    self.channel = channel
    left = most
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try count()
    return try channel.exchange(command)
  }

  mutating func reselect() throws(TagChannelError) {
    try count()
    try channel.reselect()
  }

  func canSend(_ command: [UInt8]) -> Bool { channel.canSend(command) }

  private mutating func count() throws(TagChannelError) {
    guard left > 0 else { throw TagChannelError(.tooManyExchanges, "the tag takes too many exchanges") }
    left -= 1
  }
}
