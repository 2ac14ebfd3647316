import Names

/// NFC Forum Type 5 Tag Technical Specification 1.0, over ISO/IEC 15693: ICODE, ST25, Tag-it.
///
/// Block 0 begins with the capability container. A sequence of TLV blocks follows. READ SINGLE BLOCK of block 0 shows
/// the size of all blocks. READ MULTIPLE BLOCKS returns the rest, if the container lists that command.
struct Type5Tag: NDEFTag {
  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    var access = try Type5Access(&channel)
    let block = try access.block(&channel)
    try access.require(block.messageAddresses, &channel)
    return access.memory.known(at: block.messageAddresses)
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    let survey = try Type5Survey(&channel)
    let room = try survey.access.container.isWritable ? survey.room(&channel) : 0
    let isWritable = room >= 2
    return NDEFStatus(
      capacity: NDEFBlock.capacity(bytes: isWritable ? room : survey.block.addresses.count), isWritable: isWritable)
  }
}

/// What a write or a lock needs to know about the tag.
struct Type5Survey {
  var access: Type5Access
  let block: NDEFBlock

  init(_ channel: inout some TagChannel) throws(TagWriteError) {
    var access = try Type5Access(&channel)
    try access.trim(&channel)
    block = try access.block(&channel)
    self.access = access
  }

  /// True without an NDEF TLV. The block is then the place for one.
  var isNew: Bool { block.addresses.first.map { access.memory[$0] != 0x03 } ?? false }

  /// In data bytes of the NDEF TLV, in front of the first locked block. Below two, the length cannot be changed. Checks
  /// the blocks up to the one with the address `last`, by default all.
  func room(upTo last: Int? = nil, _ channel: inout some TagChannel) throws(TagWriteError) -> Int {
    // The type byte of an existing TLV is not rewritten.
    let kept = isNew ? 0 : 1
    let addresses = block.addresses.dropFirst(kept)
    guard let first = addresses.first, let end = last ?? addresses.last, first <= end else { return kept }
    let blocks = first / access.blockSize..<end / access.blockSize + 1
    guard let locked = try access.lockedBlocks(in: blocks, &channel) else { return block.addresses.count }
    return kept + addresses.prefix { !locked.contains($0 / access.blockSize) }.count
  }
}

/// Formatting a tag that has only zeros. Other contents may belong to another application, such as a library.
extension Type5Tag {
  private static let emptyMessage: [UInt8] = [0x03, 0x00, 0xFE, 0x00]
  /// The blocks with a number of one byte. The part of a tag behind them stays unused.
  private static let mostBlocks = 0x100
  private static let readMultiple: UInt8 = 0x01

  func isBlank(over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    guard let first = try Self.block(0, &channel) else { return false }
    return Self.isBlank(first)
  }

  private static func isBlank(_ first: [UInt8]) -> Bool {
    (Type5Access.leastBlock...32).contains(first.count) && first.allSatisfy { $0 == 0 }
  }

  /// Writes an empty NDEF TLV first, and the container last, in one block if both fit. A tag that is removed in between
  /// is still blank.
  func format(over channel: inout some TagChannel) throws(TagWriteError) {
    guard let first = try Self.block(0, &channel), Self.isBlank(first) else { throw Type5Container.absence }
    let blockSize = first.count
    let count = try Self.blockCount(blockSize, &channel)
    // The size of the data area behind the container, in units of eight bytes.
    let size = min(0xFF, (count * blockSize - Type5Access.leastBlock) / 8)
    guard size > 0 else { throw .refused(.unsupported, "the tag has only \(count) blocks") }
    for number in 1..<count {
      let bytes = try Self.block(number, &channel) ?? []
      // An earlier attempt may have written the message.
      let isOurs = number * blockSize == Type5Access.leastBlock && bytes == Self.emptyMessage
      guard isOurs || bytes.allSatisfy({ $0 == 0 }) else { throw .holdsData }
    }
    let several = Type5Command.read(0..<2)
    let answer = try channel.canSend(several) ? channel.askOrNil(several) : nil
    let hasReadMultiple = answer.flatMap(Type5Command.data)?.count == 2 * blockSize
    let container = [0xE1, 0x40, UInt8(size), hasReadMultiple ? Self.readMultiple : 0]
    let contents = container + Self.emptyMessage
    let writes = stride(from: 0, to: contents.count, by: blockSize).map { start in
      let bytes = Array(contents[start..<min(start + blockSize, contents.count)])
      return Type5Command.write(
        bytes + [UInt8](repeating: 0, count: blockSize - bytes.count), to: start / blockSize, isSpecial: false)
    }
    guard writes.allSatisfy({ channel.canSend($0) }) else {
      throw .refused(.unsupported, "this reader cannot write to this kind of tag")
    }
    for command in writes.reversed() {
      guard Type5Command.data(of: try channel.ask(command)) != nil else {
        throw .refused(.unsupported, "the tag does not let its first blocks be written")
      }
    }
  }

