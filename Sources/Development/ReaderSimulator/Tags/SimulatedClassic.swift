/// The commands of MIFARE Classic (MF1S50YYX_V1 data sheet, section 9), without its value blocks.
///
/// There is no cipher: the two frames of an authentication carry the key and the UID as they are, and the following
/// frames are plain. The host cannot see the difference, because the chip does the cipher.
struct SimulatedClassic: TypeAApplication {
  private enum Pending {
    case authentication(block: Int, MIFAREClassicMemory.Key)
    case write(block: Int)
  }

  private static let notAllowed: UInt8 = 0x4
  private static let transmissionError: UInt8 = 0x5
  /// The challenge that the tag always sends.
  private static let challenge: [UInt8] = [0x01, 0x20, 0x01, 0x45]

  private let uid: [UInt8]
  private var blocks: MIFAREClassicMemory
  /// The sector that is open, and the key that opened it.
  private var opened: (sector: Int, key: MIFAREClassicMemory.Key)?
  private var pending: Pending?

  init(_ blocks: MIFAREClassicMemory, uid: [UInt8]) {
    self.blocks = blocks
    self.uid = uid
  }

  var atqa: [UInt8] { [uid.count == 4 ? blocks.model.atqa : blocks.model.atqa | 0x40, 0x00] }
  var sak: UInt8 { blocks.model.sak }
  var memory: [UInt8] { blocks.bytes }
  mutating func tearWrites(_ tear: WriteTear?) { blocks.writeTear = tear }
  var isInBlockProtocol: Bool { false }

  mutating func deactivate() {
    opened = nil
    pending = nil
  }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    guard let data, let command = data.first else { return .refuse(Self.transmissionError) }
    switch pending {
    case .authentication(let block, let key):
      pending = nil
      return authenticate(block, key, data)
    case .write(let block):
      pending = nil
      return write(data, block)
    case nil: break
    }
    guard data.count == 2 else { return .refuse(Self.notAllowed) }
    let block = Int(data[1])
    guard block < blocks.model.blockCount else { return .refuse(Self.notAllowed) }
    switch command {
    case 0x60, 0x61:
      opened = nil
      pending = .authentication(block: block, command == 0x60 ? .a : .b)
      return .data(Self.challenge)
    case 0x30:
      guard let key = key(for: block), let contents = blocks.read(block, with: key) else {
        return .refuse(Self.notAllowed)
      }
      return .data(contents)
    case 0xA0:
      guard key(for: block) != nil else { return .refuse(Self.notAllowed) }
      pending = .write(block: block)
      return .acknowledge
    default: return .refuse(Self.notAllowed)
    }
  }

  private mutating func authenticate(_ block: Int, _ key: MIFAREClassicMemory.Key, _ data: [UInt8]) -> TypeAReply {
    let sector = MIFAREClassicModel.sector(of: block)
    guard data == blocks.key(key, of: sector) + uid.suffix(4) else { return .leave }
    opened = (sector, key)
    return .data(Self.challenge)
  }

  private mutating func write(_ contents: [UInt8], _ block: Int) -> TypeAReply {
    guard let key = key(for: block), blocks.write(contents, to: block, with: key) else {
      return .refuse(Self.notAllowed)
    }
    return .acknowledge
  }

  private func key(for block: Int) -> MIFAREClassicMemory.Key? {
    guard let opened, opened.sector == MIFAREClassicModel.sector(of: block) else { return nil }
    return opened.key
  }
}

