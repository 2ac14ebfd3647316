/// NFC Forum Type 1 Tag Operation Specification 1.1: Topaz and Jewel.
///
/// Block 1 begins with the capability container. A sequence of TLV blocks follows, without blocks D, E and F. If the
/// tag has only static memory, RALL reads all of it.
struct Type1Tag: NDEFTag {
  /// The four bytes that commands contain.
  let uid: [UInt8]

  init(_ tag: JewelActivation) { uid = tag.uid }

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    var access = Type1Access(uid: uid)
    try access.open(&channel)
    let block = try access.block(&channel)
    try access.require(block.messageAddresses, &channel)
    return access.memory.known(at: block.messageAddresses)
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    var survey = try Type1Survey(uid, &channel)
    let room = survey.isWritable ? try survey.room(for: survey.block.addresses, &channel) : 0
    let isWritable = survey.isWritable && room >= 2
    return NDEFStatus(
      capacity: NDEFBlock.capacity(bytes: isWritable ? room : survey.block.addresses.count), isWritable: isWritable)
  }
}

/// The memory of a selected Type 1 tag (Type 1 Tag Operation Specification 1.1, section 5), in blocks of 8 bytes. RALL
/// reads the first 15 blocks. A tag with dynamic memory has more, which READ8 reads one by one.
///
/// RSEG would read 16 blocks at once, but no PN53x supports that. Its firmware only knows the first segment, and its
/// registers pass on only half of a segment.
struct Type1Access {
  static let blockSize = 8
  /// RALL and the commands for single bytes cover these blocks.
  static let staticBlocks = 15
  static let staticSize = staticBlocks * blockSize
  /// Blocks D, E and F: a serial number and the like, lock bits and OTP bytes, lock bits of dynamic memory.
  private static let reserved = 104..<128
  /// Block numbers are single bytes.
  private static let mostBlocks = 256
  private static let firstByte = 12

  private(set) var memory = TagMemory(size: mostBlocks * blockSize)
  private(set) var area = firstByte..<firstByte
  /// Supports the commands for blocks.
  private(set) var isDynamic = false
  /// According to the header ROM.
  private var isTopaz512 = false
  private let uid: [UInt8]

  /// `uid` has the four bytes that commands contain.
  init(uid: [UInt8]) { self.uid = uid }

  /// The bytes of lock bits for blocks behind static memory; nil if the model is not known. A lock control TLV is not
  /// followed, because it may name bytes of a message.
  var dynamicLocks: Range<Int>? {
    guard isDynamic else { return 0..<0 }
    return isTopaz512 ? 122..<128 : nil
  }

  /// Read and write access: the last byte of the capability container.
  var access: UInt8 { memory[11] ?? 0xFF }

  /// Checks that the tag is formatted for NDEF.
  mutating func open(_ channel: inout some TagChannel) throws(TagWriteError) {
    let answer = try exchange([0x00, 0x00, 0x00], &channel)
    guard answer.count >= 2 + Self.staticSize else {
      throw .refused(.damaged, "the tag answered RALL with less than \(2 + Self.staticSize) bytes")
    }
    guard answer[0] >> 4 == 1 else {
      throw .refused(.notNDEF, "the header ROM does not say that it is an NFC Forum tag")
    }
    isDynamic = answer[0] & 0x0F != 1
    isTopaz512 = answer[0] == 0x12
    memory.learn(answer[2..<2 + Self.staticSize], at: 0)
    let container = memory.known(at: 8..<12)
    guard container[0] == 0xE1 else {
      throw .refused(.notNDEF, "there is no capability container in block 1")
    }
    guard container[1] >> 4 == 1 else {
      throw .refused(.unsupported, "it is formatted for mapping version \(container[1] >> 4) of Type 1")
    }
    guard container[3] >> 4 == 0 else {
      throw .refused(.unsupported, "the tag does not let everybody read it")
    }
    // The container may claim more than the model has.
    let end = (Int(container[2]) + 1) * Self.blockSize
    let size = isTopaz512 ? 512 : isDynamic ? Self.mostBlocks * Self.blockSize : Self.staticSize
    area = Self.firstByte..<min(max(Self.firstByte, end), size)
  }

  static func addresses(of block: Int) -> Range<Int> { block * blockSize..<(block + 1) * blockSize }

