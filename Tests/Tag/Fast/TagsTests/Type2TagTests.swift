import NDEF
import Testing

@testable import Tags

/// The memory of a Type 2 tag that answers READ like an NTAG: the first page follows the last.
struct Type2Memory: TagChannel {
  var pages: [UInt8]
  private(set) var reads: [UInt8] = []

  // `data` follows the capability container.
  init(_ data: [UInt8], size: UInt8 = 0x12, container: [UInt8]? = nil) {
    pages = [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0, 0, 0] + (container ?? [0xE1, 0x10, size, 0x00]) + data
    let end = max(16 + Int(size) * 8, (pages.count + 3) / 4 * 4)
    pages += [UInt8](repeating: 0, count: end - pages.count)
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard command.count == 2, command[0] == 0x30, Int(command[1]) * 4 < pages.count else {
      throw TagChannelError(.noAnswer, "refused")
    }
    reads.append(command[1])
    return (0..<16).map { pages[(Int(command[1]) * 4 + $0) % pages.count] }
  }
}

/// A message that is encoded in exactly `size` bytes.
func message(ofSize size: Int) throws -> [UInt8] {
  for overhead in [4, 7] where size >= overhead {
    let record = NDEFRecord(
      typeNameFormat: .wellKnown, type: Array("T".utf8), payload: [UInt8](repeating: 0x41, count: size - overhead))
    let bytes = try NDEFMessage(records: [record]).encoded()
    if bytes.count == size { return bytes }
  }
  throw NoSuchMessage()
}

private struct NoSuchMessage: Error {}

@Suite struct Type2TagTests {
  func read(_ memory: Type2Memory) throws -> (content: TagContent, reads: [UInt8]) {
    var memory = memory
    let content = try TagActivation.type2.readNDEF(over: &memory)
    return (content, memory.reads)
  }

  func problem(_ data: [UInt8], size: UInt8 = 0x12, container: [UInt8]? = nil) throws -> String? {
    try read(Type2Memory(data, size: size, container: container)).content.problem?.description
  }

  @Test func `one READ gets a short message after the container`() throws {
    let bytes = try message(ofSize: 10)
    var channel = ScriptedChannel([([0x30, 3], [0xE1, 0x10, 0x06, 0x00, 0x03, 10] + bytes)])
    #expect(try TagActivation.type2.readNDEF(over: &channel) == .message(bytes))
    #expect(channel.remaining == 0)
  }

  @Test(arguments: [10, 11, 26, 27, 42, 137, 254, 258, 300, 800])
  func `no page after the message is read`(_ size: Int) throws {
    let bytes = try message(ofSize: size)
    let (content, reads) = try read(Type2Memory(tlv(bytes), size: 0x6D))
    #expect(content == .message(bytes))
    let header = size < 0xFF ? 2 : 4
    // Container, header and message, 16 bytes per READ.
    let needed = (4 + header + size + 15) / 16
    #expect(reads == (0..<needed).map { UInt8(3 + 4 * $0) })
  }

  @Test func `a message after other TLVs is found`() throws {
    let bytes = try message(ofSize: 20)
    let others: [UInt8] = [0x00, 0x01, 3, 0xA0, 0x10, 0x44, 0x00, 0xFD, 2, 9, 9, 0x02, 3, 0xF0, 0x01, 0x0F]
    #expect(try read(Type2Memory(others + tlv(bytes))).content == .message(bytes))
  }

  @Test func `a proprietary TLV is skipped without reading it`() throws {
    let bytes = try message(ofSize: 10)
    let other: [UInt8] = [0xFD, 100] + [UInt8](repeating: 3, count: 100)
    let (content, reads) = try read(Type2Memory(other + tlv(bytes)))
    #expect(content == .message(bytes))
    #expect(reads == [3, 29])
  }

  @Test func `reserved memory is skipped`() throws {
    let bytes = try message(ofSize: 30)
    // Memory control: 8 bytes from byte 32 (page address 4, pages of 8 bytes, offset 0).
    let data: [UInt8] = [0x02, 3, 0x40, 8, 0x03] + tlv(bytes)
    let holed = data.prefix(16) + [UInt8](repeating: 0xEE, count: 8) + data.dropFirst(16)
    #expect(try read(Type2Memory(Array(holed))).content == .message(bytes))
  }

  @Test func `a tag without a message is reported with the reason`() throws {
    #expect(try problem([], container: [0, 0, 0, 0]) == "not NDEF: there is no capability container in page 3")
    #expect(try problem([0xFE])?.hasPrefix("empty") == true)
    #expect(try problem([])?.hasPrefix("empty") == true)
    #expect(try problem([0x03, 0x00, 0xFE]) == "empty: the tag holds no message")
    #expect(try problem([], size: 0) == "not NDEF: there is no NDEF TLV on the tag")
  }