extension SimulatedTag {
  /// A MIFARE Classic that is formatted for NDEF (AN1304) and holds an encoded message; empty for a formatted tag
  /// without one. The UID has four or seven bytes on a real tag. `keyB`, six bytes, is key B of every sector; any key
  /// other than the default of formatting programs is a secret. Without `sectors`, all possible ones are for NDEF.
  /// Fails if the message does not fit, the UID is random, or the key has another length.
  package static func mifareClassic(
    _ model: MIFAREClassicModel, message: [UInt8], uid: TagUID = .generated(),
    keyB: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], sectors: [Int]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try mifareClassic(model, contents: tlv(message), isTerminated: true, uid: uid, keyB: keyB, sectors: sectors)
  }

  /// A MIFARE Classic that is formatted for NDEF, with arbitrary contents of the data blocks in place of the TLVs.
  /// Without `sectors`, all possible ones are for NDEF. Fails if the contents do not fit, or the UID is random.
  package static func mifareClassic(
    _ model: MIFAREClassicModel, contents: [UInt8], uid: TagUID = .generated(), sectors: [Int]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try mifareClassic(
      model, contents: contents, isTerminated: false, uid: uid, keyB: [UInt8](repeating: 0xFF, count: 6),
      sectors: sectors)
  }

  /// A MIFARE Classic from a dump that includes its keys, from block 0 on. The UID has four or seven bytes; nil for the
  /// UID of four bytes in block 0. Fails if the model has another number of bytes than the dump, or the UID is random.
  package static func mifareClassic(
    _ model: MIFAREClassicModel, memory: [UInt8], uid: TagUID? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    guard memory.count == model.blockCount * MIFAREClassicMemory.blockSize else {
      throw SimulatorError("a dump of \(memory.count) bytes is not one of \(model.name)")
    }
    let uid = if let uid { uid } else { try TagUID.fixed(Array(memory[0..<4])) }
    var blocks = MIFAREClassicMemory(model: model, uid: uid.fixedBytes ?? [])
    blocks.put(memory, at: 0)
    return try mifareClassic(blocks, uid)
  }

  /// A MIFARE Classic in its factory state: all keys FF, no user data. The UID has four or seven bytes on a real tag.
  /// Fails if it is random, since the chip has no random UIDs.
  package static func mifareClassicBlank(
    _ model: MIFAREClassicModel, uid: TagUID = .generated()
  ) throws(SimulatorError) -> SimulatedTag {
    try mifareClassic(MIFAREClassicMemory(model: model, uid: uid.fixedBytes ?? []), uid)
  }

  private static func mifareClassic(
    _ model: MIFAREClassicModel, contents: [UInt8], isTerminated: Bool, uid: TagUID, keyB: [UInt8], sectors: [Int]?
  ) throws(SimulatorError) -> SimulatedTag {
    let sectors = sectors ?? (1..<model.sectorCount).filter { $0 != 16 }
    var blocks = MIFAREClassicMemory(model: model, uid: uid.fixedBytes ?? [])
    let room = sectors.reduce(0) { $0 + blocks.dataBlocks(of: $1).count * MIFAREClassicMemory.blockSize }
    guard contents.count <= room else {
      throw SimulatorError("\(contents.count) bytes do not fit into the \(room) that \(model.name) has for TLVs")
    }
    guard keyB.count == 6 else { throw SimulatorError("a key has 6 bytes, not \(keyB.count)") }
    let isFull = contents.count == room
    blocks.format(sectors: sectors, keyB: keyB, contents: contents + (isTerminated && !isFull ? [0xFE] : []))
    return try mifareClassic(blocks, uid)
  }

  private static func mifareClassic(_ blocks: MIFAREClassicMemory, _ uid: TagUID) throws(SimulatorError) -> SimulatedTag
  {
    // The UID is part of every authentication.
    guard let bytes = uid.fixedBytes else { throw SimulatorError("a MIFARE Classic has no random UID") }
    return SimulatedTag(tag: TypeATag(uid: uid, application: SimulatedClassic(blocks, uid: bytes)))
  }
}

/// A MIFARE Classic chip, with the memory layout from its data sheet.
package struct MIFAREClassicModel: Sendable, Hashable {
  /// The name on the control line: `mini`, `classic1k`, `classic4k`.
  package let name: String
  /// The number of sectors. The first 32 have 4 blocks each, the others 16.
  package let sectorCount: Int
  /// Select acknowledge.
  let sak: UInt8
  /// The low byte of the answer to request, for a UID of four bytes. The high byte is zero.
  let atqa: UInt8

  /// MF1ICS20: 5 sectors, 320 bytes.
  package static let mini = MIFAREClassicModel(name: "mini", sectorCount: 5, sak: 0x09, atqa: 0x04)
  /// MF1S50: 16 sectors, 1 KiB.
  package static let classic1K = MIFAREClassicModel(name: "classic1k", sectorCount: 16, sak: 0x08, atqa: 0x04)
  /// MF1S70: 40 sectors, 4 KiB.
  package static let classic4K = MIFAREClassicModel(name: "classic4k", sectorCount: 40, sak: 0x18, atqa: 0x02)

  package static let all: [MIFAREClassicModel] = [.mini, .classic1K, .classic4K]

  /// The number of blocks, including those with keys.
  var blockCount: Int { Self.firstBlock(of: sectorCount) }

  static func firstBlock(of sector: Int) -> Int { sector < 32 ? sector * 4 : 128 + (sector - 32) * 16 }

  static func sector(of block: Int) -> Int { block < 128 ? block / 4 : 32 + (block - 128) / 16 }

  static func trailer(of sector: Int) -> Int { firstBlock(of: sector + 1) - 1 }
}

