/// Formatting a tag that has only zeros. Other contents may belong to another application, such as a library.
extension Type5Tag {
  private static let emptyMessage: [UInt8] = [0x03, 0x00, 0xFE, 0x00]
  /// The blocks whose number has one byte. The part of a tag behind them stays unused.
  private static let mostBlocks = 0x100
  private static let readMultiple: UInt8 = 0x01

  func isBlank(over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    guard let first = try Self.block(0, &channel) else { return false }
    return Self.isBlank(first)
  }

  private static func isBlank(_ first: [UInt8]) -> Bool {
    (Type5Access.leastBlock...32).contains(first.count) && first.allSatisfy { $0 == 0 }
  }

  /// Writes an empty NDEF TLV first, and the container last, in one block if both fit. A tag that is removed in between
  /// is still blank.
  func format(over channel: inout some TagChannel) throws(TagWriteError) {
    guard let first = try Self.block(0, &channel), Self.isBlank(first) else { throw Type5Container.absence }
    let blockSize = first.count
    let count = try Self.blockCount(blockSize, &channel)
    // The size of the data area behind the container, in units of eight bytes.
    let size = min(0xFF, (count * blockSize - Type5Access.leastBlock) / 8)
    guard size > 0 else { throw .refused(.unsupported, "the tag has only \(count) blocks") }
    for number in 1..<count {
      let bytes = try Self.block(number, &channel) ?? []
      // An earlier attempt may have written the message.
      let isOurs = number * blockSize == Type5Access.leastBlock && bytes == Self.emptyMessage
      guard isOurs || bytes.allSatisfy({ $0 == 0 }) else { throw .holdsData }
    }
    let several = Type5Command.read(0..<2)
    let answer = try channel.canSend(several) ? channel.askOrNil(several) : nil
    let hasReadMultiple = answer.flatMap(Type5Command.data)?.count == 2 * blockSize
    let container = [0xE1, 0x40, UInt8(size), hasReadMultiple ? Self.readMultiple : 0]
    let contents = container + Self.emptyMessage
    let writes = stride(from: 0, to: contents.count, by: blockSize).map { start in
      let bytes = Array(contents[start..<min(start + blockSize, contents.count)])
      return Type5Command.write(
        bytes + [UInt8](repeating: 0, count: blockSize - bytes.count), to: start / blockSize, isSpecial: false)
    }
    guard writes.allSatisfy({ channel.canSend($0) }) else {
      throw .refused(.unsupported, "this reader cannot write to this kind of tag")
    }
    for command in writes.reversed() {
      guard Type5Command.data(of: try channel.ask(command)) != nil else {
        throw .refused(.unsupported, "the tag does not let its first blocks be written")
      }
    }
  }

  /// The number of blocks that can be read, at most 256. The first block is known to be readable.
  private static func blockCount(_ size: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> Int {
    var (present, absent) = (0, mostBlocks)
    while absent - present > 1 {
      let middle = (present + absent) / 2
      if try block(middle, &channel)?.count == size { present = middle } else { absent = middle }
    }
    return present + 1
  }

  private static func block(_ number: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8]? {
    let command = Type5Command.read(number)
    guard channel.canSend(command) else { return nil }
    return try channel.askTwice(command).flatMap(Type5Command.data)
  }
}
