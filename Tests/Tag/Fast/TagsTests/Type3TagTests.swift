import NDEF
import Rig
import Testing

@testable import Tags

/// A FeliCa card with an NDEF system that answers polls, Check and Update.
struct FeliCaCard: TagChannel {
  static let idm: [UInt8] = [0x01, 0x2E, 1, 2, 3, 4, 5, 6]

  var blocks: [[UInt8]]
  /// The identifier in the NDEF system's answer to a poll, or nil without an NDEF system.
  var ndefIdentifier: [UInt8]? = Self.idm
  /// Whether the card answers at all.
  var isThere = true
  /// The status flags of every answer. An answer with the warning FF 71 still has its data.
  var status: [UInt8] = [0, 0]
  private(set) var commands: [[UInt8]] = []

  /// `mostRead` is Nbr, `mostWritten` Nbw, and `blockCount` Nmaxb. `fields` are bytes of the attribute information
  /// block to change, by their numbers. The checksum covers the changes to the bytes before it.
  init(
    _ message: [UInt8], mostRead: UInt8 = 4, mostWritten: UInt8 = 1, blockCount: Int = 13, fields: [Int: UInt8] = [:]
  ) {
    var attributes: [UInt8] = [0x10, mostRead, mostWritten, UInt8(blockCount >> 8), UInt8(blockCount & 0xFF)]
    attributes += [0, 0, 0, 0, 0, 1, UInt8(message.count >> 16 & 0xFF), UInt8(message.count >> 8 & 0xFF)]
    attributes.append(UInt8(message.count & 0xFF))
    for (number, byte) in fields where number < 14 { attributes[number] = byte }
    let sum = attributes.reduce(0) { $0 + Int($1) }
    attributes += [UInt8(sum >> 8), UInt8(sum & 0xFF)]
    for (number, byte) in fields where number >= 14 { attributes[number] = byte }
    let padded = message + [UInt8](repeating: 0, count: max(0, blockCount * 16 - message.count))
    blocks = [attributes] + (0..<blockCount).map { Array(padded[($0 * 16)..<($0 * 16 + 16)]) }
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    commands.append(command)
    guard isThere else { throw TagChannelError(.noAnswer, "the tag was removed") }
    if command.first == 0x00 {
      let identifier = command[1...2] == [0xFF, 0xFF] ? Self.idm : ndefIdentifier
      guard let identifier else { throw TagChannelError(.noAnswer, "the tag does not answer") }
      return [0x01] + identifier + [0, 0xF1, 0, 0, 0, 1, 0x43, 0] + command[1...2]
    }
    let idm = Array(command[1...8])
    guard idm == ndefIdentifier else { throw TagChannelError(.noAnswer, "the tag does not answer") }
    let head = [command[0] + 1] + idm
    guard status == [0, 0] || status[1] == 0x71 else { return head + status }
    var list = command[13...]
    var numbers: [Int] = []
    for _ in 0..<command[12] {
      let isShort = list.removeFirst() == 0x80
      numbers.append(Int(list.removeFirst()) + (isShort ? 0 : Int(list.removeFirst()) << 8))
    }
    guard numbers.allSatisfy(blocks.indices.contains) else { return head + [0x01, 0xA8] }
    if command[0] == 0x06 { return head + [0, 0, command[12]] + numbers.flatMap { blocks[$0] } }
    for number in numbers {
      blocks[number] = Array(list.prefix(16))
      list.removeFirst(16)
    }
    return head + status
  }
}

extension TagActivation {
  /// A FeliCa card that answered a poll for this system.
  static func type3(system: [UInt8]? = [0x12, 0xFC], pmm: [UInt8] = [0, 0x0D, 0, 0, 0, 1, 0x43, 0]) -> TagActivation {
    .felica(FeliCaActivation(idm: FeliCaCard.idm, pmm: pmm, systemCode: system, bitRate: 212))
  }
}

