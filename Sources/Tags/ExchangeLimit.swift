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
  /// The most exchanges that one operation on a tag of this type takes, whatever the tag says of itself.
  public var mostExchanges: Int { mostExchanges(forMessageOf: NDEFLimits.default.messageSize) }

  /// The most exchanges that one operation on a tag of this type takes: reading a message, asking for the status, writing a message
  /// and reading it back, or reading a message and locking.
  ///
  /// | Type | Smallest pieces | Around them |
  /// |---|---|---|
  /// | 1 | all of the largest memory: 256 blocks, the bytes of the first 15 one by one | read, written and asked for once more |
  /// | 2 | the same: pages of 4 bytes, 16 bytes, 255 times 8, and 64 of lock bytes | the same |
  /// | MIFARE Classic | the same: 256 blocks, and 40 sectors to open | the same |
  /// | 3 | a block of 16 bytes: Nbr and Nbw are 1 at least (Type 3 Tag, 6.1) | twice: two polls, two blocks read, two written |
  /// | 4, read | 13 bytes: MLe is 15 at least (Type 4 Tag, 5.1), of which a data object's tag and length take 2 | twice: 5 SELECTs, the container's 255 bytes one by one, the length in up to two READs, 8 answers that are shorter |
  /// | 4, written | 2 bytes up to the offset 7FFF, a byte behind it: MLc is 13 at least in mapping 3.0 alone, and cards that take less are written, too | 3 UPDATEs |
  ///
  /// - Parameter size: bytes of the message that goes over the air; it matters for types 3 and 4.
  /// - Returns: exchanges.
  public func mostExchanges(forMessageOf size: Int) -> Int {
    func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }
    func ofMemory(_ pieces: Int) -> Int { 3 * pieces + 32 }
    switch self {
    case .type1: return ofMemory(256 + 15 * 8)
    case .type2: return ofMemory((16 + 255 * 8 + 64) / 4)
    case .mifareClassic: return ofMemory(256 + 40)
    case .type3: return 2 * (6 + pieces(size, of: 16))
    default:
      let plain = min(size, Type4File.farthestOffset + 1)
      let written = pieces(plain, of: 2) + size - plain
      return 2 * (5 + 255 + 2 + 8) + pieces(size, of: 13) + written + 3
    }
  }
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
