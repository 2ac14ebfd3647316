import NDEF

/// What one exchange carries through every reader, in bytes of a command and of its answer.
///
/// A PN53x passes on some 262. An ACR122U wraps the frames of its PN532 in APDUs: a frame to it has at most 254 bytes and one
/// from it at most 255 (libnfc's driver acr122_usb), of which the chip's own command, status and length bytes take up to seven.
enum ExchangeLimit {
  static let command = 250
  static let answer = 248
}

extension TagType {
  /// The most exchanges that reading any message takes, and locking the tag behind it.
  var mostExchangesToRead: Int { mostExchanges(reading: NDEFLimits.default.messageSize) }

  /// The most exchanges that reading takes, whatever the tag says of itself: a message, the status, or a message before the tag
  /// is locked.
  ///
  /// | Type | Smallest pieces | Around them |
  /// |---|---|---|
  /// | 1 | all of the largest memory: 256 blocks, the bytes of the first 15 one by one | read, written and asked for once more |
  /// | 2 | the same: pages of 4 bytes, 16 bytes, 255 times 8, and 64 of lock bytes | the same |
  /// | MIFARE Classic | the same: 256 blocks, and 40 sectors to open | the same |
  /// | 3 | a block of 16 bytes: Nbr is 1 at least (Type 3 Tag, 6.1) | a poll and the attribute block; to lock, four more |
  /// | 4 | 13 bytes: of MLe, 15 at least (Type 4 Tag, 5.1), 2 are a data object's head | `opening`; the length, twice |
  ///
  /// Around a message of type 4 come, besides, nine answers that are shorter than they should be, of which the ninth ends it,
  /// and 15 to open a card again and lock it, if its container does not come byte by byte twice.
  ///
  /// - Parameter size: bytes of the message that goes over the air; it matters for types 3 and 4. None for the status alone.
  /// - Returns: exchanges.
  public func mostExchanges(reading size: Int) -> Int {
    func ofMemory(_ pieces: Int) -> Int { 3 * pieces + 32 }
    switch self {
    case .type1: return ofMemory(256 + 15 * 8)
    case .type2: return ofMemory((16 + 255 * 8 + 64) / 4)
    case .mifareClassic: return ofMemory(256 + 40)
    case .type3: return 6 + pieces(size, of: 16)
    default: return Self.opening + 2 + 9 + 15 + pieces(size, of: 13)
    }
  }

  /// The most exchanges that writing a message and reading it back takes, whatever the tag says of itself.
  ///
  /// | Type | Smallest pieces | Around them |
  /// |---|---|---|
  /// | 1, 2, MIFARE Classic | all of the largest memory | counted as read already |
  /// | 3 | a block of 16 bytes: Nbw is 1 at least (Type 3 Tag, 6.1) | a poll, two blocks read, two written |
  /// | 4 | 2 bytes up to the offset 7FFF, a byte behind it | `opening`; the length, twice |
  ///
  /// MLc is 13 at least in mapping 3.0 alone (Type 4 Tag, 5.1), and cards that take less are written, too.
  ///
  /// - Parameter size: bytes of the message that goes over the air; it matters for types 3 and 4.
  /// - Returns: exchanges.
  public func mostExchanges(writing size: Int) -> Int {
    let reading = mostExchanges(reading: size)
    switch self {
    case .type1, .type2, .mifareClassic: return reading
    case .type3: return reading + 5 + pieces(size, of: 16)
    default:
      let plain = min(size, Type4File.farthestOffset + 1)
      return reading + Self.opening + 2 + pieces(plain, of: 2) + size - plain
    }
  }

  /// Of type 4: three SELECTs, and a container of 255 bytes of which the first 15 come at once and the others one by one.
  private static let opening = 3 + 1 + 240

  private func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }
}

/// A channel that ends after so many exchanges, so that no tag keeps anybody busy by what it says of itself.
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

  private mutating func count() throws(TagChannelError) {
    guard left > 0 else { throw TagChannelError(.tooManyExchanges, "the tag takes too many exchanges") }
    left -= 1
  }
}