@Suite struct Type3ReadingTests {
  private func problem(_ card: FeliCaCard, system: [UInt8] = [0x12, 0xFC]) throws -> String? {
    var card = card
    return try TagActivation.type3(system: system).readNDEF(over: &card).problem?.description
  }

  @Test func `the attribute block is read first, and then as many blocks at once as it allows`() throws {
    let bytes = try message(ofSize: 70)
    var card = FeliCaCard(bytes)
    #expect(try TagActivation.type3().readNDEF(over: &card) == .message(bytes))
    let head = [0x06] + FeliCaCard.idm + [0x01, 0x0B, 0x00]
    #expect(
      card.commands == [head + [1, 0x80, 0], head + [4, 0x80, 1, 0x80, 2, 0x80, 3, 0x80, 4], head + [1, 0x80, 5]])
  }

  @Test func `a card found by another system is polled for its NDEF system`() throws {
    let bytes = try message(ofSize: 16)
    var card = FeliCaCard(bytes)
    // The identifiers of a card's systems differ in the first half-byte.
    card.ndefIdentifier = [0x11] + FeliCaCard.idm.dropFirst()
    #expect(try TagActivation.type3(system: [0x88, 0xB4]).readNDEF(over: &card) == .message(bytes))
    #expect(card.commands.first == [0x00, 0x12, 0xFC, 0x01, 0x00])
    #expect(card.commands.dropFirst().allSatisfy { Array($0[1...8]) == card.ndefIdentifier })
    #expect(card.commands.count == 3)
  }

  @Test func `another card that answers the poll is not read`() throws {
    var card = FeliCaCard(try message(ofSize: 16))
    card.ndefIdentifier = [0x01, 0x2E, 9, 9, 9, 9, 9, 9]
    #expect(throws: TagChannelError.self) { try TagActivation.type3(system: [0x00, 0x03]).readNDEF(over: &card) }
    #expect(card.commands.count == 1)
  }

  @Test func `a card without an NDEF system is reported as not NDEF`() throws {
    var card = FeliCaCard([])
    card.ndefIdentifier = nil
    #expect(
      try problem(card, system: [0x00, 0x03])
        == "not NDEF: the FeliCa card has no NDEF system; it is one for trains, shops or doors")
    card.isThere = false
    #expect(throws: TagChannelError.self) { try problem(card, system: [0x00, 0x03]) }
  }

  @Test func `block numbers from 256 take three bytes`() throws {
    let bytes = try message(ofSize: 4112)
    var card = FeliCaCard(bytes, mostRead: 5, blockCount: 300)
    #expect(try TagActivation.type3().readNDEF(over: &card) == .message(bytes))
    // The low byte of the number comes first.
    #expect(card.commands.last?.suffix(7) == [2, 0x00, 0x00, 0x01, 0x00, 0x01, 0x01])
  }

  @Test(arguments: [1, 4, 12, 15, 16, 255] as [UInt8], [0, 1, 16, 17, 240, 241, 3840])
  func `reading takes no more exchanges than the specification requires`(mostRead: UInt8, size: Int) throws {
    let bytes = size > 2 ? try message(ofSize: size) : [UInt8](repeating: 0, count: size)
    var card = FeliCaCard(bytes, mostRead: mostRead, blockCount: 240)
    _ = try TagActivation.type3().readNDEF(over: &card)
    // Every reader can transfer 14 blocks at once.
    let most = min(Int(mostRead), 14)
    #expect(card.commands.count == 1 + ((size + 15) / 16 + most - 1) / most)
  }

  @Test func `an empty, damaged or unsupported card is reported with the reason`() throws {
    func problem(_ fields: [Int: UInt8]) throws -> String? {
      try self.problem(FeliCaCard(try message(ofSize: 40), fields: fields))
    }
    #expect(try self.problem(FeliCaCard([])) == "empty: the tag holds no message")
    #expect(try problem([9: 0x0F]) == "damaged: the tag was removed while it was written")
    #expect(try problem([11: 1]) == "damaged: the NDEF message is longer than the memory that the tag has for it")
    #expect(try problem([15: 0]) == "damaged: the checksum of the attribute information block is wrong")
    #expect(try problem([1: 0]) == "damaged: the attribute information block lets no block be read")
    #expect(try problem([0: 0x20]) == "unsupported: it is formatted for mapping version 2 of Type 3")
    #expect(try problem([0: 0x1F]) == nil)
    #expect(
      try problem(Dictionary(uniqueKeysWithValues: (0..<16).map { ($0, 0) }))
        == "not NDEF: the attribute information block is blank")
    var card = FeliCaCard(try message(ofSize: 40))
    card.status = [0xFF, 0xA5]
    #expect(try self.problem(card) == "not NDEF: the card does not let everybody read its NDEF system")
    card.status = [0, 0]
    card.blocks.removeLast(12)
    #expect(try self.problem(card) == "damaged: the blocks of the NDEF message cannot be read")
  }

  /// The write was not finished, the length is larger than the memory, or the block itself is wrong.
  @Test(arguments: [[9: 0x0F], [11: 1], [15: 0], [1: 0], [4: 3]] as [[Int: UInt8]])
  func `the problem of a damaged card has the bytes that were read`(_ fields: [Int: UInt8]) throws {
    var card = FeliCaCard(try message(ofSize: 60), fields: fields)
    let problem = try TagActivation.type3().readNDEF(over: &card).problem
    #expect(problem?.code == .damaged && problem?.contents == card.blocks[0])
  }

  @Test func `the problem of a card with a missing block has the blocks in front of it`() throws {
    var card = FeliCaCard(try message(ofSize: 40), mostRead: 1)
    card.blocks.removeLast(11)
    #expect(try TagActivation.type3().readNDEF(over: &card).problem?.contents == card.blocks.flatMap(\.self))
  }

  @Test(arguments: [nil, [0x88, 0xB4], [0x12, 0xFC]] as [[UInt8]?])
  func `every operation on a hostile card ends after a bounded number of exchanges`(system: [UInt8]?) throws {
    for seed in 0..<200 as Range<UInt64> {
      var channel = HostileFeliCa(seed: seed)
      let tag = TagActivation.type3(system: system, pmm: [0, seed % 2 == 0 ? 0xF1 : 0, 0, 0, 0, 0, 0, 0])
      _ = try? tag.readNDEF(over: &channel)
      _ = try? tag.queryNDEF(over: &channel)
      _ = try? tag.writeNDEF([UInt8](repeating: 1, count: 300), isVerifying: true, over: &channel)
      _ = try? tag.lockNDEF(over: &channel)
      // Two polls and the attribute block for each operation. 0400 blocks are read twice and 19 written, one at a time.
      #expect(channel.count <= 4 * 3 + 2 * 0x400 + 19 + 2 + 2, "seed \(seed)")
    }
  }
}

