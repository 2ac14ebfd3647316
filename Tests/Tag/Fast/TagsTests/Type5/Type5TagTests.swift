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
