import Testing

@testable import Tags

/// A writable Type 2 tag that does not always receive GET_VERSION.
struct WritableTag: TagChannel {
  /// The answer of an NTAG215 to GET_VERSION.
  static let ntag215: [UInt8] = [0, 4, 4, 2, 1, 0, 0x11, 3]
  var memory: [UInt8]
  /// The number of GET_VERSION commands that the tag does not receive.
  var deafness: Int
  let version: [UInt8]?
  /// Pages that cannot be read.
  var secretPages: ClosedRange<Int>?
  private(set) var writes: [[UInt8]] = []

  init(size: UInt8, message: [UInt8], version: [UInt8]?, deafness: Int = 0, pages: Int = 0xE7) {
    self.version = version
    self.deafness = deafness
    memory =
      [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0, 0, 0, 0xE1, 0x10, size, 0, 0x03, UInt8(message.count)] + message + [0xFE]
    memory += [UInt8](repeating: 0, count: pages * 4 - memory.count)
    // AUTH0 with a value that protects no page: of an Ultralight C, an NTAG213 and an NTAG215.
    switch pages {
    case 0x2C: memory[0x2A * 4] = 0x30
    case 0x2D: memory[0x29 * 4 + 3] = 0xFF
    case 0x84...: memory[0x83 * 4 + 3] = 0xFF
    default: break
    }
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    switch command.first {
    case 0x30 where Int(command[1]) * 4 < memory.count && secretPages?.contains(Int(command[1])) != true:
      return (0..<16).map { memory[(Int(command[1]) * 4 + $0) % memory.count] }
    case 0x60:
      deafness -= 1
      if deafness < 0, let version { return version }
      throw TagChannelError(.noAnswer, "not heard")
    case 0xA2:
      writes.append(command)
      memory.replaceSubrange(Int(command[1]) * 4..<Int(command[1]) * 4 + 4, with: command[2...])
      return [0x0A]
    default: throw TagChannelError(.noAnswer, "refused")
    }
  }
}

@Suite struct Type2LockTests {
  private let message: [UInt8] = [0xD5, 0, 60] + [UInt8](repeating: 0xFF, count: 60)

  @Test func `GET_VERSION is repeated if the tag does not answer`() throws {
    var tag = WritableTag(size: 0x3E, message: message, version: WritableTag.ntag215, deafness: 1)
    try TagActivation.type2.lockNDEF(over: &tag)
    #expect(tag.writes.map { $0[1] } == [3, 0x82, 2])
  }

