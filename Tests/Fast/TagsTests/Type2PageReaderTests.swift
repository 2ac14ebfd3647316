import NDEF
import Testing

@testable import Tags

/// A reader that can only send READ and WRITE, and counts the pages that it reads.
private struct PageReader<Tag: TagChannel>: TagChannel {
  var tag: Tag
  private(set) var pages: Set<Int> = []

  init(_ tag: Tag) { self.tag = tag }

  func canSend(_ command: [UInt8]) -> Bool { [0x30, 0xA2].contains(command[0]) }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard canSend(command) else {
      Issue.record("the reader cannot send \(command)")
      throw TagChannelError(.unsupported, "the reader cannot send it")
    }
    if command[0] == 0x30 { pages.formUnion(Int(command[1])..<Int(command[1]) + 4) }
    return try tag.exchange(command)
  }

  mutating func reselect() throws(TagChannelError) { Issue.record("the tag has refused a command") }
}

/// Type 2 tags on a reader that cannot send GET_VERSION, FAST_READ and SECTOR SELECT.
@Suite struct Type2PageReaderTests {
  private static let message: [UInt8] = [0xD5, 0, 60] + [UInt8](repeating: 0xFF, count: 60)

  private func reader(_ size: UInt8, version: [UInt8]? = nil) -> PageReader<WritableTag> {
    PageReader(WritableTag(size: size, message: Self.message, version: version))
  }

  /// A reader with an NTAG215 whose lock control TLV is this.
  private func reader(control: [UInt8]) -> PageReader<WritableTag> {
    var reader = reader(0x3E, version: WritableTag.ntag215)
    let data = control + tlv(Self.message)
    reader.tag.memory.replaceSubrange(16..<16 + data.count, with: data)
    return reader
  }

  @Test func `a long message is read by READ alone`() throws {
    let message = try TagsTests.message(ofSize: 480)
    var reader = PageReader(Type2Memory(tlv(message), size: 0x3E))
    #expect(try TagActivation.type2.readNDEF(over: &reader) == .message(message))
    // The data area ends with page 127.
    #expect((reader.pages.max() ?? 0) <= 127)
    let reads = (4 + 4 + 480 + 15) / 16
    #expect(reader.tag.reads.count == reads)
  }

  @Test func `a message behind page 255 is reported`() throws {
    let message = try TagsTests.message(ofSize: 1_500)
    var reader = PageReader(Type2Memory(tlv(message), size: 0xEA))
    let reason = "the NDEF message goes beyond page 255 of the tag, and this reader cannot read further"
    #expect(try TagActivation.type2.readNDEF(over: &reader) == .unsupported(reason))
    #expect(reader.tag.reads == [3])
  }

  @Test func `a tag with more than 255 pages has the capacity up to page 255`() throws {
    var reader = PageReader(WritableTag(size: 0xEA, message: Self.message, version: nil))
    reader.tag.memory += [UInt8](repeating: 0, count: 2_048 - reader.tag.memory.count)
    #expect(try TagActivation.type2.queryNDEF(over: &reader) == NDEFStatus(capacity: 1_004, isWritable: true))
    let message = try TagsTests.message(ofSize: 1_004)
    try TagActivation.type2.writeNDEF(message, isVerifying: true, over: &reader)
    #expect(throws: TagWriteError.tooLong(capacity: 1_004)) {
      try TagActivation.type2.writeNDEF(message + [0], over: &reader)
    }
  }

  @Test(arguments: [0x12, 0x3E] as [UInt8]) func `a tag is written without its model`(size: UInt8) throws {
    var reader = reader(size, version: WritableTag.ntag215)
    let before = reader.tag.memory
    let capacity = NDEFBlock.capacity(bytes: Int(size) * 8)
    #expect(try TagActivation.type2.queryNDEF(over: &reader) == NDEFStatus(capacity: capacity, isWritable: true))
    try TagActivation.type2.writeNDEF(Self.message.map { $0 == 0xFF ? 0xEE : $0 }, isVerifying: true, over: &reader)
    try TagActivation.type2.writeNDEF([], isVerifying: true, over: &reader)
    #expect((reader.pages.max() ?? 0) < 4 + Int(size) * 2)
    #expect(reader.tag.memory[..<16] == before[..<16])
  }

  @Test func `a tag that does not name its lock bits is not locked`() throws {
    for size in [0x10, 0x12, 0x3E] as [UInt8] {
      var reader = reader(size, version: WritableTag.ntag215)
      let reason = "the tag does not say where the lock bits of its pages from 16 on are"
      #expect(throws: TagWriteError.cannotLock(reason + ", and this reader cannot ask for its model")) {
        try TagActivation.type2.lockNDEF(over: &reader)
      }
      #expect(reader.tag.writes.isEmpty && (reader.pages.max() ?? 0) < 4 + Int(size) * 2)
    }
  }

  @Test func `a tag with a lock control TLV is locked`() throws {
    // Eight lock bits from byte 520, which is page 82h.
    var reader = reader(control: [0x01, 3, 0x88, 8, 0x46])
    #expect(try TagActivation.type2.queryNDEF(over: &reader).access == .readWrite)
    try TagActivation.type2.lockNDEF(over: &reader)
    #expect(reader.tag.writes.map { $0[1] } == [3, 0x82, 2])
    #expect(reader.pages.max() == 0x82)
    #expect(try TagActivation.type2.queryNDEF(over: &reader).access == .readOnly)
  }

  @Test func `lock bits behind page 255 cannot be set`() throws {
    var reader = reader(control: [0x01, 3, 0xF0, 8, 0x47])
    #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &reader) }
    #expect(reader.tag.writes.isEmpty)
  }

  @Test func `a tag of 48 bytes is locked`() throws {
    var reader = PageReader(WritableTag(size: 0x06, message: [0xD0, 0, 0], version: WritableTag.ntag215))
    try TagActivation.type2.lockNDEF(over: &reader)
    #expect(reader.tag.writes.map { $0[1] } == [3, 2])
    #expect((reader.pages.max() ?? 0) < 16)
  }

  @Test func `a channel with a deadline knows what the reader can send`() {
    let channel = TimedChannel(reader(0x3E), until: .now)
    #expect(channel.canSend([0x30, 3]) && !channel.canSend([0x60]))
    let limited = LimitedChannel(channel, most: 1)
    #expect(limited.canSend([0x30, 3]) && !limited.canSend([0x60]))
  }
}
