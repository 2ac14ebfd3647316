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
  ///
  /// | Type | Smallest pieces of the largest memory |
  /// |---|---|
  /// | 1 | 256 blocks, and the bytes of the first 15 one by one |
  /// | 2 | pages of 4 bytes: 16 bytes, 255 times 8, and 64 of lock bytes |
  /// | MIFARE Classic | 256 blocks, and 40 sectors to open |
  /// | 3, 4 | the longest message, of which an exchange carries half of what it could |
  ///
  /// Each piece is read, written and asked for once more, and there is something around it. A card of type 3 or 4 that takes
  /// smaller pieces is not read to the end where its message is that long.
  public var mostExchanges: Int {
    let pieces: Int
    switch self {
    case .type1: pieces = 256 + 15 * 8
    case .type2: pieces = (16 + 255 * 8 + 64) / 4
    case .mifareClassic: pieces = 256 + 40
    default: pieces = NDEFLimits.default.messageSize / (ExchangeLimit.answer / 2)
    }
    return 3 * pieces + 32
  }
}

/// A channel that ends after so many exchanges, so that no tag keeps anybody busy by what it says of itself.
struct LimitedChannel<Channel: TagChannel>: TagChannel {
  private(set) var channel: Channel
  private var left: Int

  init(_ channel: Channel, _ type: TagType) {
    self.channel = channel
    left = type.mostExchanges
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