  @Test func `an unsupported tag is reported with the reason`() throws {
    #expect(
      try problem([], container: [0xE1, 0x20, 0x12, 0x00])
        == "unsupported: it is formatted for mapping version 2 of Type 2")
    #expect(
      try problem([], container: [0xE1, 0x10, 0x12, 0xF0]) == "unsupported: the tag does not let everybody read it")
    #expect(
      try problem(tlv(try message(ofSize: 1500)), size: 0xFF)
        == "unsupported: the NDEF message goes beyond the first sector of the tag")
  }

  @Test(
    arguments: [
      [0x03, 0x91], [0x03, 0xFF, 0xFF, 0xFF], [0x03, 0xFF, 0x00, 0x90], [0x01, 0xFF, 0xFF, 0xFF],
      [0xFD, 0xFF, 0x40, 0x00],
    ] as [[UInt8]])
  func `a TLV that is longer than the memory is reported as damaged`(_ data: [UInt8]) throws {
    #expect(try problem(data) == "damaged: a TLV block is longer than the memory that the tag has for it")
    let (content, reads) = try read(Type2Memory(data))
    #expect(reads == [3])
    #expect(content.problem?.contents == data + [UInt8](repeating: 0, count: 12 - data.count))
  }

  /// Otherwise a program that gets the bytes without the reason would open the message.
  @Test func `damaged contents that decode as a message lack their last byte`() throws {
    // A message without a TLV block around it. F0 is the length of the second block.
    let bare: [UInt8] = [0xD1, 0x01, 0x08, 0x54, 0xF0, 1, 2, 3, 4, 5, 6, 7]
    let content = try read(Type2Memory(bare.prefix(4) + [0xF0] + bare.dropFirst(5))).content
    #expect(content.problem?.code == .damaged && content.problem?.contents == bare.dropLast())
    let message = try message(ofSize: TagProblem.mostContents)
    #expect(TagContent.written(message + [1]).problem?.contents == message.dropLast())
  }

  @Test func `a TLV that is cut off, of the wrong size or not decodable, and a short answer, are damaged`() throws {
    let nulls = [UInt8](repeating: 0, count: 15)
    #expect(
      try problem(nulls + [0x03], size: 2) == "damaged: a TLV block is longer than the memory that the tag has for it")
    #expect(try problem([0x01, 2, 0, 0]) == "damaged: a control TLV of 2 bytes")
    let reason = try #require(try problem(tlv([0xD1, 0x01, 0x20, 0x55, 0x00])))
    #expect(reason.hasPrefix("damaged: the NDEF message does not decode, at byte "))
    var channel = ScriptedChannel([([0x30, 3], [0xE1, 0x10, 0x06])])
    let content = try TagActivation.type2.readNDEF(over: &channel)
    #expect(content == .damaged("the tag answered READ with less than 16 bytes"))
  }

  /// Writers round the length up.
  @Test func `zeros behind a complete message are left out, and other bytes are damage`() throws {
    let message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61]
    #expect(TagContent.written(message + [0, 0, 0, 0]) == .message(message))
    #expect(TagContent.written(message) == .message(message))
    let others: [[UInt8]] = [
      message + [0, 1], Array(message.dropLast()), [0x91] + Array(message.dropFirst()), [0, 0, 0], [0xFF],
    ]
    for wrong in others {
      guard case .problem(let problem) = TagContent.written(wrong) else {
        Issue.record("\(wrong) is a message")
        continue
      }
      #expect(problem.code == .damaged && problem.contents == wrong)
    }
  }

  @Test(arguments: [false, true])
  func `reading a hostile tag ends after a bounded number of exchanges`(plausible: Bool) throws {
    for seed in 0..<300 as Range<UInt64> {
      var channel = HostileChannel(seed: seed, plausible: plausible)
      _ = try TagActivation.type2.readNDEF(over: &channel)
      #expect(channel.count <= 64, "seed \(seed)")
    }
  }
}

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

  /// The acknowledgement of each page is lost, or the tag refuses each page.
  @Test(arguments: [true, false]) func `a page without an acknowledgement is read to judge the write`(
    isWritten: Bool
  ) throws {
    var channel = LossyChannel(tag: tag([]), isWritten: isWritten)
    if isWritten {
      try TagActivation.type2.writeNDEF(Self.message, isVerifying: true, over: &channel)
      #expect(Array(channel.tag.memory[16..<18]) == [0x03, 63])
    } else {
      #expect(throws: TagWriteError.self) { try TagActivation.type2.writeNDEF(Self.message, over: &channel) }
      #expect(channel.tag.writes.isEmpty)
    }
  }

  @Test(arguments: [[0xFD, 0xFE], [0x55, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
  func `a tag with damaged TLVs is not overwritten`(data: [UInt8]) throws {
    var tag = WritableTag(size: 0x06, message: [], version: nil)
    tag.memory.replaceSubrange(16..<16 + data.count, with: data)
    #expect(throws: TagWriteError.self) { try TagActivation.type2.writeNDEF(Self.message, over: &tag) }
    #expect(tag.writes.isEmpty)
  }
}

/// No write is acknowledged.
private struct LossyChannel: TagChannel {
  var tag: WritableTag
  let isWritten: Bool

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard command.first == 0xA2 else { return try tag.exchange(command) }
    if isWritten { _ = try tag.exchange(command) }
    throw TagChannelError(.noAnswer, "the tag does not answer (status 63 00)")
  }
}

@Suite struct Type2ProtectionTests {
  @Test(
    arguments: [
      ([0, 4, 3, 1, 1, 0, 0x0B, 3], 0x10), ([0, 4, 4, 1, 1, 0, 0x0B, 3], 0x10), ([0, 4, 4, 1, 2, 0, 0x0B, 3], nil),
      ([0, 4, 3, 1, 2, 0, 0x0B, 3], nil), ([0, 4, 3, 2, 2, 0, 0x0B, 3], nil), ([0, 4, 3, 2, 1, 0, 0x0B, 3], 0x10),
      ([0, 4, 4, 2, 2, 0, 0x0B, 3], nil), ([0, 4, 4, 1, 1, 0, 0x12, 3], 0xE3),
      ([0, 4, 4, 1, 1, 0, 0x0E, 3], 0x25), ([0, 4, 4, 2, 1, 0, 0x0F, 3], 0x29),
      ([0, 4, 4, 2, 1, 0, 0x11, 3], 0x83), ([0, 4, 4, 2, 1, 0, 0x13, 3], 0xE3), ([0, 4, 4, 5, 2, 1, 0x15, 3], nil),
      ([0, 4, 4, 5, 2, 2, 0x15, 3], 0xE3), ([0, 4, 9, 2, 1, 0, 0x11, 3], nil), ([0, 4], nil),
      // Ultralight AES, NTAG 223 DNA, NTAG 224 DNA with StatusDetect, NTAG213F, NTAG213 TagTamper.
      ([0, 4, 3, 1, 4, 0, 0x0F, 3], 0x29), ([0, 4, 4, 2, 4, 0, 0x0F, 3], 0x29), ([0, 4, 4, 8, 5, 0, 0x10, 3], 0x39),
      ([0, 4, 4, 4, 1, 0, 0x0F, 3], 0x29), ([0, 4, 4, 2, 3, 0, 0x0F, 3], 0x29),
      // Other subtypes and versions, and a copy of an NTAG213 by another manufacturer.
      ([0, 4, 4, 6, 0, 0, 0x13, 3], nil), ([0, 4, 3, 1, 3, 0, 0x0B, 3], nil), ([0, 0x53, 4, 2, 1, 0, 0x0F, 3], nil),
    ] as [([UInt8], Int?)])
  func `the version gives the address of the protection byte`(version: [UInt8], page: Int?) {
    let place = Type2Model.ofVersion(version)?.protection
    #expect(place?.page == page)
    #expect(place?.address == page.map { $0 * 4 + 3 })
  }

  @Test(arguments: [(0x00, nil), (0x03, 3), (0x10, 16), (0x2F, 47), (0x30, nil), (0xFF, nil)] as [(UInt8, Int?)])
  func `an Ultralight C has its first protected page in page 2A`(value: UInt8, page: Int?) throws {
    let place = try #require(Type2Model.ending(at: 0x2C)?.protection)
    var memory = TagMemory(size: 200)
    memory.learn([value], at: 0x2A * 4)
    #expect(place.firstProtectedPage(memory) == page ?? .max)
    #expect(Type2Model.ending(at: 0x2A)?.protection == nil)
  }
}

/// A tag with two sectors. It does not always receive the second packet of SECTOR SELECT.
private struct SectorTag: TagChannel {
  var memory: [UInt8]
  var deafness: Int
  private var sector = 0
  private var awaitsSector = false
  private(set) var writes: [Int] = []

  init(_ data: [UInt8], deafness: Int) {
    self.deafness = deafness
    memory = [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0, 0, 0, 0xE1, 0x10, 0xEA, 0] + data
    memory += [UInt8](repeating: 0, count: 2048 - memory.count)
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if awaitsSector {
      awaitsSector = false
      deafness -= 1
      if deafness < 0 { sector = Int(command[0]) }
      throw TagChannelError(.noAnswer, "consent, or not heard")
    }
    let page = sector * 256 + Int(command.count > 1 ? command[1] : 0)
    switch command[0] {
    case 0x30: return (0..<16).map { memory[(page * 4 + $0) % 2048] }
    case 0x3A: return Array(memory[page * 4..<(sector * 256 + Int(command[2]) + 1) * 4])
    case 0x60: return [0, 4, 4, 5, 2, 1, 0x15, 3]
    case 0xC2:
      awaitsSector = true
      return [0x0A]
    case 0xA2:
      writes.append(page)
      memory.replaceSubrange(page * 4..<page * 4 + 4, with: command[2...])
      return [0x0A]
    default: throw TagChannelError(.noAnswer, "refused")
    }
  }

  mutating func reselect() throws(TagChannelError) {
    sector = 0
    awaitsSector = false
  }
}

@Suite struct SectorSelectTests {
  private static let message: [UInt8] =
    [0xC5, 0, 0, 0, 4, 0xA8] + (0..<1192).map { UInt8(truncatingIfNeeded: $0) }

  @Test(arguments: 0...1) func `a missed sector change is noticed`(deafness: Int) throws {
    var tag = SectorTag(tlv(Self.message), deafness: deafness)
    #expect(try TagActivation.type2.readNDEF(over: &tag) == .message(Self.message))
    var other = Self.message
    for index in 6..<other.count { other[index] ^= 0x55 }
    tag.deafness = deafness
    let before = tag.memory
    try TagActivation.type2.writeNDEF(other, isVerifying: true, over: &tag)
    #expect(tag.writes.allSatisfy { $0 >= 4 })
    #expect(tag.memory[..<16] == before[..<16])
  }

  @Test func `a tag that never changes its sector is not accessed at the wrong address`() throws {
    var tag = SectorTag(tlv(Self.message), deafness: 100)
    #expect(throws: TagChannelError(.transmission, "the tag does not change its sector")) {
      try TagActivation.type2.readNDEF(over: &tag)
    }
    #expect(throws: TagWriteError.self) { try TagActivation.type2.writeNDEF(Self.message, over: &tag) }
    #expect(tag.writes.allSatisfy { $0 >= 4 })
  }
}

