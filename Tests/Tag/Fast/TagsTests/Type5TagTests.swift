import NDEF
import Rig
import Testing

@testable import Tags

@Suite struct Type5TagTests {
  /// 256 bytes for data, with READ MULTIPLE BLOCKS.
  private static let short: [UInt8] = [0xE1, 0x40, 0x20, 0x01]
  /// The same in eight bytes.
  private static let long: [UInt8] = [0xE2, 0x40, 0x00, 0x01, 0x00, 0x00, 0x00, 0x20]
  /// 8,448 bytes for data, as on the largest tags.
  private static let largest: [UInt8] = [0xE2, 0x40, 0x00, 0x01, 0x00, 0x00, 0x04, 0x20]

  private func problem(_ memory: Type5Memory) throws -> String? {
    var memory = memory
    return try TagActivation.type5.readNDEF(over: &memory).problem?.description
  }

  private func withoutMultiple(_ container: [UInt8]) -> [UInt8] {
    container.enumerated().map { $0.offset == 3 ? $0.element & 0xFE : $0.element }
  }

  @Test(arguments: [false, true], [4, 8, 16, 32])
  func `a message is read from a tag of any block size`(isLong: Bool, blockSize: Int) throws {
    let container = isLong ? Self.long : Self.short
    for size in [10, 37, 100, 200, 240] {
      let message = try message(ofSize: size)
      var tag = Type5Memory(message: message, container, blockSize: blockSize)
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      #expect(tag.commands.count <= 3, "\(size) bytes")
      tag = Type5Memory(message: message, withoutMultiple(container), blockSize: blockSize)
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      // No block after the message is read, and none twice.
      let blocks = (container.count + 2 + size + blockSize - 1) / blockSize
      #expect(tag.commands == (0..<blocks).map { [0x02, 0x20, UInt8($0)] }, "\(size) bytes")
    }
  }

  @Test func `a short message takes two commands`() throws {
    let message = try message(ofSize: 37)
    var tag = Type5Memory(message: message, Self.short)
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
    #expect(tag.commands == [[0x02, 0x20, 0], [0x02, 0x23, 1, 15]])
  }

  @Test(arguments: [true, false]) func `blocks from 256 on are read with the extended commands`(isMultiple: Bool) throws
  {
    let message = try message(ofSize: 8_440)
    let container = isMultiple ? Self.largest : withoutMultiple(Self.largest)
    var tag = Type5Memory(message: message, container)
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
    let codes: Set<UInt8> = isMultiple ? [0x20, 0x23, 0x33] : [0x20, 0x30]
    #expect(Set(tag.codes) == codes)
    #expect(tag.commands.count == (isMultiple ? 37 : 8_452 / 4))
    // The low byte comes first.
    let command: [UInt8] = isMultiple ? [0x02, 0x33, 0x00, 0x01, 60, 0] : [0x02, 0x30, 0x00, 0x01]
    #expect(tag.commands.contains(command))
    #expect(try TagActivation.type5.queryNDEF(over: &tag) == NDEFStatus(capacity: 8_444, isWritable: true))
  }

  @Test func `blocks from 256 on do not exist on a tag whose block numbers have one byte`() throws {
    var tag = Type5Memory([0x03, 0x00], [0xE1, 0x40, 0xFF, 0x00], size: 4_096)
    #expect(try TagActivation.type5.queryNDEF(over: &tag).capacity == 1_024 - 4 - 4)
    #expect(tag.codes.allSatisfy { $0 & 0x10 == 0 })
  }

  @Test func `a tag that reads at most one sector at once is read by sectors`() throws {
    let message = try message(ofSize: 900)
    var tag = Type5Memory(message: message, [0xE1, 0x40, 0x7F, 0x01])
    tag.hasSectors = true
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
    // Block 0, blocks 1 to 16, one that is too long, then by sectors.
    #expect(tag.commands.count == 3 + 8)
    #expect(tag.commands[3...4] == [[0x02, 0x23, 17, 14], [0x02, 0x23, 32, 31]])
  }

  @Test(arguments: [false, true]) func `a tag that refuses to read several blocks is read one by one`(isSilent: Bool)
    throws
  {
    let message = try message(ofSize: 37)
    for container in [Self.short, Self.long] {
      var tag = Type5Memory(message: message, container)
      if isSilent { tag.unanswered = [0x23] } else { tag.unknown = [0x23] }
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      #expect(tag.codes.count { $0 == 0x23 } <= 3)
    }
  }

  @Test func `a reader that cannot read several blocks at once is not asked to`() throws {
    let message = try message(ofSize: 37)
    for container in [Self.short, Self.long] {
      var tag = Type5Memory(message: message, container)
      tag.unsendable = [0x23, 0x33]
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      #expect(Set(tag.codes) == [0x20])
    }
  }