/// Answers in the right form with random content, so that the reader continues. Sometimes the form is wrong.
struct HostileFeliCa: TagChannel {
  private var random: SeededGenerator
  private(set) var count = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    count += 1
    switch UInt8.random(in: 0..<32, using: &random) {
    case 0: throw TagChannelError(.noAnswer, "the tag does not answer")
    case 1: return bytes(Int.random(in: 0...255, using: &random))
    default: break
    }
    if command.first == 0x00 { return [0x01] + FeliCaCard.idm + bytes(10) }
    let head = [command[0] + 1] + command[1...8]
    guard command[0] == 0x06 else { return head + [0, 0] }
    guard command.count == 15, command.last == 0 else {
      return head + [0, 0, command[12]] + bytes(Int(command[12]) * 16)
    }
    var attributes = FeliCaCard([], mostRead: 1, blockCount: 0x400).blocks[0]
    attributes[10] = UInt8.random(in: 0...1, using: &random)
    attributes[12] = UInt8.random(in: 0...0x3F, using: &random)
    let sum = attributes.prefix(14).reduce(0) { $0 + Int($1) }
    return head + [0, 0, 1] + attributes.prefix(14) + [UInt8(sum >> 8), UInt8(sum & 0xFF)]
  }

  mutating func reselect() throws(TagChannelError) { count += 1 }
}

