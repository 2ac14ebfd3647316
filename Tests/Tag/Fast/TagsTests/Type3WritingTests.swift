import Testing

@testable import Tags

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