  @Test(arguments: [0x12, 0x3E, 0x6D] as [UInt8])
  func `a tag of an unknown model is locked only as far as its container says`(size: UInt8) throws {
    var tag = WritableTag(size: size, message: [], version: nil, pages: 0x100)
    tag.memory.replaceSubrange(16..<21, with: [0x01, 3, 0xA0, 0x10, 0x44])
    tag.memory.replaceSubrange(21..<21 + 3, with: [0x03, 0, 0xFE])
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &tag) }
    #expect(
      error?.description
        == "the tag says that it is read-only now, but its model is not known: programs that ignore what "
        + "it says can still write to its pages from 16 on")
    #expect(tag.writes == [[0xA2, 3, 0xE1, 0x10, size, 0x0F], [0xA2, 2, 4, 0, 0xF8, 0xFF]])
  }

  /// On this tag the bytes after the data area are user bytes, not lock bytes.
  @Test func `user bytes after the data area are not taken for lock bits`() throws {
    var tag = WritableTag(size: 0x3E, message: message, version: nil)
    tag.memory.replaceSubrange(0x80 * 4..<0x82 * 4, with: [UInt8](repeating: 0xFF, count: 8))
    let status = try TagActivation.type2.queryNDEF(over: &tag)
    #expect(status.access == .readWrite)
    #expect(status.capacity == 492)
    try TagActivation.type2.writeNDEF(message, over: &tag)
  }

  @Test func `locking an Ultralight C spares its counter and its key`() throws {
    var tag = WritableTag(size: 0x12, message: message, version: nil, pages: 0x2C)
    try TagActivation.type2.lockNDEF(over: &tag)
    #expect(tag.writes.filter { $0[1] == 0x28 } == [[0xA2, 0x28, 0xEE, 0, 0, 0]])
  }

  @Test func `a damaged message is not locked, but an empty one is`() throws {
    var tag = WritableTag(size: 0x06, message: [0xD5, 0, 60, 1], version: nil, pages: 0x10)
    #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &tag) }
    #expect(tag.writes.isEmpty)
    tag = WritableTag(size: 0x06, message: [], version: nil, pages: 0x10)
    try TagActivation.type2.lockNDEF(over: &tag)
    #expect(tag.writes.count == 2)
  }

  /// A tag by another manufacturer with a container that claims 48 bytes, and with this number of pages.
  private func copy(pages: Int, _ version: [UInt8]? = nil) -> WritableTag {
    var tag = WritableTag(size: 0x06, message: [], version: version, pages: pages)
    tag.memory.replaceSubrange(0..<4, with: [0x53, 1, 2, 0x88 ^ 0x53 ^ 1 ^ 2])
    return tag
  }

  @Test func `the static lock bits lock a tag of unknown model only if its memory ends with page 15`() throws {
    let activation = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [0x53, 1, 2, 3, 4, 5, 6]))
    var tag = copy(pages: 16)
    try activation.lockNDEF(over: &tag)
    // Page 16 of the last one looks like the first page.
    var deceiver = copy(pages: 40)
    deceiver.memory.replaceSubrange(64..<76, with: deceiver.memory[..<12])
    // The answer to GET_VERSION allows 32 to 64 bytes.
    for other in [copy(pages: 40), copy(pages: 16, [0, 0x53, 3, 1, 1, 0, 0x0B, 3]), deceiver] {
      tag = other
      let error = #expect(throws: TagWriteError.self) { try activation.lockNDEF(over: &tag) }
      #expect(
        error?.description.hasSuffix("programs that ignore what it says can still write to its pages from 16 on")
          == true)
      #expect(tag.writes.map { $0[1] } == [3, 2])
    }
  }

  @Test func `the lock bits of an NTAG 224 DNA are not guessed`() throws {
    var tag = WritableTag(size: 0x1A, message: message, version: [0, 4, 4, 2, 5, 0, 0x10, 3], pages: 76)
    tag.memory[0x39 * 4 + 3] = 0xFF
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type2.lockNDEF(over: &tag) }
    #expect(error?.description.contains("its lock bits are not known") == true)
    #expect(tag.writes.map { $0[1] } == [3, 2])
  }

  @Test func `the container of a tag of another version does not extend its memory`() throws {
    var tag = WritableTag(size: 0x1A, message: message, version: [0, 4, 4, 6, 0, 0, 0x13, 3], pages: 60)
    #expect(try TagActivation.type2.queryNDEF(over: &tag) == NDEFStatus(capacity: 142, isWritable: true))
  }

  @Test func `a tag with protected pages is reported as unsupported`() throws {
    var tag = WritableTag(size: 0x12, message: message, version: nil)
    tag.secretPages = 7...40
    let problem = TagProblem(.unsupported, "the tag does not let everybody read it", isConcludedFromSilence: true)
    #expect(try TagActivation.type2.readNDEF(over: &tag) == .problem(problem))
  }

  @Test func `verification compares bytes even if the message does not decode`() throws {
    struct Stubborn: TagChannel {
      var tag: WritableTag
      mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
        // Confirms the write without storing the bytes.
        command[0] == 0xA2 && command[1] == 5 ? [0x0A] : try tag.exchange(command)
      }
    }
    var tag = Stubborn(tag: WritableTag(size: 0x06, message: [0xD5, 0, 60, 1, 2], version: nil))
    #expect(throws: TagWriteError.notAsWritten) {
      try TagActivation.type2.writeNDEF([0xD5, 0, 60, 1, 3], isVerifying: true, over: &tag)
    }
  }
}
