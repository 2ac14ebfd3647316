import Rig
import Testing

@testable import Tags

extension TagActivation {
  static let classic1K = TagActivation.typeA(TypeAActivation(atqa: [0, 4], sak: 0x08, uid: [9, 8, 7, 1, 2, 3, 4]))
}

@Suite struct MIFAREClassicTagTests {
  private let directory: [UInt8] = {
    // Sectors 1 and 2.
    let rest: [UInt8] = [0x00, 0x03, 0xE1, 0x03, 0xE1] + [UInt8](repeating: 0, count: 26)
    return [MIFAREApplicationDirectory.checksum(rest)] + rest
  }()
  private let openDirectory: [UInt8] = [0x60, 0, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 1, 2, 3, 4]

  private func openNDEF(_ block: UInt8) -> [UInt8] { [0x60, block, 0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7, 1, 2, 3, 4] }

  /// The example of AN10787, section 3.7.1.
  @Test func `the checksum matches the example of the specification`() {
    let bytes: [UInt8] = [
      0x01, 0x01, 0x08, 0x01, 0x08, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
      0x03, 0x10, 0x03, 0x10, 0x02, 0x10, 0x02, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x30,
    ]
    #expect(MIFAREApplicationDirectory.checksum(bytes) == 0x89)
  }

  @Test func `a tag with a wrong checksum of its directory is not NDEF`() throws {
    var wrong = directory
    wrong[31] ^= 1
    var channel = ScriptedChannel([
      (openDirectory, []), ([0x30, 1], Array(wrong[0..<16])), ([0x30, 2], Array(wrong[16..<32])),
    ])
    let content = try TagActivation.classic1K.readNDEF(over: &channel)
    #expect(content == .notNDEF("the checksum of the application directory is wrong"))
  }

  /// A 4K card with a damaged second directory. The first directory assigns the sectors up to 15.
  @Test func `a damaged second directory adds no sectors`() throws {
    let rest: [UInt8] = [0x00] + (0..<15).flatMap { _ in [0x03, 0xE1] as [UInt8] }
    let first = [MIFAREApplicationDirectory.checksum(rest)] + rest
    let openSecond: [UInt8] = [0x60, 64] + openDirectory[2...]
    let open = [UInt8](repeating: 0, count: 6) + [0x7F, 0x07, 0x88, 0x40] + [UInt8](repeating: 0, count: 6)
    var script: [(command: [UInt8], answer: [UInt8])] = [
      (openDirectory, []), ([0x30, 1], Array(first[0..<16])), ([0x30, 2], Array(first[16..<32])), (openSecond, []),
    ]
    script += (64...66).map { ([0x30, $0], [UInt8](repeating: 1, count: 16)) }
    script += [(openNDEF(4), []), ([0x30, 4], [0x03, 0] + [UInt8](repeating: 0, count: 14)), ([0x30, 7], open)]
    for sector in 2...15 as ClosedRange<UInt8> {
      script += [(openNDEF(sector * 4), []), ([0x30, sector * 4 + 3], open)]
    }
    var channel = ScriptedChannel(script)
    let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 2], sak: 0x18, uid: [9, 8, 7, 1, 2, 3, 4]))
    let status = try tag.queryNDEF(over: &channel)
    #expect(status.access == .readWrite)
    #expect(status.capacity == 716)
  }

  @Test func `the access bits decide who may write a sector and its trailer`() throws {
    func trailer(_ bits: [UInt8], _ generalPurpose: UInt8) -> MIFAREClassicTrailer? {
      MIFAREClassicTrailer([UInt8](repeating: 0, count: 6) + bits + [generalPurpose] + [UInt8](repeating: 0, count: 6))
    }
    let open = try #require(trailer([0x7F, 0x07, 0x88], 0x40))
    #expect(open.letsEverybodyWrite && !open.isLocked && open.accessBitsWriter == .b)
    #expect(trailer([0x7F, 0x07, 0x88], 0x43)?.letsEverybodyWrite == false)
    let factory = try #require(trailer([0xFF, 0x07, 0x80], 0x40))
    #expect(factory.letsEverybodyWrite && factory.accessBitsWriter == .a)
    let directory = try #require(trailer([0x78, 0x77, 0x88], 0xC1))
    #expect(!directory.letsEverybodyWrite && !directory.isLocked && directory.accessBitsWriter == .b)
    let locked = try #require(
      MIFAREClassicTrailer(
        MIFAREClassicTrailer.locked(
          keyA: [1, 2, 3, 4, 5, 6], keyB: [6, 5, 4, 3, 2, 1], generalPurpose: 0x43)))
    #expect(locked.isLocked && !locked.letsEverybodyWrite && locked.accessBitsWriter == nil)
    #expect(trailer([0x7F, 0x07, 0x89], 0x40) == nil)
    #expect(MIFAREClassicTrailer([]) == nil)
  }

  /// Answers with random bytes. If `plausible`, their form is valid.
  private struct HostileClassic: TagChannel {
    var random: SeededGenerator
    let plausible: Bool
    private(set) var count = 0

    init(seed: UInt64, plausible: Bool) {
      random = SeededGenerator(seed: seed)
      self.plausible = plausible
    }

    mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
      count += 1
      if Int.random(in: 0..<64, using: &random) == 0 { throw TagChannelError(.noAnswer, "refused") }
      guard plausible else {
        return (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      let length = [3, 4, 5].randomElement(using: &random) ?? 3
      guard command.first == 0x30, command.count == 2 else { return [] }
      switch command[1] {
      case 1, 2, 64, 65, 66:
        let rest: [UInt8] = [0] + (0..<15).flatMap { _ in [0x03, 0xE1] as [UInt8] }
        let first: [UInt8] = [MIFAREApplicationDirectory.checksum(rest)] + rest
        return command[1] == 1 ? Array(first[0..<16]) : Array(first[16..<32])
      case let block where block % 4 == 3:
        return [UInt8](repeating: 0, count: 6)
          + (Bool.random(using: &random) ? [0x7F, 0x07, 0x88, 0x40] : [0xFF, 7, 0x80, 0])
          + [UInt8](repeating: 0, count: 6)
      default:
        return (0..<16).map { _ in [0, 0, 0, 3, 0xFD, 0xFF, 1, 2].prefix(length + 3).randomElement(using: &random) ?? 0
        }
      }
    }

    mutating func reselect() throws(TagChannelError) { count += 1 }
  }

  @Test(arguments: [false, true])
  func `every operation on a hostile tag ends after a bounded number of exchanges`(plausible: Bool) {
    for seed in 0..<600 as Range<UInt64> {
      let sak: UInt8 = [0x08, 0x18, 0x09][Int(seed % 3)]
      let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 4], sak: sak, uid: [1, 2, 3, 4]))
      var channel = HostileClassic(seed: seed, plausible: plausible)
      _ = try? tag.readNDEF(over: &channel)
      #expect(channel.count <= 300, "reading, seed \(seed)")
      channel = HostileClassic(seed: seed, plausible: plausible)
      _ = try? tag.queryNDEF(over: &channel)
      #expect(channel.count <= 400, "status, seed \(seed)")
      channel = HostileClassic(seed: seed, plausible: plausible)
      try? tag.writeNDEF([UInt8](repeating: 1, count: 700), over: &channel)
      #expect(channel.count <= 700, "writing, seed \(seed)")
      channel = HostileClassic(seed: seed, plausible: plausible)
      try? tag.lockNDEF(over: &channel)
      #expect(channel.count <= 1000, "locking, seed \(seed)")
    }
  }
}

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
    #expect(throws: TagWriteError.refused(TagProblem(.blank, "not formatted"))) {
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
