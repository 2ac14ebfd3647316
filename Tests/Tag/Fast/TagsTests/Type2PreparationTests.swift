import Testing

@testable import Tags

/// Formatted tags without an NDEF TLV. They read as empty, and writing adds the TLV.
@Suite struct Type2PreparationTests {
  private static let message: [UInt8] = [0xD5, 0, 60] + [UInt8](repeating: 0xFF, count: 60)

  /// An NTAG215 with these bytes after its capability container, followed by zeros.
  private func tag(_ data: [UInt8] = []) -> WritableTag {
    var tag = WritableTag(size: 0x3E, message: Self.message, version: WritableTag.ntag215)
    tag.memory.replaceSubrange(16..<16 + 496, with: data + [UInt8](repeating: 0, count: 496 - data.count))
    return tag
  }

  @Test func `writing to an empty data area adds an NDEF TLV`() throws {
    var tag = tag()
    #expect(try TagActivation.type2.readNDEF(over: &tag).problem?.code == .empty)
    let status = try TagActivation.type2.queryNDEF(over: &tag)
    #expect(status.access == .readWrite && status.capacity == 492)
    try TagActivation.type2.writeNDEF(Self.message, isVerifying: true, over: &tag)
    #expect(Array(tag.memory[16..<82]) == [0x03, 63] + Self.message + [0xFE])
  }

  @Test func `a tag without an NDEF TLV is not locked, because none could be added later`() throws {
    var tag = tag()
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &tag) }
    #expect(error == .cannotLock("there is no NDEF message on the tag: write one first"))
    #expect(tag.writes.isEmpty)
  }

  @Test func `the length stays zero until the message is written`() throws {
    var tag = tag()
    try TagActivation.type2.writeNDEF(Self.message, over: &tag)
    let pages = tag.writes.map { $0[1] }
    #expect(pages.last == 4 && pages.dropLast().contains(5))
    #expect(tag.writes.dropLast().filter { $0[1] == 4 }.allSatisfy { $0[3] == 0 })
  }

  @Test(
    arguments: [
      // A lock control TLV stays in its place.
      ([0x01, 3, 0xA0, 0x10, 0x44], 5), ([0x01, 3, 0xA0, 0x10, 0x44, 0xFE], 5), ([0, 0, 0x01, 3, 0xA0, 0x10, 0x44], 7),
      ([0xFE], 0), ([0xFD, 2, 7, 7], 4),
    ] as [([UInt8], Int)])
  func `the new TLV comes after the others`(data: [UInt8], place: Int) throws {
    var tag = tag(data)
    try TagActivation.type2.writeNDEF(Self.message, isVerifying: true, over: &tag)
    #expect(Array(tag.memory[16..<16 + place]) == Array(data.prefix(place)))
    #expect(Array(tag.memory[16 + place..<18 + place]) == [0x03, 63])
  }

  @Test(arguments: [[0xFD, 0xFE], [0x55, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
  func `a tag with damaged TLVs is not overwritten`(data: [UInt8]) throws {
    var tag = WritableTag(size: 0x06, message: [], version: nil)
    tag.memory.replaceSubrange(16..<16 + data.count, with: data)
    #expect(throws: TagWriteError.self) { try TagActivation.type2.writeNDEF(Self.message, over: &tag) }
    #expect(tag.writes.isEmpty)
  }
}
