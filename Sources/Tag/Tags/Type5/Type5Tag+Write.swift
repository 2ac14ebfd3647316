extension Type5Tag {
  /// Writes zero as the length first, then the other blocks, and the block of the length last. An interrupted write
  /// leaves the tag empty.
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
    let code = Type5Command.error(of: answer) ?? 0x0F
    return (code < 0x10 ? "0" : "") + String(code, radix: 16, uppercase: true)
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
