/// The requests of ISO/IEC 15693-3 that a Type 5 tag supports. They are not addressed: flags, command code, parameters.
///
/// Blocks from 256 on need the extended commands, whose numbers have two bytes, the low byte first.
enum Type5Command {
  /// High data rate, one subcarrier, not addressed.
  private static let plain: UInt8 = 0x02
  /// The same with the option flag, for write and lock requests to a tag with the special frame format. It answers them
  /// only after another EOF.
  private static let special: UInt8 = 0x42

  /// READ SINGLE BLOCK.
  static func read(_ block: Int) -> [UInt8] { request(0x20, block) }

  /// READ MULTIPLE BLOCKS. All block numbers have the same size.
  static func read(_ blocks: Range<Int>) -> [UInt8] { request(0x23, blocks) }

  /// WRITE SINGLE BLOCK.
  static func write(_ data: [UInt8], to block: Int, isSpecial: Bool) -> [UInt8] {
    request(0x21, block, isSpecial ? special : plain) + data
  }

  /// LOCK BLOCK.
  static func lock(_ block: Int, isSpecial: Bool) -> [UInt8] {
    request(0x22, block, isSpecial ? special : plain)
  }

  /// GET MULTIPLE BLOCK SECURITY STATUS. All block numbers have the same size.
  static func securityStatus(_ blocks: Range<Int>) -> [UInt8] { request(0x2C, blocks) }

  /// The end of the block numbers that a command from `first` on can contain.
  static func end(from first: Int) -> Int { first < 0x100 ? 0x100 : 0x1_0000 }

  /// The data of an answer; nil if the tag reports an error.
  static func data(of answer: [UInt8]) -> [UInt8]? {
    guard let flags = answer.first, flags & 0x01 == 0 else { return nil }
    return Array(answer.dropFirst())
  }

  /// The error code of an answer; nil if it reports none.
  static func error(of answer: [UInt8]) -> UInt8? {
    guard let flags = answer.first, flags & 0x01 != 0 else { return nil }
    return answer.dropFirst().first
  }

  private static func request(_ code: UInt8, _ block: Int, _ flags: UInt8 = plain) -> [UInt8] {
    block < 0x100 ? [flags, code] + number(block, 1) : [flags, code + 0x10] + number(block, 2)
  }

  /// A request with the first block and the number of blocks minus one.
  private static func request(_ code: UInt8, _ blocks: Range<Int>) -> [UInt8] {
    request(code, blocks.lowerBound) + number(blocks.count - 1, blocks.lowerBound < 0x100 ? 1 : 2)
  }

  private static func number(_ value: Int, _ size: Int) -> [UInt8] { value.bytes(size).reversed() }
}

extension TagChannel {
  /// Sends a command that a Type 5 tag may refuse by silence. Retries once, in case the tag did not receive it. Returns
  /// nil if the tag is present but silent.
  mutating func askTwice(_ command: [UInt8]) throws(TagWriteError) -> [UInt8]? {
    for _ in 0..<2 {
      if let answer = try askOrNil(command) { return answer }
      // A tag that was removed fails here.
      try reselectTag()
    }
    return nil
  }
}