  mutating func block(_ channel: inout some TagChannel) throws(TagWriteError) -> NDEFBlock {
    while true {
      switch TLVBlocks.find(in: memory, area: area, reserved: Self.reserved) {
      case .needs(let address): try require([address], &channel)
      case .found(let block): return block
      case .absent: throw .refused(TLVBlocks.absence)
      case .problem(let problem): throw .refused(problem)
      }
    }
  }

  /// Skips the bytes that are known.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagWriteError) {
    for address in addresses where memory[address] == nil { try read(block: address / Self.blockSize, &channel) }
  }

  /// READ8.
  private mutating func read(block: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard isDynamic, let number = UInt8(exactly: block) else {
      throw .refused(.damaged, "the tag has no block \(block)")
    }
    let answer = try exchange([0x02, number] + [UInt8](repeating: 0, count: 8), &channel)
    guard answer.count == 1 + Self.blockSize, answer[0] == number else {
      throw .refused(.damaged, "the tag answered READ8 with what is not block \(block)")
    }
    memory.learn(answer[1...], at: block * Self.blockSize)
  }

  /// WRITE-E or WRITE-NE, in the first 15 blocks. Returns whether the tag confirms that it holds the byte.
  mutating func write(
    _ byte: UInt8, to address: Int, erasing: Bool, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    guard (0..<Self.staticSize).contains(address) else { return false }
    let operand = UInt8(truncatingIfNeeded: address)
    let answer = try exchange([erasing ? 0x53 : 0x1A, operand, byte], &channel)
    return confirm([byte], answer, operand, address, erasing)
  }

  /// WRITE-E8 or WRITE-NE8. Returns whether the tag confirms that it holds the bytes.
  mutating func write(
    _ bytes: [UInt8], toBlock block: Int, erasing: Bool, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    guard isDynamic, bytes.count == Self.blockSize, let number = UInt8(exactly: block) else { return false }
    let answer = try exchange([erasing ? 0x54 : 0x1B, number] + bytes, &channel)
    return confirm(bytes, answer, number, block * Self.blockSize, erasing)
  }

  /// A tag answers a write with the address and its new contents.
  private mutating func confirm(
    _ bytes: [UInt8], _ answer: [UInt8], _ operand: UInt8, _ address: Int, _ erasing: Bool
  ) -> Bool {
    guard answer.count == 1 + bytes.count, answer[0] == operand else { return false }
    memory.learn(answer[1...], at: address)
    return zip(answer[1...], bytes).allSatisfy { erasing ? $0 == $1 : $0 & $1 == $1 }
  }

  private func exchange(_ command: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    try channel.ask(command + uid)
  }
}

/// What a write or a lock needs to know about the tag.
struct Type1Survey {
  private static let staticLocks = [(address: 112, mask: 0xFE as UInt8), (address: 113, mask: 0x1F as UInt8)]

  var access: Type1Access
  let block: NDEFBlock

  init(_ uid: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) {
    var access = Type1Access(uid: uid)
    try access.open(&channel)
    block = try access.block(&channel)
    self.access = access
  }

  /// According to the capability container.
  var isWritable: Bool { access.access & 0x0F == 0 }

  /// For the first 15 blocks (section 2.2.6). The factory locks blocks D and E.
  func isLocked(block number: Int) -> Bool {
    switch number {
    case 0x01...0x07: (access.memory[112] ?? 0) & 1 << UInt8(number) != 0
    case 0x08...0x0C: (access.memory[113] ?? 0) & 1 << UInt8(number - 8) != 0
    default: false
    }
  }

