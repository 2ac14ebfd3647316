import Testing

@testable import Tags

/// A MIFARE Classic 1K with the keys of its delivery. Like the chip, it refuses a command by silence.
private struct ClassicMemory: TagChannel {
  static let delivered = [UInt8](repeating: 0xFF, count: 6)
  var blocks: [[UInt8]] = (0..<64).map { number in
    number % 4 == 3 ? delivered + [0xFF, 0x07, 0x80, 0x69] + delivered : [UInt8](repeating: 0, count: 16)
  }
  private(set) var writes: [Int] = []
  private var open: Int?

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let block = Int(command[1])
    switch command[0] {
    case 0x60, 0x61:
      let trailer = blocks[block / 4 * 4 + 3]
      let key = command[0] == 0x60 ? trailer[0..<6] : trailer[10..<16]
      open = Array(key) == Array(command[2..<8]) ? block / 4 : nil
      guard open != nil else { throw TagChannelError(.noAnswer, "another key") }
      return []
    case 0x30 where open == block / 4:
      // Key A is never readable.
      return block % 4 == 3 ? [UInt8](repeating: 0, count: 6) + blocks[block][6...] : blocks[block]
    case 0xA0 where open == block / 4:
      writes.append(block)
      blocks[block] = Array(command[2...])
      return []
    default: throw TagChannelError(.noAnswer, "refused")
    }
  }

  mutating func reselect() throws(TagChannelError) { open = nil }
}

@Suite struct BlankClassicTests {
  private static let message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61]

  private static func expect(formatted tag: ClassicMemory) {
    let applications = (0..<32).map { $0 % 2 == 0 ? 0x03 : 0xE1 as UInt8 }
    let checksum: [UInt8] = [0x0F, 0x00]
    #expect(tag.blocks[1] == checksum + applications.prefix(14))
    #expect(tag.blocks[2] == Array(applications.prefix(16)))
    #expect(
      tag.blocks[3] == [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0x78, 0x77, 0x88, 0xC1] + ClassicMemory.delivered)
    let block: [UInt8] = [0x03, 0x06] + Self.message + [0xFE] + [UInt8](repeating: 0, count: 7)
    #expect(tag.blocks[4] == block)
    for sector in 1...15 {
      let trailer = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7, 0x7F, 0x07, 0x88, 0x40] + ClassicMemory.delivered
      #expect(tag.blocks[sector * 4 + 3] == trailer, "\(sector)")
    }
  }

  @Test func `a blank tag is formatted, and the directory comes last`() throws {
    var tag = ClassicMemory()
    #expect(throws: TagWriteError.refused(TagProblem(.blank, "the tag is not formatted for NDEF yet"))) {
      try TagActivation.classic1K.writeNDEF(Self.message, over: &tag)
    }
    #expect(tag.writes.isEmpty)
    try TagActivation.classic1K.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &tag)
    Self.expect(formatted: tag)
    let trailers = (1...15).map { $0 * 4 + 3 }
    #expect(Array(tag.writes.prefix(19)) == [4] + trailers + [1, 2, 3])
  }

  @Test func `a tag that is removed while it is formatted can be formatted again`() throws {
    var left = 0
    while true {
      var torn = TornChannel(tag: ClassicMemory(), left: left)
      let isDone = (try? TagActivation.classic1K.writeNDEF(Self.message, isFormatting: true, over: &torn)) != nil
      try torn.tag.reselect()
      try TagActivation.classic1K.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &torn.tag)
      Self.expect(formatted: torn.tag)
      if isDone { break }
      left += 1
    }
  }

  /// A wallet or an access card may have the keys of the delivery.
  @Test(arguments: [1, 2, 4, 5, 38, 62]) func `a tag that holds data is left as it is`(block: Int) throws {
    var tag = ClassicMemory()
    tag.blocks[block][15] = 1
    let before = tag.blocks
    TagActivation.classic1K.refusesFormatting(of: &tag, .holdsData)
    #expect(tag.blocks == before && tag.writes.isEmpty)
  }

  @Test func `a sector with the key of NDEF may hold data of another program`() throws {
    var tag = ClassicMemory()
    tag.blocks[9 * 4 + 3] = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7, 0x7F, 0x07, 0x88, 0x40] + ClassicMemory.delivered
    tag.blocks[9 * 4][0] = 3
    TagActivation.classic1K.refusesFormatting(of: &tag, .holdsData)
    #expect(tag.writes.isEmpty)
  }

  @Test(arguments: [0, 1, 9, 15])
  func `a tag with a foreign sector is left as it is`(sector: Int) throws {
    let key: [UInt8] = [1, 2, 3, 4, 5, 6]
    for trailer in [key + [0xFF, 0x07, 0x80, 0x69] + key, ClassicMemory.delivered + [0x78, 0x77, 0x88, 0x69] + key] {
      var tag = ClassicMemory()
      tag.blocks[sector * 4 + 3] = trailer
      TagActivation.classic1K.refusesFormatting(of: &tag)
      #expect(tag.writes.isEmpty)
    }
  }
}
