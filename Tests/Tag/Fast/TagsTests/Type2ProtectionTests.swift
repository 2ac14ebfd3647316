import Testing

@testable import Tags

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
