import NDEF
import Testing

@testable import Tags

@Suite struct Type5WritingTests {
  /// 256 bytes for data, with READ MULTIPLE BLOCKS.
  private let short: [UInt8] = [0xE1, 0x40, 0x20, 0x01]
  /// The same in eight bytes.
  private let long: [UInt8] = [0xE2, 0x40, 0x00, 0x01, 0x00, 0x00, 0x00, 0x20]

  /// The length is zero while bytes of the message change, even in the same block. A separate write sets it.
  @Test func `the length is written separately from the message`() throws {
    var tag = Type5Memory(message: [0xD0, 0, 0], short)
    try TagActivation.type5.writeNDEF([0xD5, 0, 0], over: &tag)
    #expect(
      tag.writes == [
        [0x02, 0x21, 1, 0x03, 0, 0xD0, 0], [0x02, 0x21, 1, 0x03, 0, 0xD5, 0], [0x02, 0x21, 1, 0x03, 3, 0xD5, 0],
      ])
  }

  @Test(arguments: [false, true], [4, 8, 32])
  func `a message is written to a tag of any block size`(isLong: Bool, blockSize: Int) throws {
    let container = isLong ? long : short
    var tag = Type5Memory(message: try message(ofSize: 100), container, blockSize: blockSize, size: 288)
    for size in [10, 200, 37, 252] {
      let message = try message(ofSize: size)
      try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      #expect(tag.bytes.starts(with: container))
      // No byte behind the data area changes.
      #expect(tag.bytes[(container.count + 256)...].allSatisfy { $0 == 0 })
    }
    try TagActivation.type5.writeNDEF([], over: &tag)
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .problem(TagProblem(.empty, "the tag holds no message")))
  }

  @Test func `blocks from 256 on are written with the extended command`() throws {
    let largest: [UInt8] = [0xE2, 0x40, 0x00, 0x01, 0x00, 0x00, 0x04, 0x20]
    var tag = Type5Memory(message: try message(ofSize: 20), largest)
    let message = try message(ofSize: 8_444)
    try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
    #expect(Set(tag.writes.map { $0[1] }) == [0x21, 0x31])
    #expect(tag.writes.filter { $0[1] == 0x31 }.allSatisfy { $0.count == 8 && $0[3] >= 1 })
    let error = TagWriteError.tooLong(capacity: 8_444)
    #expect(throws: error) { try TagActivation.type5.writeNDEF(message + [0], over: &tag) }
  }

  /// An interrupted write leaves the old message or none, and the next write repairs the tag.
  @Test(arguments: [false, true], [4, 8, 32])
  func `an interrupted write leaves no half message`(isLong: Bool, blockSize: Int) throws {
    let (old, new) = (try message(ofSize: 60), try message(ofSize: 90).map { $0 == 0x41 ? 0x42 : $0 })
    let tag = Type5Memory(message: old, isLong ? long : short, blockSize: blockSize)
    var whole = tag
    try TagActivation.type5.writeNDEF(new, over: &whole)
    var outcomes: [TagContent] = []
    for left in 0..<whole.commands.count {
      var channel = TornChannel(tag: tag, left: left)
      #expect(throws: TagWriteError.self) { try TagActivation.type5.writeNDEF(new, over: &channel) }
      outcomes.append(try TagActivation.type5.readNDEF(over: &channel.tag))
      try TagActivation.type5.writeNDEF(new, isVerifying: true, over: &channel.tag)
    }
    #expect(outcomes.allSatisfy { $0 == .message(old) || $0 == .empty })
    #expect(outcomes.first == .message(old) && outcomes.last == .empty)
  }

  @Test(arguments: [4, 8, 32]) func `writing keeps the other bytes of a shared block`(blockSize: Int) throws {
    let others: [UInt8] = [0xFD, 3, 7, 8, 9]
    var tag = Type5Memory(others + [0x03, 0, 0xFE], short, blockSize: blockSize)
    let message = try message(ofSize: 50)
    try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
    let expected: [UInt8] = short + others + [0x03, 50] + message
    #expect(Array(tag.bytes[..<61]) == expected)
  }

  @Test func `writing to an empty data area adds an NDEF TLV`() throws {
    let message = try message(ofSize: 20)
    for data in [[], [0xFE], [0, 0, 0xFE], [0xFD, 1, 5]] as [[UInt8]] {
      var tag = Type5Memory(data, short)
      #expect(try TagActivation.type5.queryNDEF(over: &tag).access == .readWrite)
      try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
    }
  }

  @Test func `the status has the capacity and the access`() throws {
    var tag = Type5Memory(message: [], short)
    #expect(try TagActivation.type5.queryNDEF(over: &tag) == NDEFStatus(capacity: 254, isWritable: true))
    #expect(tag.writes.isEmpty)
    for access in [0x41, 0x42, 0x43] as [UInt8] {
      tag.bytes[1] = access
      #expect(try TagActivation.type5.queryNDEF(over: &tag) == NDEFStatus(capacity: 254, isWritable: false))
      #expect(throws: TagWriteError.readOnly) { try TagActivation.type5.writeNDEF([], over: &tag) }
    }
    #expect(tag.writes.isEmpty)
  }

  /// ST's own library counts the container in the size of the data area.
  @Test func `an area that is larger than the tag ends with its last block`() throws {
    var tag = Type5Memory(message: try message(ofSize: 20), [0xE1, 0x40, 0x40, 0x01], size: 512)
    #expect(try TagActivation.type5.queryNDEF(over: &tag).capacity == 504)
    try TagActivation.type5.writeNDEF(try message(ofSize: 504), isVerifying: true, over: &tag)
    tag = Type5Memory(message: try message(ofSize: 20), [0xE2, 0x40, 0x00, 0x00, 0, 0, 0xFF, 0xFF], size: 64)
    for isSilent in [false, true] {
      tag.isSilentBehindItsEnd = isSilent
      #expect(try TagActivation.type5.queryNDEF(over: &tag).capacity == 54)
      #expect(tag.commands.count < 60)
      let before = tag.bytes
      let long = try message(ofSize: 55)
      #expect(throws: TagWriteError.tooLong(capacity: 54)) { try TagActivation.type5.writeNDEF(long, over: &tag) }
      #expect(tag.bytes == before)
      tag.forget()
    }
  }

  // MARK: Locked blocks, and tags that refuse

  @Test func `a locked block limits the message`() throws {
    let old = try message(ofSize: 20)
    var tag = Type5Memory(message: old, short)
    // Bytes 40 to 43.
    tag.locked = [10]
    #expect(try TagActivation.type5.queryNDEF(over: &tag) == NDEFStatus(capacity: 34, isWritable: true))
    let message = try message(ofSize: 34)
    try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
    for size in [35, 253, 300] {
      let long = [UInt8](repeating: 0, count: size)
      #expect(throws: TagWriteError.tooLong(capacity: 34)) { try TagActivation.type5.writeNDEF(long, over: &tag) }
    }
    tag.locked = [1]
    #expect(try TagActivation.type5.queryNDEF(over: &tag).access == .readOnly)
    #expect(throws: TagWriteError.readOnly) { try TagActivation.type5.writeNDEF(old, over: &tag) }
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
  }

  @Test(arguments: [false, true]) func `a tag that does not report its locks is written`(isSilent: Bool) throws {
    let message = try message(ofSize: 30)
    var tag = Type5Memory(message: [], short)
    if isSilent { tag.unanswered = [0x2C] } else { tag.unknown = [0x2C] }
    #expect(try TagActivation.type5.queryNDEF(over: &tag) == NDEFStatus(capacity: 254, isWritable: true))
    try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
    tag.locked = [1]
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type5.writeNDEF([], over: &tag) }
    #expect(error?.description == "unsupported: the tag refuses to write block 1, with error 12")
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
  }

  @Test func `a tag with the special frame format is written with the option flag`() throws {
    let message = try message(ofSize: 30)
    var tag = Type5Memory(message: [], [0xE1, 0x40, 0x20, 0x11])
    tag.isSpecial = true
    try TagActivation.type5.writeNDEF(message, isVerifying: true, over: &tag)
    #expect(tag.writes.allSatisfy { $0[0] == 0x42 })
    try TagActivation.type5.lockNDEF(over: &tag)
    // A tag that needs it, but does not say so, refuses the first write.
    tag = Type5Memory(message: message, short)
    tag.isSpecial = true
    #expect(throws: TagWriteError.self) { try TagActivation.type5.writeNDEF([], over: &tag) }
    #expect(tag.writes.count == 1)
  }

  @Test func `a tag is unchanged if the reader cannot send all of the writes`() throws {
    let message = try message(ofSize: 2_000)
    for code in [0x21, 0x31] as [UInt8] {
      var tag = Type5Memory(message: message, [0xE2, 0x40, 0x00, 0x01, 0x00, 0x00, 0x04, 0x20])
      tag.unsendable = [code, 0x2C, 0x3C]
      let error = #expect(throws: TagWriteError.self) {
        try TagActivation.type5.writeNDEF(message.map { $0 ^ 1 }, over: &tag)
      }
      #expect(error == .refused(TagProblem(.unsupported, "this reader cannot write to this kind of tag")))
      #expect(tag.writes.isEmpty)
    }
  }
}

