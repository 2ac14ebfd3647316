/// The commands of ISO/IEC 15693-3 (sections 9 and 10), as NFC Forum Type 5 tags have them.
///
/// Anticollision is not modelled: a tag answers an inventory with one slot or 16, if the mask matches.
struct SimulatedType5: FieldTag {
  /// The states of section 8.2. A loss of power leads to `.ready` from all of them.
  private enum State {
    /// Can transition to: `.quiet`, `.selected`.
    case ready
    /// The tag answers only commands with its UID. Can transition to: `.ready`, `.selected`.
    case quiet
    /// The tag also answers commands with the select flag. Can transition to: `.ready`, `.quiet`.
    case selected
  }

  private enum Flags {
    static let inventory: UInt8 = 0x04
    static let select: UInt8 = 0x10
    static let address: UInt8 = 0x20
    static let option: UInt8 = 0x40
  }

  /// Error codes (section 7.4.2).
  private enum ErrorCode {
    static let notSupported: UInt8 = 0x01
    static let notRecognised: UInt8 = 0x02
    static let optionNotSupported: UInt8 = 0x03
    static let noSuchBlock: UInt8 = 0x10
    static let alreadyLocked: UInt8 = 0x11
    static let isLocked: UInt8 = 0x12
  }

  /// The UID as on the air: the lowest byte first, E0 last.
  private let uid: [UInt8]
  private var blocks: Type5Memory
  private var state = State.ready

  /// `uid` has 8 bytes, E0 first.
  init(uid: [UInt8], _ blocks: Type5Memory) {
    self.uid = uid.reversed()
    self.blocks = blocks
  }

  var memory: [UInt8] { blocks.bytes }

  mutating func tearWrites(_ tear: WriteTear?) { blocks.writeTear = tear }