@Suite struct Type3WritingTests {
  /// The PMm of a FeliCa Lite-S.
  private static let liteS: [UInt8] = [0, 0xF1, 0, 0, 0, 1, 0x43, 0]

  /// A Lite-S with a memory configuration block that starts with these bytes.
  private func lite(_ message: [UInt8], configuration: [UInt8] = [0xFF, 0xFF, 0xFF, 0x01]) -> FeliCaCard {
    var card = FeliCaCard(message)
    card.blocks += [[UInt8]](repeating: [UInt8](repeating: 0, count: 16), count: 0x89 - card.blocks.count)
    card.blocks[0x88] = configuration + [UInt8](repeating: 0, count: 16 - configuration.count)
    return card
  }

  @Test func `the length is zero until the message is written`() throws {
    var card = FeliCaCard(try message(ofSize: 60), mostWritten: 2)
    let bytes = try message(ofSize: 40)
    try TagActivation.type3().writeNDEF(bytes, over: &card)
    let updates = card.commands.filter { $0[0] == 0x08 }
    #expect(updates.map(\.count) == [31, 49, 31, 31])
    // WriteF, RWFlag, Ln.
    #expect(updates[0].dropFirst(15).dropFirst(9).prefix(5) == [0x0F, 1, 0, 0, 0])
    #expect(updates[3].dropFirst(15).dropFirst(9).prefix(5) == [0x00, 1, 0, 0, 40])
    #expect(try TagActivation.type3().readNDEF(over: &card) == .message(bytes))
  }

  @Test func `writing keeps the other fields of the attribute block`() throws {
    var card = FeliCaCard([], mostRead: 12, mostWritten: 8, blockCount: 0x102, fields: [0: 0x11, 5: 7, 8: 9])
    let before = card.blocks[0]
    try TagActivation.type3().writeNDEF(try message(ofSize: 4), over: &card)
    #expect(card.blocks[0].prefix(11) == before.prefix(11))
    try TagActivation.type3().writeNDEF([], over: &card)
    #expect(card.blocks[0] == before)
  }

  @Test func `a card with an interrupted write can be written again`() throws {
    var card = FeliCaCard(try message(ofSize: 40), fields: [9: 0x0F])
    let bytes = try message(ofSize: 20)
    try TagActivation.type3().writeNDEF(bytes, isVerifying: true, over: &card)
    #expect(card.blocks[0][9] == 0)
  }

  @Test func `no write command is longer than a frame`() throws {
    var card = FeliCaCard([], mostWritten: 255, blockCount: 300)
    let bytes = try message(ofSize: 4800)
    try TagActivation.type3().writeNDEF(bytes, isVerifying: true, over: &card)
    #expect(card.commands.allSatisfy { $0.count <= 254 })
  }

  @Test(
    arguments: [
      ([10: 0], TagWriteError.readOnly), ([2: 0], .readOnly),
      (
        [15: 0],
        .damaged(
          "the checksum of the attribute information block is wrong", FeliCaCard([], fields: [15: 0]).blocks[0])
      ),
      ([:], .tooLong(capacity: 208)),
    ] as [([Int: UInt8], TagWriteError)])
  func `a card that cannot take the message is not written`(_ fields: [Int: UInt8], _ error: TagWriteError) throws {
    var card = FeliCaCard([], fields: fields)
    #expect(throws: error) { try TagActivation.type3().writeNDEF([UInt8](repeating: 0, count: 209), over: &card) }
    #expect(card.commands.count == 1)
  }