@Suite struct Type5LockTests {
  /// 64 bytes for data, in blocks 1 to 16. The tag supports LOCK BLOCK, and says so.
  private let container: [UInt8] = [0xE1, 0x40, 0x08, 0x09]
  /// The same, but the tag does not say so.
  private let modest: [UInt8] = [0xE1, 0x40, 0x08, 0x01]

  private func locks(_ blocks: some Sequence<Int>) -> [[UInt8]] { blocks.map { [0x02, 0x22, UInt8($0)] } }

  @Test func `the container becomes read-only before the blocks are locked`() throws {
    let message = try message(ofSize: 20)
    var tag = Type5Memory(message: message, container)
    try TagActivation.type5.lockNDEF(over: &tag)
    #expect(tag.writes == [[0x02, 0x21, 0, 0xE1, 0x43, 0x08, 0x09]] + locks(0...16))
    #expect(tag.locked == Set(0...16))
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
    #expect(try TagActivation.type5.queryNDEF(over: &tag).access == .readOnly)
    #expect(throws: TagWriteError.readOnly) { try TagActivation.type5.lockNDEF(over: &tag) }
    #expect(throws: TagWriteError.readOnly) { try TagActivation.type5.writeNDEF([], over: &tag) }
  }

  @Test(arguments: [8, 32]) func `a block that the data area shares is locked, too`(blockSize: Int) throws {
    let message = try message(ofSize: 20)
    var tag = Type5Memory(message: message, container, blockSize: blockSize, size: 96)
    try TagActivation.type5.lockNDEF(over: &tag)
    #expect(tag.locked == Set(0...67 / blockSize))
    #expect(tag.bytes[1] == 0x43)
    #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
  }