  @Test func `a message beyond the blocks that the reader can read is reported`() throws {
    var tag = Type5Memory(message: try message(ofSize: 2_000), Self.largest)
    tag.unsendable = [0x30, 0x33]
    #expect(try problem(tag) == "unsupported: this reader cannot read block 256 of the tag")
    #expect(try TagActivation.type5.queryNDEF(over: &tag).access == .notSupported)
    tag = Type5Memory(message: try message(ofSize: 20), Self.largest)
    tag.unsendable = [0x30, 0x33]
    #expect(try TagActivation.type5.queryNDEF(over: &tag).capacity == 1_024 - 8 - 4)
  }

  @Test func `a tag without a message is reported with the reason`() throws {
    #expect(try problem(Type5Memory([0x03, 0x00, 0xFE], Self.short)) == "empty: the tag holds no message")
    #expect(try problem(Type5Memory([], Self.short)) == "empty: the tag holds no message")
    #expect(try problem(Type5Memory([0xFE], Self.long)) == "empty: the tag holds no message")
    let blank = "not NDEF: there is no capability container in block 0"
    #expect(try problem(Type5Memory([], [0, 0, 0x20, 0])) == blank)
    #expect(try problem(Type5Memory([], [0xE3, 0x40, 0x20, 0])) == blank)
    #expect(
      try problem(Type5Memory([], [0xE1, 0x80, 0x20, 0]))
        == "unsupported: it is formatted for mapping version 2 of Type 5")
    #expect(
      try problem(Type5Memory([], [0xE1, 0x44, 0x20, 0])) == "unsupported: the tag does not let everybody read it")
    #expect(
      try problem(Type5Memory([], [0xE1, 0x40, 0x00, 0, 0, 0, 0, 0], size: 64))
        == "not NDEF: there is no NDEF TLV on the tag")
  }

  @Test func `a tag whose first block cannot be read is not NDEF`() throws {
    var tag = Type5Memory([], Self.short)
    tag.unknown = [0x20]
    #expect(try problem(tag) == "not NDEF: there is no capability container in block 0")
    tag.unanswered = [0x20]
    let content = try TagActivation.type5.readNDEF(over: &tag)
    #expect(content.problem?.code == .notNDEF && content.problem?.isConcludedFromSilence == true)
    // The command is repeated once.
    #expect(tag.commands.count == 2)
  }

  @Test func `blocks of an impossible size are reported`() throws {
    #expect(try problem(Type5Memory([], Self.short, blockSize: 33)) == "damaged: the tag has blocks of 33 bytes")
    var channel = ScriptedChannel([([0x02, 0x20, 0], [0x00, 0xE1, 0x40])])
    #expect(try TagActivation.type5.readNDEF(over: &channel).problem?.code == .notNDEF)
    channel = ScriptedChannel([([0x02, 0x20, 0], [])])
    #expect(try TagActivation.type5.readNDEF(over: &channel).problem?.code == .notNDEF)
    channel = ScriptedChannel([([0x02, 0x20, 0], [0, 0xE1, 0x40, 8, 0]), ([0x02, 0x20, 1], [0, 3])])
    #expect(try TagActivation.type5.readNDEF(over: &channel) == .damaged("block 1 of the tag cannot be read"))
    channel = ScriptedChannel([([0x02, 0x20, 0], [0, 0xE1, 0x40, 0, 0]), ([0x02, 0x20, 1], [1, 0x0F])])
    #expect(try TagActivation.type5.readNDEF(over: &channel) == .damaged("the capability container is cut off"))
  }

  @Test func `a TLV that is longer than the memory is reported as damaged`() throws {
    let reason = "damaged: a TLV block is longer than the memory that the tag has for it"
    for data in [[0x03, 0xFF, 0xFF, 0xFE], [0xFD, 0xFF, 0x01, 0x00], [0x03, 0xFE]] as [[UInt8]] {
      let tag = Type5Memory(data, [0xE1, 0x40, 0x10, 0x01])
      #expect(try problem(tag) == reason)
      var other = tag
      let contents = try TagActivation.type5.readNDEF(over: &other).problem?.contents
      #expect(contents?.starts(with: data) == true)
    }
  }

  /// Lock control and memory control TLVs exist only on Types 1 and 2.
  @Test func `other TLVs in front of the message are skipped`() throws {
    let message = try message(ofSize: 20)
    let others: [UInt8] = [0x00, 0x01, 3, 0xA0, 0x10, 0x44, 0xFD, 2, 9, 9, 0x02, 1, 0x55, 0x42, 0]
    var tag = Type5Memory(others + [0x03, 20] + message + [0xFE], Self.short)
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
  }

  /// An area of 512 KiB that holds only NULL TLVs.
  @Test(arguments: [0x01, 0x00] as [UInt8]) func `a huge area without a message ends the search`(features: UInt8) throws
  {
    struct Nulls: TagChannel {
      let features: UInt8
      var count = 0
      mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
        count += 1
        if command == [0x02, 0x20, 0] { return [0x00, 0xE2, 0x40, 0x00, features, 0, 0, 0xFF, 0xFF] }
        guard command[1] & 0x0F == 3 else { return [UInt8](repeating: 0, count: 9) }
        return [UInt8](repeating: 0, count: 1 + 8 * (Int(command[command.count == 6 ? 4 : 3]) + 1))
      }
    }
    var channel = Nulls(features: features)
    #expect(try TagActivation.type5.readNDEF(over: &channel).problem?.code == .empty)
    #expect(channel.count <= 0x1_0000 / (features == 1 ? 64 : 8) + 8)
  }

  @Test func `a tag that is removed during any exchange yields no message`() throws {
    let tag = Type5Memory(message: try message(ofSize: 240), Self.long)
    for left in 0..<3 {
      var channel = TornChannel(tag: tag, left: left)
      #expect(throws: TagChannelError.self) { try TagActivation.type5.readNDEF(over: &channel) }
    }
  }

  @Test func `every operation on a hostile tag ends after a bounded number of exchanges`() throws {
    try TagActivation.type5.endsWithin(read: 600, query: 700, write: 900, lock: 2_500) { HostileType5(random: $0) }
  }
}