  @Test func `a card that refuses a write causes an error`() throws {
    var card = FeliCaCard([])
    card.status = [0xFF, 0xA5]
    #expect(throws: TagWriteError.self) { try TagActivation.type3().writeNDEF([], over: &card) }
    #expect(try TagActivation.type3().queryNDEF(over: &card).access == .notSupported)
  }

  @Test func `a card that warns of wear is still written`() throws {
    var card = FeliCaCard([])
    card.status = [0xFF, 0x71]
    let bytes = try message(ofSize: 20)
    try TagActivation.type3().writeNDEF(bytes, isVerifying: true, over: &card)
    #expect(card.blocks[1] == Array(bytes.prefix(16)))
  }

  @Test func `the status has the capacity and the access`() throws {
    var card = FeliCaCard([])
    #expect(try TagActivation.type3().queryNDEF(over: &card) == NDEFStatus(capacity: 208, isWritable: true))
    card = FeliCaCard([], fields: [10: 0])
    #expect(try TagActivation.type3().queryNDEF(over: &card) == NDEFStatus(capacity: 208, isWritable: false))
  }

  @Test func `a partly written message is not locked`() throws {
    var card = FeliCaCard([], fields: [9: 0x0F])
    #expect(throws: TagWriteError.self) { try TagActivation.type3().lockNDEF(over: &card) }
    #expect(card.commands.count == 1)
  }

  @Test func `a Lite-S is locked by its memory configuration`() throws {
    let tag = TagActivation.type3(pmm: Self.liteS)
    var card = lite(try message(ofSize: 40))
    try tag.lockNDEF(over: &card)
    #expect(card.commands[2].suffix(5) == [2, 0x80, 0, 0x80, 0x88])
    #expect(card.commands.count == 2 + 3)
    // Blocks 0 to 13 are locked. REG and the configuration itself stay writable.
    #expect(card.blocks[0x88].prefix(4) == [0x00, 0xC0, 0xFF, 0x01])
    #expect(card.blocks[0][10] == 0)
    #expect(throws: TagWriteError.readOnly) { try tag.lockNDEF(over: &card) }

    // The card was removed between the two writes.
    card.blocks[0x88][0] = 0xFF
    #expect(try tag.queryNDEF(over: &card).access == .readOnly)
    try tag.lockNDEF(over: &card)
    #expect(card.blocks[0x88].prefix(2) == [0x00, 0xC0])
  }

  @Test(
    arguments: [
      [0xFE, 0xFF], [0xFF, 0xDF], [0xFF, 0xFF, 0xFF, 1, 7, 0, 0, 0, 0x02, 0x00],
      [0xFF, 0xFF, 0xFF, 1, 7, 0, 0, 0, 0x00, 0x00, 0x00, 0x20],
    ] as [[UInt8]])
  func `a Lite-S with a read-only configuration is neither written nor locked`(_ configuration: [UInt8]) throws {
    let tag = TagActivation.type3(pmm: Self.liteS)
    var card = lite(try message(ofSize: 40), configuration: configuration)
    #expect(try tag.queryNDEF(over: &card).access == .readOnly)
    #expect(throws: TagWriteError.readOnly) { try tag.writeNDEF([], over: &card) }
    #expect(throws: TagWriteError.readOnly) { try tag.lockNDEF(over: &card) }
    #expect(card.commands.allSatisfy { $0[0] == 0x06 })
  }

  @Test func `a Lite-S with a fixed configuration is locked by its RWFlag`() throws {
    var card = lite([], configuration: [0xFF, 0x7F])
    try TagActivation.type3(pmm: Self.liteS).lockNDEF(over: &card)
    #expect(card.blocks[0][10] == 0)
    #expect(card.commands.count == 1 + 2)
  }

  @Test func `a card that only looks like a Lite-S is locked by its RWFlag`() throws {
    var card = FeliCaCard([])
    try TagActivation.type3(pmm: Self.liteS).lockNDEF(over: &card)
    #expect(card.blocks[0][10] == 0)
    #expect(card.commands.count == 1 + 3)
  }
}