  mutating func losePower() { state = .ready }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    guard frame.modulation == .vicinity, let data = frame.checkedData, data.count >= 2 else { return nil }
    let flags = data[0]
    if flags & Flags.inventory != 0 { return inventory(Array(data[1...])).map { .standard($0, .vicinity) } }
    var parameters = data[2...]
    if flags & Flags.address != 0 {
      guard Array(parameters.prefix(8)) == uid else {
        // A SELECT for another tag ends this one's selection.
        if data[1] == 0x25, state == .selected { state = .ready }
        return nil
      }
      parameters = parameters.dropFirst(8)
    } else if flags & Flags.select != 0 {
      guard state == .selected else { return nil }
    } else {
      guard state != .quiet else { return nil }
    }
    let answer = respond(data[1], Array(parameters), hasOption: flags & Flags.option != 0)
    return answer.map { .standard($0, .vicinity) }
  }

  /// INVENTORY: the storage format and the UID. The mask is compared with the lowest bits of the UID.
  private func inventory(_ parameters: [UInt8]) -> [UInt8]? {
    guard parameters.count >= 2, parameters[0] == 0x01, state != .quiet else { return nil }
    let bits = Int(parameters[1])
    guard bits <= 64, parameters.count == 2 + (bits + 7) / 8 else { return nil }
    for bit in 0..<bits where parameters[2 + bit / 8] >> UInt8(bit % 8) & 1 != uid[bit / 8] >> UInt8(bit % 8) & 1 {
      return nil
    }
    return [0x00, 0x00] + uid
  }

  private mutating func respond(_ code: UInt8, _ parameters: [UInt8], hasOption: Bool) -> [UInt8]? {
    switch (code, parameters.count) {
    case (0x02, 0):
      state = .quiet
      return nil
    case (0x20, 1): return read(Int(parameters[0]), count: 1, hasOption)
    case (0x23, 2) where blocks.model.readsMultiple:
      return read(Int(parameters[0]), count: Int(parameters[1]) + 1, hasOption)
    case (0x21, 1 + blocks.model.blockSize): return write(Array(parameters[1...]), Int(parameters[0]), hasOption)
    case (0x22, 1): return lock(Int(parameters[0]), hasOption)
    case (0x25, 0):
      state = .selected
      return [0x00]
    case (0x26, 0):
      state = .ready
      return [0x00]
    case (0x2B, 0): return systemInformation
    case (0x2C, 2): return securityStatus(Int(parameters[0]), count: Int(parameters[1]) + 1)
    case (0x30...0x33, 2...) where blocks.model.hasExtendedCommands: return respondExtended(code, parameters, hasOption)
    case (0x20...0x2F, _) where !blocks.model.isSilentAtUnknownCommands: return Self.error(ErrorCode.notRecognised)
    default: return blocks.model.isSilentAtUnknownCommands ? nil : Self.error(ErrorCode.notSupported)
    }
  }

  /// The extended commands. Their numbers have two bytes, the lower one first.
  private mutating func respondExtended(_ code: UInt8, _ parameters: [UInt8], _ hasOption: Bool) -> [UInt8]? {
    let block = Int(parameters[0]) | Int(parameters[1]) << 8
    switch (code, parameters.count) {
    case (0x30, 2): return read(block, count: 1, hasOption)
    case (0x31, 2 + blocks.model.blockSize): return write(Array(parameters[2...]), block, hasOption)
    case (0x32, 2): return lock(block, hasOption)
    case (0x33, 4): return read(block, count: (Int(parameters[2]) | Int(parameters[3]) << 8) + 1, hasOption)
    default: return Self.error(ErrorCode.notRecognised)
    }
  }

  /// With the option flag, the lock of each block precedes its bytes.
  private func read(_ first: Int, count: Int, _ hasOption: Bool) -> [UInt8]? {
    guard blocks.hasBlock(first), blocks.hasBlock(first + count - 1) else { return Self.error(ErrorCode.noSuchBlock) }
    var answer: [UInt8] = [0x00]
    for block in first..<first + count {
      if hasOption { answer.append(blocks.locked.contains(block) ? 0x01 : 0x00) }
      answer += blocks.read(block)
    }
    return answer
  }

  private mutating func write(_ data: [UInt8], _ block: Int, _ hasOption: Bool) -> [UInt8]? {
    guard hasOption || !blocks.model.needsOption else { return Self.error(ErrorCode.optionNotSupported) }
    guard blocks.hasBlock(block) else { return Self.error(ErrorCode.noSuchBlock) }
    return blocks.write(data, to: block) ? [0x00] : Self.error(ErrorCode.isLocked)
  }

  private mutating func lock(_ block: Int, _ hasOption: Bool) -> [UInt8]? {
    guard hasOption || !blocks.model.needsOption else { return Self.error(ErrorCode.optionNotSupported) }
    guard blocks.hasBlock(block) else { return Self.error(ErrorCode.noSuchBlock) }
    return blocks.lock(block) ? [0x00] : Self.error(ErrorCode.alreadyLocked)
  }

  /// GET SYSTEM INFORMATION (section 10.4.12). The number of blocks has one byte, so the size of a larger memory is not
  /// reported.
  private var systemInformation: [UInt8] {
    let size = UInt8(truncatingIfNeeded: blocks.model.blockSize - 1)
    guard blocks.model.blockCount <= 0x100 else { return [0x00, 0x0B] + uid + [0x00, 0x00, 0x01] }
    let count = UInt8(truncatingIfNeeded: blocks.model.blockCount - 1)
    return [0x00, 0x0F] + uid + [0x00, 0x00, count, size, 0x01]
  }

  private func securityStatus(_ first: Int, count: Int) -> [UInt8]? {
    guard blocks.hasBlock(first), blocks.hasBlock(first + count - 1) else { return Self.error(ErrorCode.noSuchBlock) }
    return [0x00] + (first..<first + count).map { blocks.locked.contains($0) ? 0x01 : 0x00 as UInt8 }
  }

  private static func error(_ code: UInt8) -> [UInt8] { [0x01, code] }
}

extension SimulatedTag {
  /// A Type 5 tag that holds an encoded NDEF message; empty for a formatted tag without one. `uid` has 8 bytes, E0
  /// first; it is made up if nil. If `isReadOnly`, the capability container says so; the blocks are not locked. Only
  /// PC/SC readers find such tags. Fails if the message does not fit, or the UID is wrong.
  package static func type5(
    _ model: SimulatedType5Model, message: [UInt8], uid: [UInt8]? = nil, isReadOnly: Bool = false
  ) throws(SimulatorError) -> SimulatedTag {
    try type5(try Type5Memory(model: model, message: message, isReadOnly: isReadOnly), uid)
  }

