/// The memory of a selected Type 5 tag, in blocks of 4 to 32 bytes. Every byte that has been read is cached.
struct Type5Access {
  /// In bytes.
  static let leastBlock = 4
  /// In bytes. An NDEF TLV holds at most 65,534. The largest tags have about 9 KiB.
  static let mostMemory = 0x1_0000
  private static let mostBlock = 32
  /// How many bytes are read at once to find the TLV. A command for a short message then returns all of it. A longer
  /// command would take more time than it saves: the air carries about 3 bytes in a millisecond.
  private static let ahead = 64
  /// READ MULTIPLE BLOCKS of ST's M24LR and LRI reads at most this many blocks, and none beyond a multiple of it
  /// (M24LR64-R, section 26.5).
  private static let sector = 32

  /// Blocks at once.
  private enum Reading {
    /// As many as fit into one answer. Can transition to: `.sectors`.
    case answers
    /// At most one sector. Can transition to: `.single`.
    case sectors
    /// One.
    case single
  }

  let container: Type5Container
  /// In bytes.
  let blockSize: Int
  private(set) var memory: TagMemory
  private(set) var area: Range<Int>
  private var reading: Reading

  /// Checks that the tag is formatted for NDEF. Block 0 also shows the size of all blocks.
  init(_ channel: inout some TagChannel) throws(TagWriteError) {
    guard let answer = try channel.askTwice(Type5Command.read(0)) else {
      throw .silence(.notNDEF, "the tag does not let everybody read its first block")
    }
    guard var bytes = Type5Command.data(of: answer), bytes.count >= Self.leastBlock else {
      throw Type5Container.absence
    }
    container = try Type5Container(bytes)
    blockSize = bytes.count
    guard blockSize <= Self.mostBlock else { throw .refused(.damaged, "the tag has blocks of \(blockSize) bytes") }
    if blockSize < container.size { bytes += try Self.secondBlock(container, blockSize, &channel) }
    let most = min(Self.mostMemory, container.mostBlocks * blockSize)
    area = container.size..<max(container.size, min(container.size + container.dataSize(bytes), most))
    memory = TagMemory(size: area.upperBound + Self.mostBlock)
    memory.learn(bytes, at: 0)
    reading = container.hasReadMultiple ? .answers : .single
  }

  /// At least the bytes of block 1, which completes the container.
  private static func secondBlock(
    _ container: Type5Container, _ blockSize: Int, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [UInt8] {
    // Only a tag of more than 2,040 bytes needs the second block. So it has the blocks behind it, too.
    let several = Type5Command.read(1..<1 + ahead / blockSize)
    if container.hasReadMultiple, channel.canSend(several), let answer = try channel.askOrNil(several),
      let data = Type5Command.data(of: answer), data.count == ahead / blockSize * blockSize
    {
      return data
    }
    guard let data = Type5Command.data(of: try channel.ask(Type5Command.read(1))), data.count == blockSize else {
      throw .refused(.damaged, "the capability container is cut off")
    }
    return data
  }

  /// Of the container and the data area.
  var blocks: Range<Int> { 0..<(area.upperBound - 1) / blockSize + 1 }

  /// A formatted tag without an NDEF TLV but with room for one is treated as empty: a write adds the TLV.
  mutating func block(_ channel: inout some TagChannel) throws(TagWriteError) -> NDEFBlock {
    var search = TLVBlocks(area: area, hasControls: false)
    while true {
      switch search.find(in: memory) {
      case .needs(let address):
        let size = reading == .single ? 1 : Self.ahead
        try require(address..<min(address + size, area.upperBound), &channel)
      case .found(let block): return block
      case .absent(let place):
        guard place.addresses.count > 1 else { throw .refused(TLVBlocks.absence) }
        return place
      case .problem(let problem): throw .refused(problem)
      }
    }
  }

  /// Skips the bytes that are known. The addresses are ascending.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagWriteError) {
    var missing: [Int] = []
    for address in addresses where memory[address] == nil && missing.last != address / blockSize {
      missing.append(address / blockSize)
    }
    var rest = missing[...]
    while let first = rest.first {
      let run = zip(rest.prefix(mostAtOnce(from: first)), first...).prefix { $0 == $1 }
      if try read(first..<first + run.count, &channel) { rest = rest.dropFirst(run.count) }
    }
  }

  private func mostAtOnce(from first: Int) -> Int {
    let inAnswer = (ExchangeLimit.answer - 1) / blockSize
    return switch reading {
    case .answers: min(inAnswer, Type5Command.end(from: first) - first)
    case .sectors: min(inAnswer, Self.sector - first % Self.sector)
    case .single: 1
    }
  }