/// A Type 4 card that returns text in the place of what its file holds.
private struct MirroringCard: TagChannel {
  /// The text, from the number of times that the file was selected.
  let text: @Sendable (Int) -> String
  private(set) var file = [UInt8](repeating: 0, count: 256)
  private var selections = 0
  private var isContainer = true

  init(_ text: @escaping @Sendable (Int) -> String) { self.text = text }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let offset = Int(command[2]) << 8 | Int(command[3])
    switch command[1] {
    case 0xA4:
      isContainer = command.suffix(2) == [0xE1, 0x03]
      if command.suffix(2) == [0xE1, 0x04] { selections += 1 }
      return [0x90, 0x00]
    case 0xB0:
      var contents: [UInt8] = [0, 15, 0x20, 0, 246, 0, 0x34, 4, 6, 0xE1, 0x04, 1, 0, 0, 0]
      if !isContainer {
        contents = file
        let text = Array(text(selections).utf8)
        contents.replaceSubrange(20..<20 + text.count, with: text)
      }
      return contents[offset..<min(offset + Int(command[4]), contents.count)] + [0x90, 0x00]
    default:
      file.replaceSubrange(offset..<offset + command.count - 5, with: command[5...])
      return [0x90, 0x00]
    }
  }
}

@Suite struct MirroredTextTests {
  private static let uid: [UInt8] = [4, 1, 2, 3, 0xAB, 5, 6]
  private static let message: [UInt8] = [0xD1, 0x01, 60, 0x54] + [UInt8](repeating: 0x30, count: 60)