  /// A Type 5 tag with arbitrary contents, after the capability container, in place of the TLVs. Otherwise like
  /// `type5(_:message:uid:isReadOnly:)`.
  package static func type5(
    _ model: SimulatedType5Model, contents: [UInt8], uid: [UInt8]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try type5(try Type5Memory(model: model, contents: contents), uid)
  }

  /// A Type 5 tag from a dump, from block 0 on, which holds the capability container. Otherwise like
  /// `type5(_:message:uid:isReadOnly:)`.
  package static func type5(
    _ model: SimulatedType5Model, memory: [UInt8], uid: [UInt8]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try type5(try Type5Memory(model: model, image: memory), uid)
  }

  private static func type5(_ memory: Type5Memory, _ uid: [UInt8]?) throws(SimulatorError) -> SimulatedTag {
    let uid = uid ?? [0xE0, memory.model.manufacturer] + (0..<6).map { _ in UInt8.random(in: 0...0xFF) }
    guard uid.count == 8, uid[0] == 0xE0 else { throw SimulatorError("a UID of ISO/IEC 15693 has 8 bytes, E0 first") }
    return SimulatedTag(tag: SimulatedType5(uid: uid, memory))
  }
}

/// An ISO/IEC 15693 chip, with the memory layout and the commands of its data sheet.
package struct SimulatedType5Model: Sendable, Hashable {
  /// The name on the control line.
  package let name: String
  /// The bytes of a block: 4 to 32.
  package let blockSize: Int
  /// The number of blocks. Those from 256 on need the extended commands.
  package let blockCount: Int
  /// The manufacturer (ISO/IEC 7816-6) in the second byte of the UID: 02 ST, 04 NXP, 07 TI, 08 Fujitsu.
  package let manufacturer: UInt8
  /// Whether the chip reads several blocks with one command.
  package var readsMultiple = true
  /// Whether the chip has the extended commands, with block numbers of two bytes.
  package var hasExtendedCommands = false
  /// Whether a write or lock without the option flag is refused.
  package var needsOption = false
  /// Whether the chip stays silent after an unknown command instead of answering with an error.
  package var isSilentAtUnknownCommands = false

  /// Fails if a block does not have 4 to 32 bytes, or there are no blocks or more than 65,536.
  package init(_ name: String, blockSize: Int, blockCount: Int, manufacturer: UInt8 = 0x04) throws(SimulatorError) {
    guard (4...32).contains(blockSize), (1...0x1_0000).contains(blockCount) else {
      throw SimulatorError("\(blockCount) blocks of \(blockSize) bytes are not a memory of ISO/IEC 15693")
    }
    self.init(checked: name, blockSize, blockCount, manufacturer)
    hasExtendedCommands = blockCount > 0x100
  }

  private init(
    checked name: String, _ blockSize: Int, _ blockCount: Int, _ manufacturer: UInt8,
    _ change: (inout SimulatedType5Model) -> Void = { _ in }
  ) {
    (self.name, self.blockSize, self.blockCount) = (name, blockSize, blockCount)
    self.manufacturer = manufacturer
    change(&self)
  }

  /// NXP ICODE SLIX: 28 blocks of 4 bytes.
  package static let slix = SimulatedType5Model(checked: "slix", 4, 28, 0x04) { $0.isSilentAtUnknownCommands = true }
  /// NXP ICODE SLIX2: 80 blocks of 4 bytes. The counter in the last one is not modelled.
  package static let slix2 = SimulatedType5Model(checked: "slix2", 4, 80, 0x04) { $0.isSilentAtUnknownCommands = true }
  /// TI Tag-it HF-I Plus: 64 blocks of 4 bytes. Writes need the option flag.
  package static let tagItPlus = SimulatedType5Model(checked: "tag-it-plus", 4, 64, 0x07) { $0.needsOption = true }
  /// ST ST25DV04K: 128 blocks of 4 bytes.
  package static let st25DV04K = SimulatedType5Model(checked: "st25dv04k", 4, 128, 0x02) {
    $0.hasExtendedCommands = true
  }
  /// ST ST25DV64K: 2,048 blocks of 4 bytes.
  package static let st25DV64K = SimulatedType5Model(checked: "st25dv64k", 4, 2048, 0x02) {
    $0.hasExtendedCommands = true
  }
  /// Fujitsu MB89R118C: 250 blocks of 8 bytes.
  package static let mb89R118 = SimulatedType5Model(checked: "mb89r118", 8, 250, 0x08)
  /// Fujitsu MB89R112: 256 blocks of 32 bytes.
  package static let mb89R112 = SimulatedType5Model(checked: "mb89r112", 32, 256, 0x08) { $0.readsMultiple = false }

  /// All models, the smallest memory first.
  package static let all: [SimulatedType5Model] = [
    .slix, .tagItPlus, .slix2, .st25DV04K, .mb89R118, .st25DV64K, .mb89R112,
  ]

  /// The bytes of the whole memory.
  package var byteCount: Int { blockSize * blockCount }
}