  /// Returns false if the tag does not return, or the reader cannot request, that many blocks at once.
  private mutating func read(
    _ blocks: Range<Int>, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    guard blocks.count > 1 else {
      let command = Type5Command.read(blocks.lowerBound)
      guard channel.canSend(command) else {
        throw .refused(.unsupported, "this reader cannot read block \(blocks.lowerBound) of the tag")
      }
      guard let data = Type5Command.data(of: try channel.ask(command)), data.count == blockSize else {
        throw .refused(.damaged, "block \(blocks.lowerBound) of the tag cannot be read")
      }
      memory.learn(data, at: blocks.lowerBound * blockSize)
      return true
    }
    let command = Type5Command.read(blocks)
    let answer = try channel.canSend(command) ? channel.askOrNil(command) : nil
    guard let data = answer.flatMap(Type5Command.data), data.count == blocks.count * blockSize else {
      reading = reading == .answers ? .sectors : .single
      return false
    }
    memory.learn(data, at: blocks.lowerBound * blockSize)
    return true
  }

  /// Limits the data area to the blocks that can be read. Some programs count the container in the size of the area, so
  /// that the area ends behind the tag's last block.
  mutating func trim(_ channel: inout some TagChannel) throws(TagWriteError) {
    var present = (container.size - 1) / blockSize
    var absent = blocks.upperBound
    guard absent - present > 1, try !hasBlock(absent - 1, &channel) else { return }
    absent -= 1
    while absent - present > 1 {
      let middle = (present + absent) / 2
      if try hasBlock(middle, &channel) { present = middle } else { absent = middle }
    }
    area = area.lowerBound..<max(area.lowerBound, absent * blockSize)
  }

  private mutating func hasBlock(_ block: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    if memory[block * blockSize] != nil { return true }
    let command = Type5Command.read(block)
    guard channel.canSend(command), let answer = try channel.askTwice(command),
      let data = Type5Command.data(of: answer), data.count == blockSize
    else { return false }
    memory.learn(data, at: block * blockSize)
    return true
  }

  /// Nil if they are unknown, because the tag or the reader does not support GET MULTIPLE BLOCK SECURITY STATUS: the
  /// command is optional (ISO/IEC 15693-3).
  func lockedBlocks(in blocks: Range<Int>, _ channel: inout some TagChannel) throws(TagWriteError) -> Set<Int>? {
    var locked: Set<Int> = []
    var first = blocks.lowerBound
    while first < blocks.upperBound {
      let end = min(first + ExchangeLimit.answer - 1, Type5Command.end(from: first), blocks.upperBound)
      let command = Type5Command.securityStatus(first..<end)
      let answer = try channel.canSend(command) ? channel.askOrNil(command) : nil
      guard let status = answer.flatMap(Type5Command.data), status.count == end - first else { return nil }
      for (block, byte) in zip(first..<end, status) where byte & 0x01 != 0 { locked.insert(block) }
      first = end
    }
    return locked
  }

  func write(_ data: [UInt8], to block: Int) -> [UInt8] {
    Type5Command.write(data, to: block, isSpecial: container.isSpecial)
  }

  func lock(_ block: Int) -> [UInt8] { Type5Command.lock(block, isSpecial: container.isSpecial) }
}

/// The requests of ISO/IEC 15693-3 that a Type 5 tag supports. They are not addressed: flags, command code, parameters.
///
/// Blocks from 256 on need the extended commands, with numbers of two bytes, the low byte first.
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

  /// Nil if the tag reports an error.
  static func data(of answer: [UInt8]) -> [UInt8]? {
    guard let flags = answer.first, flags & 0x01 == 0 else { return nil }
    return Array(answer.dropFirst())
  }

  /// Nil if the answer reports no error.
  static func error(of answer: [UInt8]) -> UInt8? {
    guard let flags = answer.first, flags & 0x01 != 0 else { return nil }
    return answer.dropFirst().first
  }

  private static func request(_ code: UInt8, _ block: Int, _ flags: UInt8 = plain) -> [UInt8] {
    block < 0x100 ? [flags, code] + number(block, 1) : [flags, code + 0x10] + number(block, 2)
  }

  private static func request(_ code: UInt8, _ blocks: Range<Int>) -> [UInt8] {
    request(code, blocks.lowerBound) + number(blocks.count - 1, blocks.lowerBound < 0x100 ? 1 : 2)
  }

  private static func number(_ value: Int, _ size: Int) -> [UInt8] { value.bytes(size).reversed() }
}

extension TagChannel {
  /// Retries once, in case the tag did not receive the command. Nil if the tag is present but silent.
  mutating func askTwice(_ command: [UInt8]) throws(TagWriteError) -> [UInt8]? {
    for _ in 0..<2 {
      if let answer = try askOrNil(command) { return answer }
      // A tag that was removed fails here.
      try reselectTag()
    }
    return nil
  }
}