  /// The number of data bytes of the NDEF TLV in front of the first locked block. Below two, the length cannot be
  /// changed.
  ///
  /// If any dynamic lock bit is set, all of dynamic memory is treated as locked: this code does not evaluate the range
  /// of each bit.
  mutating func room(
    for addresses: some Sequence<Int>, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Int {
    var isDynamicMemoryLocked = false
    if let locks = access.dynamicLocks, addresses.contains(where: { $0 >= Type1Access.staticSize }) {
      try access.require(locks, &channel)
      isDynamicMemoryLocked = access.memory.known(at: locks).contains { $0 != 0 }
    }
    return 1
      + block.addresses.dropFirst().prefix { address in
        !isLocked(block: address / Type1Access.blockSize)
          && !(isDynamicMemoryLocked && address >= Type1Access.staticSize)
      }.count
  }

  /// Every lock bit of the model; nil if the model is not known.
  mutating func locks(
    _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [(address: Int, mask: UInt8)]? {
    guard let dynamic = access.dynamicLocks else { return nil }
    try access.require(dynamic, &channel)
    return dynamic.map { ($0, 0xFF) } + Self.staticLocks
  }
}

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

  /// The tag may refuse by silence.
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

/// The writes that put a message on a Type 1 tag, in order: the length becomes zero, then the bytes behind it are
/// written, and the length last. Bytes that are already right are not written.
struct Type1WritePlan {
  enum Step: Equatable {
    case byte(UInt8, address: Int, erasing: Bool)
    /// Eight bytes.
    case block([UInt8], number: Int, erasing: Bool)
  }

  private(set) var steps: [Step] = []

  /// `bytes` are the new bytes by address, the length first. `memory` knows all of static memory, and the addresses of
  /// dynamic memory that `kept` returns. `isDynamic` says whether the tag supports the commands for blocks.
  init(
    _ bytes: some Collection<(address: Int, byte: UInt8)>, over block: NDEFBlock, _ memory: TagMemory, isDynamic: Bool
  ) {
    let new = Dictionary(bytes.map { ($0.address, $0.byte) }, uniquingKeysWith: { first, _ in first })
    let lengthAddress = block.lengthAddress
    let lengthBlock = lengthAddress / Type1Access.blockSize
    // Dynamic memory has no command that writes a single byte.
    let isLengthAlone = lengthAddress < Type1Access.staticSize
    func contents(of number: Int) -> [UInt8] { Type1Access.addresses(of: number).map { new[$0] ?? memory[$0] ?? 0 } }

    var others: [Step] = []
    for number in Set(new.keys.map { $0 / Type1Access.blockSize }).sorted() {
      let changes = Type1Access.addresses(of: number).filter { address in
        guard let byte = new[address] else { return false }
        return memory[address] != byte && address != lengthAddress
      }
      if changes.isEmpty || number == lengthBlock && !isLengthAlone { continue }
      // A write of eight bytes bypasses the chip's firmware, and takes as many chip commands as four writes of single
      // bytes. Static blocks up to the length are written byte by byte, so that the bytes needed to understand the tag
      // are never erased.
      let isBehindLength = number * Type1Access.blockSize > lengthAddress
      if isDynamic, number >= Type1Access.staticBlocks || isBehindLength && changes.count >= 4 {
        others.append(.block(contents(of: number), number: number, erasing: true))
      } else {
        others += changes.map { .byte(new[$0] ?? 0, address: $0, erasing: true) }
      }
    }

    guard isLengthAlone else {
      let writes = NDEFBlock.lengthWrites(
        from: Type1Access.addresses(of: lengthBlock).map { memory[$0] ?? 0 }, to: contents(of: lengthBlock),
        length: lengthAddress % Type1Access.blockSize, othersChange: !others.isEmpty)
      steps = writes.before.map { .block($0, number: lengthBlock, erasing: true) } + others
      steps += writes.after.map { .block($0, number: lengthBlock, erasing: true) }
      // The last write sets the length, which is zero before. It must not erase, because the message shares its block.
      // A tag that is removed during the erase would have a length and half a message.
      if case .block(let bytes, let number, _)? = steps.last, bytes[lengthAddress % Type1Access.blockSize] != 0,
        !writes.after.isEmpty
      {
        steps[steps.count - 1] = .block(bytes, number: number, erasing: false)
      }
      return
    }
    let isToBeEmptied = memory[lengthAddress] ?? 0 != 0 && !others.isEmpty
    if isToBeEmptied { steps.append(.byte(0, address: lengthAddress, erasing: true)) }
    steps += others
    let old = isToBeEmptied ? 0 : memory[lengthAddress] ?? 0
    if let length = new[lengthAddress], length != old {
      steps.append(.byte(length, address: lengthAddress, erasing: old != 0))
    }
  }

  /// The bytes of dynamic memory that must be known before the write. They share a block with the new bytes, but do not
  /// belong to the message, and stay unchanged. (Unused bytes of the message's space become zero.)
  static func kept(_ addresses: some Sequence<Int>, over block: NDEFBlock) -> [Int] {
    let new = Set(addresses)
    let free = Set(block.addresses)
    return Set(new.map { $0 / Type1Access.blockSize }).sorted().filter { $0 >= Type1Access.staticBlocks }
      .flatMap(Type1Access.addresses(of:)).filter { !new.contains($0) && !free.contains($0) }
  }
}