  @Test func `blocks from 256 on are locked with the extended command`() throws {
    var tag = Type5Memory(message: try message(ofSize: 20), [0xE2, 0x40, 0x00, 0x09, 0, 0, 0x01, 0x00])
    try TagActivation.type5.lockNDEF(over: &tag)
    #expect(tag.locked == Set(0..<514))
    #expect(tag.commands.contains([0x02, 0x32, 0x00, 0x01]))
  }

  /// Most programs that format a tag do not set the bit of LOCK BLOCK.
  @Test func `the last block shows whether the tag can be locked`() throws {
    var tag = Type5Memory(message: try message(ofSize: 20), modest)
    try TagActivation.type5.lockNDEF(over: &tag)
    #expect(tag.writes == locks([16]) + [[0x02, 0x21, 0, 0xE1, 0x43, 0x08, 0x01]] + locks(0...15))
    #expect(tag.locked == Set(0...16))
  }

  @Test(arguments: [false, true]) func `a tag without LOCK BLOCK is unchanged`(isSilent: Bool) throws {
    var tag = Type5Memory(message: try message(ofSize: 20), modest)
    if isSilent { tag.unanswered = [0x22] } else { tag.unknown = [0x22] }
    let before = tag.bytes
    #expect(throws: TagWriteError.cannotLock("the tag does not let its blocks be locked")) {
      try TagActivation.type5.lockNDEF(over: &tag)
    }
    #expect(tag.bytes == before && tag.locked.isEmpty)
  }

  @Test func `a tag that claims LOCK BLOCK and refuses it is reported`() throws {
    var tag = Type5Memory(message: try message(ofSize: 20), container)
    tag.unknown = [0x22]
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type5.lockNDEF(over: &tag) }
    #expect(error?.description.hasPrefix("the tag says that it is read-only now, but") == true)
  }

  @Test(arguments: [0x21, 0x22] as [UInt8]) func `a tag is unchanged if the reader cannot lock it`(code: UInt8) throws {
    for format in [container, modest] {
      var tag = Type5Memory(message: try message(ofSize: 20), format)
      tag.unsendable = [code]
      #expect(throws: TagWriteError.cannotLock("this reader cannot lock this kind of tag")) {
        try TagActivation.type5.lockNDEF(over: &tag)
      }
      #expect(tag.writes.isEmpty)
    }
  }

  @Test(arguments: [false, true]) func `an interrupted lock can be repeated`(isModest: Bool) throws {
    let message = try message(ofSize: 20)
    let tag = Type5Memory(message: message, isModest ? modest : container)
    var whole = tag
    try TagActivation.type5.lockNDEF(over: &whole)
    // The last command only checks the locks.
    for left in 0..<whole.commands.count - 1 {
      var channel = TornChannel(tag: tag, left: left)
      #expect(throws: TagWriteError.self) { try TagActivation.type5.lockNDEF(over: &channel) }
      #expect(try TagActivation.type5.readNDEF(over: &channel.tag) == .message(message))
      try TagActivation.type5.lockNDEF(over: &channel.tag)
      #expect(channel.tag.locked == whole.locked && channel.tag.bytes == whole.bytes)
    }
  }

  @Test(arguments: [false, true]) func `a tag that does not report its locks is locked`(isKnown: Bool) throws {
    var tag = Type5Memory(message: try message(ofSize: 20), container)
    if isKnown { tag.unsendable = [0x2C] } else { tag.unknown = [0x2C] }
    try TagActivation.type5.lockNDEF(over: &tag)
    #expect(tag.locked == Set(0...16))
    #expect(throws: TagWriteError.readOnly) { try TagActivation.type5.lockNDEF(over: &tag) }
  }

  @Test func `a lock that does not hold is reported`() throws {
    struct Forgetful: TagChannel {
      var tag: Type5Memory
      mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
        // Confirms the lock without storing it.
        command[1] == 0x22 && command[2] == 7 ? [0x00] : try tag.exchange(command)
      }
    }
    var tag = Forgetful(tag: Type5Memory(message: try message(ofSize: 20), container))
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type5.lockNDEF(over: &tag) }
    #expect(error?.description.hasSuffix("it can still be written") == true)
  }

  @Test func `a damaged message is not locked, and a tag without an NDEF TLV neither`() throws {
    var tag = Type5Memory(message: [0xD5, 0, 60, 1], container)
    #expect(throws: TagWriteError.self) { try TagActivation.type5.lockNDEF(over: &tag) }
    #expect(tag.writes.isEmpty)
    tag = Type5Memory([], container)
    #expect(throws: TagWriteError.cannotLock("there is no NDEF message on the tag: write one first")) {
      try TagActivation.type5.lockNDEF(over: &tag)
    }
    #expect(tag.writes.isEmpty)
    tag = Type5Memory(message: [], container)
    try TagActivation.type5.lockNDEF(over: &tag)
    #expect(tag.locked.count == 17)
  }
}