  private func error(_ text: @escaping @Sendable (Int) -> String) -> TagWriteError? {
    var card = MirroringCard(text)
    let tag = TagActivation.typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: Self.uid))
    do throws(TagWriteError) {
      try tag.writeNDEF(Self.message, isVerifying: true, over: &card)
    } catch {
      return error
    }
    #expect(Array(card.file[2..<66]) == Self.message)
    return nil
  }

  @Test func `a UID, or text that changes with each reading, is not compared`() {
    #expect(error { _ in "040102" + "03AB0506" } == nil)
    #expect(error { _ in "04010203AB0506x0000A7" } == nil)
    #expect(error { "C0FFEE00000\($0)" } == nil)
  }

  @Test func `other text that the tag may have put there is named`() {
    #expect(error { _ in "C0FFEE" } == .mirroring)
    #expect(error { _ in "04010203AB0506xC0FFEEx1" } == .mirroring)
    let reason =
      "the tag returns other characters than were written to it, as tags do that put their UID, a counter or a "
    #expect(error { _ in "C0FFEE" }?.description == reason + "code into the message")
  }

  @Test func `a tag that returns other bytes may be worn out`() {
    #expect(error { _ in "c0ffee" } == .notAsWritten)
    #expect(error { "04010203AB0506 \($0)" } == .notAsWritten)
  }
}
