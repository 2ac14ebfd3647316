/// The commands of ISO/IEC 15693-3 (sections 9 and 10), as NFC Forum Type 5 tags have them.
///
/// Anticollision is not modelled: a tag answers an inventory with one slot or 16, if the mask matches.
struct Type5Tag: FieldTag {
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

  /// The extended commands, whose numbers have two bytes, the lower one first.
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

  /// GET SYSTEM INFORMATION (section 10.4.12). The number of blocks has one byte, so a larger memory is not told.
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