/// The memory of a Type 5 tag: blocks, and a lock for each.
struct Type5Memory: Sendable {
  let model: SimulatedType5Model
  private(set) var bytes: [UInt8]
  private(set) var locked: Set<Int> = []
  /// How far further writes get before the tag loses its power; nil if they complete.
  var writeTear: WriteTear?

  /// A memory from a dump, from block 0 on; the rest is zero. Fails if the dump is longer than the memory.
  init(model: SimulatedType5Model, image: [UInt8]) throws(SimulatorError) {
    guard image.count <= model.byteCount else {
      throw SimulatorError("\(image.count) bytes do not fit into the \(model.byteCount) of an \(model.name)")
    }
    self.model = model
    bytes = image + [UInt8](repeating: 0, count: model.byteCount - image.count)
  }

  /// A formatted tag with `message` in an NDEF TLV, and a terminator if there is room for it. Fails if it does not fit.
  init(model: SimulatedType5Model, message: [UInt8], isReadOnly: Bool) throws(SimulatorError) {
    let container = Self.container(of: model, isReadOnly: isReadOnly)
    let contents = SimulatedTag.tlv(message)
    let isFull = container.count + contents.count == model.byteCount
    try self.init(model: model, image: container + contents + (isFull ? [] : [0xFE]))
  }

  /// A formatted tag with arbitrary contents after the capability container (NFC Forum Type 5 Tag specification 1.0,
  /// section 4.3). Fails if they do not fit.
  init(model: SimulatedType5Model, contents: [UInt8]) throws(SimulatorError) {
    try self.init(model: model, image: Self.container(of: model, isReadOnly: false) + contents)
  }

  /// The capability container: 8 bytes if the area for TLVs has more than 2,040 bytes, otherwise 4. `E2` stands for block
  /// numbers of two bytes.
  private static func container(of model: SimulatedType5Model, isReadOnly: Bool) -> [UInt8] {
    let kind: UInt8 = model.blockCount > 0x100 ? 0xE2 : 0xE1
    let access: UInt8 = isReadOnly ? 0x43 : 0x40
    let features: UInt8 = model.readsMultiple ? 0x01 : 0x00
    let short = (model.byteCount - 4) / 8
    guard short > 0xFF else { return [kind, access, UInt8(short), features] }
    let long = (model.byteCount - 8) / 8
    return [kind, access, 0x00, features, 0x00, 0x00] + BigEndian.bytes(UInt16(truncatingIfNeeded: long))
  }

  func hasBlock(_ block: Int) -> Bool { (0..<model.blockCount).contains(block) }

  func read(_ block: Int) -> [UInt8] { Array(bytes[range(of: block)]) }

  /// Returns false if the block is locked.
  mutating func write(_ data: [UInt8], to block: Int) -> Bool {
    guard !locked.contains(block) else { return false }
    bytes.replaceSubrange(range(of: block), with: writeTear.contents(data, over: read(block)))
    return true
  }

  /// Returns false if the block is locked already.
  mutating func lock(_ block: Int) -> Bool { locked.insert(block).inserted }

  private func range(of block: Int) -> Range<Int> { (block * model.blockSize)..<((block + 1) * model.blockSize) }
}
