import Testing

@testable import Tags

/// Tags without a capability container, which are formatted only if the caller asks for it.
@Suite struct BlankTagTests {
  private static let message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61]
  private static let blank = TagWriteError.refused(TagProblem(.blank, "not formatted"))

  /// A Type 2 tag with zeros from its third page on.
  private static func type2(_ version: [UInt8]?) -> WritableTag {
    var tag = WritableTag(size: 0, message: [], version: version)
    let end = 16 + 0x3E * 8
    tag.memory.replaceSubrange(12..<end, with: [UInt8](repeating: 0, count: end - 12))
    return tag
  }

  @Test func `the capability container is written after the empty message`() throws {
    var tag = Self.type2(WritableTag.ntag215)
    try TagActivation.type2.writeNDEF([], isFormatting: true, over: &tag)
    #expect(tag.writes.prefix(2) == [[0xA2, 4, 0x03, 0, 0xFE, 0], [0xA2, 3, 0xE1, 0x10, 0x3E, 0]])
  }

  @Test func `a tag that is removed while it is formatted can be formatted again`() throws {
    var left = 0
    while true {
      var torn = TornChannel(tag: Self.type2(WritableTag.ntag215), left: left)
      let isDone = (try? TagActivation.type2.writeNDEF(Self.message, isFormatting: true, over: &torn)) != nil
      try TagActivation.type2.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &torn.tag)
      #expect(Array(torn.tag.memory[12..<16]) == [0xE1, 0x10, 0x3E, 0])
      if isDone { break }
      left += 1
    }
  }

  /// Toys and tickets may have data without a capability container.
  @Test(arguments: [16, 20, 24, 100, 16 + 0x3E * 8 - 1])
  func `a Type 2 tag that holds data is left as it is`(address: Int) {
    var tag = Self.type2(WritableTag.ntag215)
    tag.memory[address] = 1
    TagActivation.type2.refusesFormatting(of: &tag, .holdsData)
    #expect(tag.writes.isEmpty)
  }

  /// Without a model, the size would be a guess, and the container is permanent.
  @Test(
    arguments: [
      (WritableTag.ntag215, 12, [0xE1, 0, 0, 0]), (WritableTag.ntag215, 12, [0, 0, 0, 1]),
      (WritableTag.ntag215, 12, [0xF1, 0x10, 0xFF, 0xEE]), (nil, 12, []), ([0, 4, 4, 2, 1, 0, 0x77, 3], 12, []),
      // A lock bit, and a password.
      (WritableTag.ntag215, 10, [0x10]), (WritableTag.ntag215, 0x83 * 4 + 3, [0x04]),
    ] as [([UInt8]?, Int, [UInt8])])
  func `a tag of an unknown model, or with another container, a lock bit or a password, is not formatted`(
    version: [UInt8]?, address: Int, bytes: [UInt8]
  ) {
    var tag = Self.type2(version)
    tag.memory.replaceSubrange(address..<address + bytes.count, with: bytes)
    TagActivation.type2.refusesFormatting(of: &tag)
    #expect(tag.writes.isEmpty)
  }

  @Test func `a tag of another manufacturer is not formatted`() {
    var tag = Self.type2(WritableTag.ntag215)
    let foreign = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [5, 1, 2, 3, 4, 5, 6]))
    foreign.refusesFormatting(of: &tag)
    #expect(tag.writes.isEmpty)
  }

  /// ICODE SLIX: 28 blocks of 4 bytes. The data area has the 108 bytes behind the container, in units of eight.
  @Test func `a Type 5 tag is formatted`() throws {
    var tag = Type5Memory([], [0, 0, 0, 0], size: 112)
    #expect(throws: Self.blank) { try TagActivation.type5.writeNDEF(Self.message, over: &tag) }
    #expect(tag.writes.isEmpty)
    try TagActivation.type5.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &tag)
    #expect(
      Array(tag.bytes[0..<16]) == [0xE1, 0x40, 13, 0x01, 0x03, 0x06, 0xD1, 0x01, 0x02, 0x55, 0x04, 0x61, 0xFE, 0, 0, 0])
    #expect(try TagActivation.type5.queryNDEF(over: &tag).capacity == 102)
  }

  @Test(arguments: [(4, 1024, 127), (8, 64, 7), (32, 8192, 255), (4, 8192, 127)] as [(Int, Int, UInt8)])
  func `the size of a Type 5 tag is found by reading`(blockSize: Int, size: Int, units: UInt8) throws {
    for isSilent in [false, true] {
      var tag = Type5Memory([], [0, 0, 0, 0], blockSize: blockSize, size: size)
      tag.isSilentBehindItsEnd = isSilent
      tag.unknown = [0x23]
      try TagActivation.type5.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &tag)
      #expect(Array(tag.bytes[0..<4]) == [0xE1, 0x40, units, 0x00])
    }
  }

  @Test func `a Type 5 tag with other data, or with a locked block, is not formatted`() throws {
    var used = Type5Memory([], [0x11, 0x01, 0x01, 0], size: 112)
    TagActivation.type5.refusesFormatting(of: &used)
    #expect(used.writes.isEmpty)
    for address in [4, 8, 111] {
      var data = Type5Memory([], [0, 0, 0, 0], size: 112)
      data.bytes[address] = 1
      TagActivation.type5.refusesFormatting(of: &data, .holdsData)
      #expect(data.writes.isEmpty)
    }
    var locked = Type5Memory([], [0, 0, 0, 0], size: 112)
    locked.locked = [0]
    TagActivation.type5.refusesFormatting(of: &locked)
    #expect(Array(locked.bytes[0..<4]) == [0, 0, 0, 0])
  }
}