  /// Those that can be read, at most 256. The first block is known to be readable.
  private static func blockCount(_ size: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> Int {
    var (present, absent) = (0, mostBlocks)
    while absent - present > 1 {
      let middle = (present + absent) / 2
      if try block(middle, &channel)?.count == size { present = middle } else { absent = middle }
    }
    return present + 1
  }

  private static func block(_ number: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8]? {
    let command = Type5Command.read(number)
    guard channel.canSend(command) else { return nil }
    return try channel.askTwice(command).flatMap(Type5Command.data)
  }
}

extension Type5Tag {
  /// The length is written as zero first, and with its true value last. An interrupted write leaves the tag empty.
  ///
  /// A few older tags (TI's Tag-it HF-I) accept a write only with the option flag. It is sent if the capability
  /// container says so. Otherwise such a tag refuses the first write, and keeps its message.
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    var survey = try Type5Survey(&channel)
    guard survey.access.container.isWritable else { throw .readOnly }
    let bytes = survey.block.bytes(holding: message)
    let mayFit = message.count <= NDEFBlock.capacity(bytes: survey.block.addresses.count)
    let room = try survey.room(upTo: mayFit ? bytes.last?.address : nil, &channel)
    guard room >= 2 else { throw .readOnly }
    let capacity = NDEFBlock.capacity(bytes: room)
    guard message.count <= capacity else { throw .tooLong(capacity: capacity) }
    let plan = NDEFWritePlan(
      bytes.prefix(room - 1), over: survey.block, isNew: survey.isNew, pageSize: survey.access.blockSize)
    try survey.access.require(plan.kept, &channel)
    let writes = plan.writes(survey.access.memory)
    let access = survey.access
    guard writes.allSatisfy({ channel.canSend(access.write($0.bytes, to: $0.page)) }) else {
      throw .refused(.unsupported, "this reader cannot write to this kind of tag")
    }
    for (block, contents) in writes { try Self.put(contents, in: block, access, &channel) }
  }

  private static func put(
    _ contents: [UInt8], in block: Int, _ access: Type5Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    let answer = try channel.ask(access.write(contents, to: block))
    guard Type5Command.data(of: answer) != nil else {
      throw .refused(.unsupported, "the tag refuses to write block \(block), with error \(code(of: answer))")
    }
  }

  private static func code(of answer: [UInt8]) -> String {
    // 0F: an error without information (ISO/IEC 15693-3, 7.4.2).
    Hexadecimal.text(Type5Command.error(of: answer) ?? 0x0F)
  }

  /// Sets the capability container to read-only first, and then locks every block of container and data area.
  ///
  /// If the container does not list LOCK BLOCK, the last block is locked first. A tag without that command refuses
  /// this, and is unchanged.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    let survey = try Type5Survey(&channel)
    let access = survey.access
    guard !survey.isNew else { throw .cannotLock("there is no NDEF message on the tag: write one first") }
    let before = try access.lockedBlocks(in: access.blocks, &channel)
    var open = access.blocks.filter { !(before?.contains($0) ?? false) }
    guard !open.isEmpty else { throw .readOnly }
    var first = access.memory.known(at: 0..<access.blockSize)
    first[1] |= 0x03
    let writesContainer = !access.container.isReadOnly && open.first == 0
    guard open.allSatisfy({ channel.canSend(access.lock($0)) }),
      !writesContainer || channel.canSend(access.write(first, to: 0))
    else { throw .cannotLock("this reader cannot lock this kind of tag") }

