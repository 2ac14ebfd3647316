import Testing

@testable import Tags

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