/// Answers in the right form with random content. It has at most 2,040 bytes.
private struct HostileType5: CountingChannel {
  var random: SeededGenerator
  var count = 0

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    count += 1
    if Int.random(in: 0..<16, using: &random) == 0 { return [0x01] }
    let likely: [UInt8] = [0, 1, 2, 3, 3, 3, 0xFD, 0xFF, 0x04, 0x20]
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in likely.randomElement(using: &random) ?? 0 } }
    switch command[1] & 0xEF {
    case 0x20 where command == [0x02, 0x20, 0]:
      return [0x00, 0xE1, 0x40, UInt8.random(in: 1...255, using: &random), UInt8.random(in: 0...1, using: &random)]
    case 0x20: return [0x00] + bytes(4)
    case 0x23: return [0x00] + bytes(4 * (Int(command[3]) + 1))
    case 0x2C: return [0x00] + bytes(Int(command[3]) + 1)
    default: return [0x00]
    }
  }

  mutating func reselect() throws(TagChannelError) { count += 1 }
}

/// Compares the table for Type 5 in `docs/development/exchanges.md` with the specification and with counted exchanges.
@Suite struct Type5ExchangeTests {
  struct Row {
    let tag: String
    let isMultiple: Bool
    let size: Int
    let atLeast: Int
    let exchanges: Int

    /// The size of a block, and the capability container without its features.
    var format: (blockSize: Int, container: [UInt8])? {
      switch tag {
      case "Blocks of 4 bytes": (4, [0xE1, 0x40, 0x7F, 0])
      case "Blocks of 8 bytes": (8, [0xE1, 0x40, 0xFF, 0])
      case "Blocks of 32 bytes": (32, [0xE1, 0x40, 0xFF, 0])
      case "Blocks of 4 bytes, 8,448 bytes": (4, [0xE2, 0x40, 0, 0, 0, 0, 0x04, 0x20])
      default: nil
      }
    }

    /// The least number of commands: READ SINGLE BLOCK of block 0, and then the rest in one run. A command contains
    /// block numbers of one size, and its answer is at most as long as every reader allows.
    func least(_ blockSize: Int, containerSize: Int) -> Int {
      func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }
      let blocks = pieces(containerSize + (size < 0xFF ? 2 : 4) + size, of: blockSize)
      guard isMultiple else { return blocks }
      let atOnce = (ExchangeLimit.answer - 1) / blockSize
      let short = min(blocks, 0x100)
      return 1 + pieces(short - 1, of: atOnce) + pieces(blocks - short, of: atOnce)
    }
  }

  private static func rows() throws -> [Row] {
    let text = String(decoding: try readFile("\(repositoryRoot)/docs/development/exchanges.md"), as: UTF8.self)
    let rows = text.split(separator: "\n").compactMap { line -> Row? in
      let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
      guard cells.count == 5, let size = Int(cells[2]), let atLeast = Int(cells[3]), let exchanges = Int(cells[4])
      else { return nil }
      return Row(tag: cells[0], isMultiple: cells[1] == "yes", size: size, atLeast: atLeast, exchanges: exchanges)
    }
    // Otherwise the test would pass if no row could be read.
    try #require(rows.count >= 12)
    return rows
  }

  @Test func `the table gives the least and the counted exchanges`() throws {
    for row in try Self.rows() {
      let (blockSize, container) = try #require(row.format, "\(row.tag)")
      #expect(row.least(blockSize, containerSize: container.count) == row.atLeast, "\(row)")
      let message = try message(ofSize: row.size)
      var tag = Type5Memory(message: message, container, blockSize: blockSize)
      if row.isMultiple { tag.bytes[3] = 0x01 }
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      #expect(tag.commands.count == row.exchanges, "\(row)")
    }
  }
}

