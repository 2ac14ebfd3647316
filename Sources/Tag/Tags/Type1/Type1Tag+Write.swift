extension Type1Tag {
  /// Writes the length last. An interrupted write leaves the tag empty.
  ///
  /// The specification (section 6.4.3) sets the first byte of the capability container to zero instead. A tag removed
  /// then is no NDEF tag any more, and looks like a blank one. An empty tag can be written again. Both ways cost the
  /// same.
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    var survey = try Type1Survey(uid, &channel)
    guard survey.isWritable else { throw .readOnly }
    let most = NDEFBlock.capacity(bytes: survey.block.addresses.count)
    guard message.count <= most else {
      let room = try survey.room(for: survey.block.addresses, &channel)
      throw room < 2 ? TagWriteError.readOnly : .tooLong(capacity: NDEFBlock.capacity(bytes: room))
    }
    let bytes = survey.block.bytes(holding: message)
    let room = try survey.room(for: bytes.map(\.address), &channel)
    guard room >= 2 else { throw .readOnly }
    let capacity = NDEFBlock.capacity(bytes: room)
    guard message.count <= capacity else { throw .tooLong(capacity: capacity) }
    guard try Self.put(bytes.prefix(room - 1), &survey, &channel) else { throw .notAsWritten }
  }

  private static func put(
    _ bytes: ArraySlice<(address: Int, byte: UInt8)>, _ survey: inout Type1Survey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    let block = survey.block
    try survey.access.require(Type1WritePlan.kept(bytes.map(\.address), over: block), &channel)
    let plan = Type1WritePlan(bytes, over: block, survey.access.memory, isDynamic: survey.access.isDynamic)
    for step in plan.steps {
      let isConfirmed =
        switch step {
        case .byte(let byte, let address, let erasing):
          try survey.access.write(byte, to: address, erasing: erasing, &channel)
        case .block(let bytes, let number, let erasing):
          try survey.access.write(bytes, toBlock: number, erasing: erasing, &channel)
        }
      guard isConfirmed else { return false }
    }
    return true
  }

  /// Sets the capability container to read-only first (section 6.4.4), then the lock bits. The lock bits of the
  /// container's own block are among the last.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    var survey = try Type1Survey(uid, &channel)
    guard let locks = try survey.locks(&channel) else {
      throw .cannotLock("it is a Type 1 tag of an unknown model, whose lock bits are not known")
    }
    let missing = locks.filter { (survey.access.memory[$0.address] ?? 0) & $0.mask != $0.mask }
    let isReadOnly = survey.access.access & 0x0F == 0x0F
    if isReadOnly, missing.isEmpty { throw .readOnly }
    if !isReadOnly, !survey.isLocked(block: 1) {
      guard try survey.access.write(0x0F, to: 11, erasing: false, &channel) else { throw .notAsWritten }
    }
    guard try Self.set(missing, &survey.access, &channel) else {
      throw .cannotLock("the tag says that it is read-only now, but does not let its lock bits be set")
    }
  }

  /// Returns false if the tag is present but refuses.
  private static func set(
    _ locks: [(address: Int, mask: UInt8)], _ access: inout Type1Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    for block in Set(locks.map { $0.address / Type1Access.blockSize }).sorted(by: >) {
      let inBlock = locks.filter { $0.address / Type1Access.blockSize == block }
      let isAccepted: Bool
      if block < Type1Access.staticBlocks {
        isAccepted = try ask(&access, &channel) { (access, channel) throws(TagWriteError) in
          for lock in inBlock.reversed() {
            guard try access.write(lock.mask, to: lock.address, erasing: false, &channel) else { return false }
          }
          return true
        }
      } else {
        let bits = Type1Access.addresses(of: block).map { address in
          inBlock.reduce(0 as UInt8) { $1.address == address ? $0 | $1.mask : $0 }
        }
        isAccepted = try ask(&access, &channel) { (access, channel) throws(TagWriteError) in
          try access.write(bits, toBlock: block, erasing: false, &channel)
        }
      }
      guard isAccepted else { return false }
    }
    return true
  }

  /// Runs a command that the tag may refuse by silence.
  private static func ask<Channel: TagChannel>(
    _ access: inout Type1Access, _ channel: inout Channel,
    _ body: (inout Type1Access, inout Channel) throws(TagWriteError) -> Bool
  ) throws(TagWriteError) -> Bool {
    do throws(TagWriteError) {
      return try body(&access, &channel)
    } catch {
      guard case .channel(let reason) = error, reason.code == .noAnswer else { throw error }
    }
    try channel.reselectTag()
    return false
  }
}
