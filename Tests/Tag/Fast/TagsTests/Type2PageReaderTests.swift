import NDEF
import Testing

@testable import Tags

/// A reader that can only send READ and WRITE, unless it has more `commands`, and counts the pages that it reads.
private struct PageReader<Tag: TagChannel>: TagChannel {
  var tag: Tag
  let commands: [UInt8]
  private(set) var pages: Set<Int> = []

  init(_ tag: Tag, commands: [UInt8] = [0x30, 0xA2]) {
    self.tag = tag
    self.commands = commands
  }

  func canSend(_ command: [UInt8]) -> Bool { commands.contains(command[0]) }

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
  private static let ntag215: [UInt8] = [0, 4, 4, 2, 1, 0, 0x11, 3]

  /// A reader with a tag of this size and this number of pages. `control` precedes the message.
  private func reader(_ size: UInt8, pages: Int, control: [UInt8] = []) -> PageReader<WritableTag> {
    var tag = WritableTag(size: size, message: Self.message, version: WritableTag.ntag215, pages: pages)
    let data = control + tlv(Self.message)
    tag.memory.replaceSubrange(16..<16 + data.count, with: data)
    return PageReader(tag)
  }

  @Test func `a long message is read by READ alone`() throws {
    let message = try TagsTests.message(ofSize: 480)
    let length: [UInt8] = [0x03, 0xFF, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
    var reader = PageReader(Type2Memory(length + message + [0xFE], size: 0x3E))
    #expect(try TagActivation.type2.readNDEF(over: &reader) == .message(message))
    // The data area ends with page 127.
    #expect((reader.pages.max() ?? 0) <= 127)
    let reads = (4 + 4 + 480 + 15) / 16
    #expect(reader.tag.reads.count == reads)
  }

  @Test func `a message behind page 255 is reported`() throws {
    let message = try TagsTests.message(ofSize: 1_500)
    let length: [UInt8] = [0x03, 0xFF, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
    var reader = PageReader(Type2Memory(length + message + [0xFE], size: 0xEA))
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

  /// NTAG213 and NTAG215, also with a container that claims more than they have.
  @Test(
    arguments: [(0x12, 0x2D, 0x12), (0x13, 0x2D, 0x12), (0x3E, 0x87, 0x3E), (0xFF, 0x87, 0x3E)] as [(UInt8, Int, Int)])
  func `the end of the memory bounds a write`(claim: UInt8, pages: Int, size: Int) throws {
    var reader = reader(claim, pages: pages)
    let before = reader.tag.memory
    let capacity = NDEFBlock.capacity(bytes: size * 8)
    #expect(try TagActivation.type2.queryNDEF(over: &reader) == NDEFStatus(capacity: capacity, isWritable: true))
    try TagActivation.type2.writeNDEF(try TagsTests.message(ofSize: capacity), isVerifying: true, over: &reader)
    try TagActivation.type2.writeNDEF([], isVerifying: true, over: &reader)
    #expect(throws: TagWriteError.tooLong(capacity: capacity)) {
      try TagActivation.type2.writeNDEF([UInt8](repeating: 0, count: capacity + 1), over: &reader)
    }
    #expect(reader.tag.memory[..<16] == before[..<16])
    #expect(reader.tag.memory[(16 + size * 8)...] == before[(16 + size * 8)...])
  }

  @Test(arguments: [[], [0x01, 3, 0xA0, 0x10, 0x44], [0x01, 3, 0xF0, 8, 0x47]] as [[UInt8]])
  func `the end of the memory shows where the lock bits are`(control: [UInt8]) throws {
    var reader = reader(0x3E, pages: 0x87, control: control)
    try TagActivation.type2.lockNDEF(over: &reader)
    #expect(reader.tag.writes.map { $0[1] } == [3, 0x82, 2])
    #expect(try TagActivation.type2.queryNDEF(over: &reader).access == .readOnly)
  }

  @Test func `a tag of 48 bytes has no other lock bits`() throws {
    var reader = PageReader(WritableTag(size: 0x06, message: [0xD0, 0, 0], version: nil, pages: 0x10))
    try TagActivation.type2.lockNDEF(over: &reader)
    #expect(reader.tag.writes.map { $0[1] } == [3, 2])
  }

  /// The message has copies of the first pages at page 10h, where the memory of an Ultralight ends.
  @Test func `contents that look like the first page do not end the memory`() throws {
    var message = try TagsTests.message(ofSize: 200)
    var reader = PageReader(WritableTag(size: 0x6D, message: message, version: nil))
    let first = Array(reader.tag.memory[..<12])
    message.replaceSubrange(46..<50, with: first[..<4])
    reader.tag.memory.replaceSubrange(18..<218, with: message)
    // AUTH0.
    reader.tag.memory[0xE3 * 4 + 3] = 0xFF
    try TagActivation.type2.lockNDEF(over: &reader)
    #expect(reader.tag.writes.map { $0[1] } == [3, 0xE2, 2])

    message.replaceSubrange(46..<58, with: first)
    reader = PageReader(WritableTag(size: 0x6D, message: message, version: nil))
    #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &reader) }
    #expect(reader.tag.writes.map { $0[1] } == [3, 2])
  }

  @Test func `a tag whose memory ends elsewhere is locked only as far as its container says`() throws {
    var reader = reader(0x12, pages: 0x100)
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &reader) }
    #expect(error?.description.contains("this reader cannot ask for its model") == true)
    #expect(reader.tag.writes.map { $0[1] } == [3, 2])
  }

  @Test func `lock bits behind the last page that the reader reaches are not set`() throws {
    let tag = WritableTag(size: 0x3E, message: Self.message, version: [0, 4, 4, 5, 2, 1, 0x15, 3], pages: 0x100)
    var reader = PageReader(tag, commands: [0x30, 0xA2, 0x60])
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &reader) }
    #expect(error?.description.contains("this reader does not reach its lock bits") == true)
    #expect(reader.tag.writes.map { $0[1] } == [3, 2])
  }

  @Test func `a channel with a deadline knows what the reader can send`() {
    let channel = TimedChannel(reader(0x3E, pages: 0x87), until: .now)
    #expect(channel.canSend([0x30, 3]) && !channel.canSend([0x60]))
    let limited = LimitedChannel(channel, most: 1)
    #expect(limited.canSend([0x30, 3]) && !limited.canSend([0x60]))
  }
}