/// A Type 5 tag that answers like an ICODE, and the reader between it and the program.
struct Type5Memory: TagChannel {
  let blockSize: Int
  var bytes: [UInt8]
  var locked: Set<Int> = []
  /// The codes of the commands that the tag answers with an error, and those that it does not answer. For a command
  /// with two forms, the code of the shorter form.
  var unknown: Set<UInt8> = []
  var unanswered: Set<UInt8> = []
  /// The codes of the commands that the reader cannot send.
  var unsendable: Set<UInt8> = []
  /// Whether a command reads at most 32 blocks, and none beyond a multiple of 32.
  var hasSectors = false
  /// Whether a write or lock command needs the option flag.
  var isSpecial = false
  /// Whether the tag is silent instead of reporting an error if a block does not exist.
  var isSilentBehindItsEnd = false
  private(set) var commands: [[UInt8]] = []

  /// `data` follows the capability container. The tag has `size` bytes, by default those of container and data area.
  init(_ data: [UInt8], _ container: [UInt8], blockSize: Int = 4, size: Int? = nil) {
    self.blockSize = blockSize
    let dataSize = container.count == 8 ? Int(container[6]) << 8 | Int(container[7]) : Int(container[2])
    let whole = (size ?? container.count + dataSize * 8) / blockSize * blockSize
    bytes = container + data
    bytes += [UInt8](repeating: 0, count: max(0, whole - bytes.count))
  }

  var codes: [UInt8] { commands.map { $0[1] } }
  /// The commands so far that change the tag.
  var writes: [[UInt8]] { commands.filter { [0x21, 0x22].contains($0[1] & 0xEF) } }

  mutating func forget() { commands = [] }

  func canSend(_ command: [UInt8]) -> Bool { !unsendable.contains(command[1]) }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard canSend(command) else {
      Issue.record("the reader cannot send \(command)")
      throw TagChannelError(.unsupported, "the reader cannot send it")
    }
    commands.append(command)
    let answer = try self.answer(command)
    #expect(answer.count <= ExchangeLimit.answer && command.count <= ExchangeLimit.command)
    return answer
  }

  private mutating func answer(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let code = command[1] & 0xEF
    if unanswered.contains(code) { throw TagChannelError(.noAnswer, "silence") }
    let changes = code == 0x21 || code == 0x22
    guard !unknown.contains(code), command[0] == (changes && isSpecial ? 0x42 : 0x02) else { return [0x01, 0x01] }
    let width = command[1] & 0x10 == 0 ? 1 : 2
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
    let block = number(command[2..<2 + width])
    let rest = command[(2 + width)...]
    let count = code == 0x23 || code == 0x2C ? number(rest) + 1 : 1
    guard (block + count) * blockSize <= bytes.count else {
      if isSilentBehindItsEnd { throw TagChannelError(.noAnswer, "silence") }
      return [0x01, 0x10]
    }
    let place = block * blockSize..<(block + count) * blockSize
    switch code {
    case 0x20: return [0x00] + bytes[place]
    case 0x23:
      guard !hasSectors || block / 32 == (block + count - 1) / 32 else { return [0x01, 0x0F] }
      return [0x00] + bytes[place]
    case 0x2C: return [0x00] + (block..<block + count).map { locked.contains($0) ? 0x01 : 0x00 }
    case 0x21:
      guard !locked.contains(block), rest.count == blockSize else { return [0x01, 0x12] }
      bytes.replaceSubrange(place, with: rest)
      return [0x00]
    case 0x22: return locked.insert(block).inserted ? [0x00] : [0x01, 0x11]
    default: return [0x01, 0x01]
    }
  }
}

extension Type5Memory {
  /// A tag with a message in its data area.
  init(message: [UInt8], _ container: [UInt8], blockSize: Int = 4, size: Int? = nil) {
    self.init(tlv(message), container, blockSize: blockSize, size: size)
  }
}
