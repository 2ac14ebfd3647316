import NDEF
import Rig
import Testing

@testable import Tags

@Suite struct Type2ReadPlanTests {
  /// The commands that are sent in turn to a tag that supports all of them.
  private func steps(_ pages: some Sequence<Int>, lastPage: Int, _ fastRead: Type2ReadPlan.FastRead) -> [String] {
    var missing = Array(pages)
    var fastRead = fastRead
    var steps: [String] = []
    while let step = Type2ReadPlan.next(missing: missing, lastPage: lastPage, fastRead: fastRead), steps.count < 200 {
      switch step {
      case .read(let page):
        steps.append("\(page)")
        missing.removeAll { (page...page + 3).contains($0) }
      case .fastRead(let pages):
        fastRead = .certain
        steps.append("\(pages)")
        missing.removeAll { pages.contains($0) }
      }
    }
    return steps
  }

  @Test func `FAST_READ is used if it saves an exchange`() {
    #expect(steps([], lastPage: 127, .certain) == [])
    #expect(steps(7...10, lastPage: 127, .certain) == ["7"])
    #expect(steps(7...11, lastPage: 127, .certain) == ["7...11"])
    #expect(steps(7...127, lastPage: 127, .certain) == ["7...66", "67...126", "124"])
  }

  /// The plan with fewer exchanges is chosen. The attempt to use FAST_READ costs one exchange.
  @Test func `FAST_READ is tried if it saves more than the attempt costs`() {
    #expect(steps(7...10, lastPage: 39, .unknown) == ["7"])
    #expect(steps(7...14, lastPage: 39, .unknown) == ["7", "11"])
    #expect(steps(7...15, lastPage: 39, .unknown) == ["7...15"])
    #expect(steps(7...127, lastPage: 127, .absent).count == 31)
  }

  /// Compares with the minimum, where each command covers as many pages as possible.
  @Test func `no other plan takes fewer exchanges`() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<500 {
      let count = Int.random(in: 1...12, using: &random)
      let pages = Set((0..<count).map { _ in Int.random(in: 4...230, using: &random) }).sorted()
      var (reads, fast) = (0, 0)
      var (end, fastEnd) = (-1, -1)
      for page in pages {
        if page > end { (reads, end) = (reads + 1, page + 3) }
        if page > fastEnd { (fast, fastEnd) = (fast + 1, page + Type2ReadPlan.mostPages - 1) }
      }
      #expect(steps(pages, lastPage: 233, .certain).count == min(reads, fast), "\(pages)")
      #expect(steps(pages, lastPage: 233, .unknown).count == (fast + 1 < reads ? fast : reads), "\(pages)")
    }
  }

  @Test func `a READ ends with the data area`() {
    #expect(steps([14, 15], lastPage: 15, .absent) == ["12"])
    #expect(steps([2], lastPage: 3, .absent) == ["2"])
    // Lock bytes after the data area.
    #expect(steps([40], lastPage: 39, .absent) == ["37"])
  }

  @Test func `no command crosses a sector boundary`() {
    #expect(steps(250...260, lastPage: 471, .certain) == ["250...255", "256...260"])
    #expect(steps(254...257, lastPage: 471, .certain) == ["252", "256"])
  }

  @Test func `a FAST_READ includes pages in small gaps`() {
    #expect(steps([7, 8, 9, 10, 11, 20, 21, 22, 23, 24], lastPage: 127, .certain) == ["7...24"])
    #expect(steps([7, 8, 9, 10, 11, 80, 81, 82, 83, 84], lastPage: 127, .certain) == ["7...11", "80...84"])
    #expect(steps([7, 80], lastPage: 127, .certain) == ["7", "80"])
  }

  @Test(
    arguments: [
      (0x04, 0x05, [], .unknown), (0x04, 0x06, [], .unknown), (0x04, 0x12, [], .unknown),
      (0x04, 0x12, [0x01, 0x03, 0xA0, 0x10, 0x44], .unknown),
      (0x04, 0x12, [0x01, 0x03, 0xA0, 0x0C, 0x34], .certain), (0x04, 0x3E, [], .certain), (0x04, 0x6D, [], .certain),
      (0x04, 0xEA, [], .certain), (0x04, 0x10, [], .certain), (0x04, 0x20, [], .unknown), (0x05, 0x10, [], .unknown),
      (nil, 0x3E, [], .unknown),
    ] as [(UInt8?, UInt8, [UInt8], Type2ReadPlan.FastRead)])
  func `support for FAST_READ is derived from manufacturer and container`(
    manufacturer: UInt8?, size: UInt8, data: [UInt8], expected: Type2ReadPlan.FastRead
  ) {
    var memory = TagMemory(size: 64)
    memory.learn([0xE1, 0x10, size, 0x00] + data, at: 12)
    #expect(Type2ReadPlan.fastRead(manufacturer: manufacturer, memory) == expected)
  }
}

@Suite struct Type2LocksTests {
  @Test(
    arguments: [
      ([0, 4, 4, 2, 1, 0, 0x0F, 3], [160: 0xFF, 161: 0x0F]), ([0, 4, 4, 2, 1, 0, 0x11, 3], [520: 0xFF]),
      ([0, 4, 4, 2, 1, 0, 0x13, 3], [904: 0xFF, 905: 0x3F]), ([0, 4, 4, 5, 2, 1, 0x13, 3], [904: 0xFF, 905: 0x3F]),
      ([0, 4, 4, 5, 2, 1, 0x15, 3], [1920: 0xFF, 1921: 0x7F]), ([0, 4, 4, 5, 2, 2, 0x15, 3], [904: 0xFF, 905: 0x3F]),
      ([0, 4, 3, 1, 1, 0, 0x0E, 3], [144: 0xFF, 145: 0x03]), ([0, 4, 4, 1, 1, 0, 0x0B, 3], [:]),
      ([0, 4, 3, 1, 2, 0, 0x0B, 3], [:]),
      ([0, 5, 4, 2, 1, 0, 0x0F, 3], nil), ([0, 4, 4, 2], nil), ([0, 4, 4, 2, 1, 0, 0x77, 3], nil),
    ] as [([UInt8], [Int: UInt8]?)])
  func `the version gives the addresses of the lock bytes`(version: [UInt8], expected: [Int: UInt8]?) {
    let locks = Type2Model.ofVersion(version)?.locks
    #expect(locks.map { Dictionary(uniqueKeysWithValues: $0.bytes.map { ($0.address, $0.mask) }) } == expected)
  }

  @Test func `a set lock bit marks its pages as locked`() {
    var memory = TagMemory(size: 64)
    memory.learn([0, 0, 0x10, 0x80], at: 8)
    #expect((3...16).filter { Type2Locks.isLocked($0, memory) } == [4, 15])
    #expect(Type2Locks.static.isAnySet(in: memory) && !Type2Locks.static.areAllSet(in: memory))
    #expect(Type2Locks.static.locked(2, memory) == [0, 0, 0xF8, 0xFF])
  }
}

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

  /// The message has copies of the first pages at page 10h, the end of an Ultralight's memory.
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