    var hasChanged = false
    // Block 0 is never locked before the container is changed.
    if !access.container.hasLock, let last = open.last, last > 0 {
      open.removeLast()
      switch try Self.lock(last, access, &channel) {
      case .refused: throw .cannotLock("the tag does not let its blocks be locked")
      case .wasLocked: break
      case .locked: hasChanged = true
      }
    }
    if writesContainer {
      try Self.put(first, in: 0, access, &channel)
      hasChanged = true
    }
    for block in open {
      switch try Self.lock(block, access, &channel) {
      case .refused: throw Self.halfLocked
      case .wasLocked: break
      case .locked: hasChanged = true
      }
    }
    guard hasChanged else { throw .readOnly }
    // A confirmed lock is trusted if the tag cannot be asked.
    let after = try access.lockedBlocks(in: access.blocks, &channel)
    guard after.map({ $0.count == access.blocks.count }) ?? true else { throw Self.halfLocked }
  }

  private static let halfLocked = TagWriteError.cannotLock(
    "the tag says that it is read-only now, but does not let all of its blocks be locked: it can still be written")

  private enum LockResult {
    case locked
    case wasLocked
    case refused
  }

  private static func lock(
    _ block: Int, _ access: Type5Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> LockResult {
    // A tag that has received the first command answers the second that the block is locked already.
    guard let answer = try channel.askTwice(access.lock(block)) else { return .refused }
    if Type5Command.data(of: answer) != nil { return .locked }
    // 11: the block is locked already. 12: it is locked, and its content cannot be changed (ISO/IEC 15693-3, 7.4.2).
    return [0x11, 0x12].contains(Type5Command.error(of: answer)) ? .wasLocked : .refused
  }
}

/// The capability container at the start of block 0 (NFC Forum Type 5 Tag Technical Specification 1.0).
///
/// | Byte | Contents |
/// |---|---|
/// | 0 | E1: all block numbers have one byte; E2: those from 256 on have two |
/// | 1 | bits 7 and 6: major version; 5 and 4: minor; 3 and 2: read access; 1 and 0: write access |
/// | 2 | the size of the data area in units of eight bytes; 0: it is in bytes 6 and 7, and the container has eight |
/// | 3 | bit 0: READ MULTIPLE BLOCKS; bit 3: LOCK BLOCK; bit 4: special frame format |
///
/// An access of 0 means everybody. A write access of 3 forbids writing.
struct Type5Container {
  /// At least the first four bytes.
  private let bytes: [UInt8]

  /// `bytes` are block 0, with at least four bytes. Fails with a problem if it is not the start of a container, or if
  /// the tag does not let everybody read it.
  init(_ bytes: [UInt8]) throws(TagWriteError) {
    self.bytes = bytes
    guard bytes[0] == 0xE1 || bytes[0] == 0xE2 else { throw Self.absence }
    guard bytes[1] >> 6 == 1 else {
      throw .refused(.unsupported, "it is formatted for mapping version \(bytes[1] >> 6) of Type 5")
    }
    guard bytes[1] & 0x0C == 0 else {
      throw .refused(.unsupported, "the tag does not let everybody read it")
    }
  }

  static let absence = TagWriteError.refused(.notNDEF, "there is no capability container in block 0")

  /// In bytes.
  var size: Int { bytes[2] == 0 ? 8 : 4 }

  /// Behind the container, in bytes. The tag may be smaller. `memory` begins with the whole container.
  func dataSize(_ memory: [UInt8]) -> Int { 8 * (size == 8 ? memory[6...7].bigEndian : Int(memory[2])) }

  /// The number of blocks that have a number.
  var mostBlocks: Int { bytes[0] == 0xE1 ? 0x100 : 0x1_0000 }
  var isWritable: Bool { bytes[1] & 0x03 == 0 }
  var isReadOnly: Bool { bytes[1] & 0x03 == 3 }
  var hasReadMultiple: Bool { bytes[3] & 0x01 != 0 }
  /// Supports LOCK BLOCK. Most programs that format a tag do not set this bit, because only a lock, which is permanent,
  /// could tell.
  var hasLock: Bool { bytes[3] & 0x08 != 0 }
  /// Write and lock requests need the option flag.
  var isSpecial: Bool { bytes[3] & 0x10 != 0 }
}