/// The memory of a MIFARE Classic and its access conditions (MF1S50YYX_V1 and MF1S70YYX_V1 data sheets, sections 8.6
/// and 8.7).
struct MIFAREClassicMemory {
  enum Key {
    case a
    case b
  }

  static let blockSize = 16
  private static let transportKey: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
  private static let directoryKey: [UInt8] = [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5]
  private static let ndefKey: [UInt8] = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7]

  let model: MIFAREClassicModel
  private(set) var bytes: [UInt8]
  /// How far further writes get before the tag loses its power; nil if they complete.
  var writeTear: WriteTear?

  /// The factory state: all keys FF, no user data.
  init(model: MIFAREClassicModel, uid: [UInt8]) {
    self.model = model
    bytes = [UInt8](repeating: 0, count: model.blockCount * Self.blockSize)
    var manufacturer = uid
    if uid.count == 4 { manufacturer.append(uid.reduce(0, ^)) }
    manufacturer += [model.sak, uid.count == 4 ? model.atqa : model.atqa | 0x40, 0x00]
    put(manufacturer, at: 0)
    for sector in 0..<model.sectorCount {
      put(Self.transportKey + [0xFF, 0x07, 0x80, 0x69] + Self.transportKey, at: MIFAREClassicModel.trailer(of: sector))
    }
  }

  /// Formats sectors for NDEF, as in AN1304 and AN10787. `keyB` is key B of every sector; the contents are TLV blocks.
  mutating func format(sectors: [Int], keyB: [UInt8], contents: [UInt8]) {
    var first = [UInt8](repeating: 0, count: 32)
    var second = [UInt8](repeating: 0, count: 48)
    for sector in sectors {
      let (index, isFirst) = sector < 16 ? (2 * sector, true) : (2 * (sector - 16), false)
      if isFirst { first.replaceSubrange(index..<index + 2, with: [0x03, 0xE1]) }
      if !isFirst { second.replaceSubrange(index..<index + 2, with: [0x03, 0xE1]) }
    }
    let hasSecond = model.sectorCount > 16
    first[0] = Self.checksum(first.dropFirst())
    second[0] = Self.checksum(second.dropFirst())
    put(first, at: 1)
    put(Self.directoryKey + [0x78, 0x77, 0x88, hasSecond ? 0xC2 : 0xC1] + keyB, at: 3)
    if hasSecond {
      put(second, at: 64)
      put(Self.directoryKey + [0x78, 0x77, 0x88, 0x00] + keyB, at: 67)
    }
    for sector in sectors {
      put(Self.ndefKey + [0x7F, 0x07, 0x88, 0x40] + keyB, at: MIFAREClassicModel.trailer(of: sector))
    }
    var rest = contents[...]
    for block in sectors.flatMap(dataBlocks) {
      put(Array(rest.prefix(Self.blockSize)), at: block)
      rest = rest.dropFirst(Self.blockSize)
    }
  }

  /// The blocks of a sector that hold user data.
  func dataBlocks(of sector: Int) -> Range<Int> {
    MIFAREClassicModel.firstBlock(of: sector)..<MIFAREClassicModel.trailer(of: sector)
  }

  mutating func put(_ contents: [UInt8], at block: Int) {
    let start = block * Self.blockSize
    let end = min(start + contents.count, bytes.count)
    let old = Array(bytes[start..<end])
    bytes.replaceSubrange(start..<end, with: writeTear.contents(Array(contents.prefix(end - start)), over: old))
  }

  func key(_ key: Key, of sector: Int) -> [UInt8] {
    let trailer = block(MIFAREClassicModel.trailer(of: sector))
    return Array(key == .a ? trailer[0..<6] : trailer[10..<16])
  }

  func read(_ number: Int, with key: Key) -> [UInt8]? {
    let sector = MIFAREClassicModel.sector(of: number)
    guard let conditions = conditions(of: sector), !isKeyData(key, conditions[3]) else { return nil }
    guard number == MIFAREClassicModel.trailer(of: sector) else {
      let readers: [Key] =
        switch conditions[group(of: number)] {
        case 0b000, 0b001, 0b010, 0b100, 0b110: [.a, .b]
        case 0b011, 0b101: [.b]
        default: []
        }
      return readers.contains(key) ? block(number) : nil
    }
    let contents = block(number)
    let isKeyBReadable = key == .a && [0b000, 0b001, 0b010].contains(conditions[3])
    // All conditions let key A read the access bits. All but those three let key B read them too.
    let hidden = [UInt8](repeating: 0, count: 6)
    let keyB: [UInt8] = isKeyBReadable ? Array(contents[10..<16]) : hidden
    return hidden + contents[6..<10] + keyB
  }

  /// Returns whether the key may write at least a part of the block.
  mutating func write(_ contents: [UInt8], to number: Int, with key: Key) -> Bool {
    let sector = MIFAREClassicModel.sector(of: number)
    guard number != 0, contents.count == Self.blockSize, let conditions = conditions(of: sector),
      !isKeyData(key, conditions[3])
    else { return false }
    guard number == MIFAREClassicModel.trailer(of: sector) else {
      let writers: [Key] =
        switch conditions[group(of: number)] {
        case 0b000: [.a, .b]
        case 0b011, 0b100, 0b110: [.b]
        default: []
        }
      guard writers.contains(key) else { return false }
      put(contents, at: number)
      return true
    }
    let (keys, accessBits): (Key?, Key?) =
      switch conditions[3] {
      case 0b000: (.a, nil)
      case 0b001: (.a, .a)
      case 0b011: (.b, .b)
      case 0b100: (.b, nil)
      case 0b101: (nil, .b)
      default: (nil, nil)
      }
    guard key == keys || key == accessBits else { return false }
    var trailer = block(number)
    if key == keys {
      trailer.replaceSubrange(0..<6, with: contents[0..<6])
      trailer.replaceSubrange(10..<16, with: contents[10..<16])
    }
    if key == accessBits { trailer.replaceSubrange(6..<10, with: contents[6..<10]) }
    put(trailer, at: number)
    return true
  }

  /// A readable key B is data and cannot authenticate.
  private func isKeyData(_ key: Key, _ condition: UInt8) -> Bool {
    key == .b && [0b000, 0b001, 0b010].contains(condition)
  }

  private func block(_ number: Int) -> [UInt8] {
    Array(bytes[number * Self.blockSize..<(number + 1) * Self.blockSize])
  }

  /// The index of the block's access condition among the three for the data of its sector.
  private func group(of number: Int) -> Int {
    let offset = number - MIFAREClassicModel.firstBlock(of: MIFAREClassicModel.sector(of: number))
    return number < 128 ? offset : offset / 5
  }

  /// C1, C2 and C3 of each group and of the trailer. Nil if they contradict each other: such a sector stays blocked.
  private func conditions(of sector: Int) -> [UInt8]? {
    let trailer = block(MIFAREClassicModel.trailer(of: sector))
    let inverted = UInt16(trailer[7] & 0x0F) << 8 | UInt16(trailer[6])
    let plain = UInt16(trailer[8]) << 4 | UInt16(trailer[7] >> 4)
    guard inverted ^ plain == 0x0FFF else { return nil }
    return (0..<4).map { group in
      func bit(_ number: Int) -> UInt8 { plain >> number & 1 == 0 ? 0 : 1 }
      return bit(group) << 2 | bit(group + 4) << 1 | bit(group + 8)
    }
  }

  /// CRC-8 of AN10787, section 3.7.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    bytes.reduce(0xC7) { register, byte in
      (0..<8).reduce(register ^ byte) { value, _ in value & 0x80 == 0 ? value << 1 : value << 1 ^ 0x1D }
    }
  }
}
