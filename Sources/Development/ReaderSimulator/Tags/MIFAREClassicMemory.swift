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
