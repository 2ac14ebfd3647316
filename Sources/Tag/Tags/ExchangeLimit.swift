import NDEF
package import Names

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
