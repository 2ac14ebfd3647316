/// Access to the sectors of one tag: the open sector, the location of the NDEF sectors, and a cache of their contents.
///
/// The data blocks of the NDEF sectors, without the trailers, form one contiguous memory with addresses from 0.
struct MIFAREClassicAccess {
  private static let blockSize = MIFAREClassicSector.blockSize
  /// Sectors 1 to 15, 17 to 31 and 32 to 39.
  private static let largestMemory = (30 * 3 + 8 * 15) * blockSize

  /// The part that is used for authentication: the last four bytes (AN10927, section 3.2.5).
  private let uid: [UInt8]
  private let sectorCount: Int
  private var authenticated: (sector: MIFAREClassicSector, key: MIFAREClassicKey)?
  /// One run without a gap.
  private(set) var sectors: [MIFAREClassicSector] = []
  /// Whether the second part of the directory may extend `sectors`.
  private var mayGoOn = false
  /// Whether the second part of the directory was requested but could not be opened.
  private(set) var hasClosedSectors = false
  private(set) var memory = TagMemory(size: largestMemory)

  init(uid: [UInt8], sak: UInt8?) {
    self.uid = Array(uid.suffix(4))
    sectorCount = MIFAREClassicSector.count(sak: sak)
  }

  var area: Range<Int> { 0..<sectors.reduce(0) { $0 + $1.dataSize } }

  /// Those that the NDEF sectors depend on.
  var directorySectors: [MIFAREClassicSector] {
    [MIFAREClassicSector(number: 0)]
      + (sectors.contains { $0.number > 16 } ? [MIFAREApplicationDirectory.secondSector] : [])
  }

  /// If the first part of the directory names no NDEF sector, it reads the second part as well.
  mutating func open(_ channel: inout some TagChannel) throws(TagWriteError) {
    let first = MIFAREClassicSector(number: 0)
    guard try authenticate(first, .directory, &channel) else {
      throw .silence(.notNDEF, "there is no application directory that everybody may read")
    }
    guard let named = try directory(of: first, blocks: 1...2, from: 1, &channel) else {
      throw .refused(.notNDEF, "the checksum of the application directory is wrong")
    }
    sectors = Self.run(named.filter { $0.number < sectorCount })
    mayGoOn = sectorCount > 16 && (sectors.isEmpty || sectors.last?.number == 15)
    if sectors.isEmpty { try extend(&channel) }
    guard !sectors.isEmpty else {
      throw .refused(.notNDEF, "no sector belongs to NDEF")
    }
  }

  /// Reads the second part of the directory if the run of NDEF sectors may continue there. Returns true if it found
  /// more sectors.
  @discardableResult
  mutating func extend(_ channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    guard mayGoOn else { return false }
    mayGoOn = false
    let second = MIFAREApplicationDirectory.secondSector
    // Retry once, in case the tag did not receive the command.
    var isOpen = try authenticate(second, .directory, &channel)
    if !isOpen { isOpen = try authenticate(second, .directory, &channel) }
    guard isOpen else {
      hasClosedSectors = true
      return false
    }
    // A damaged second part names no sectors. The sectors of the first part remain valid.
    guard let named = try directory(of: second, blocks: 64...66, from: 17, &channel) else { return false }
    // The directory's sector 16 lies between sectors 15 and 17.
    guard sectors.isEmpty || named.first?.number == 17 else { return false }
    let more = Self.run(named)
    sectors += more
    return !more.isEmpty
  }

  mutating func block(_ channel: inout some TagChannel) throws(TagWriteError) -> NDEFBlock {
    while true {
      switch TLVBlocks.find(in: memory, area: area) {
      case .needs(let address): try fetch(address, &channel)
      case .found(let block): return block
      case .absent: try lookFurther(&channel, TLVBlocks.absence)
      case .problem(let problem): try lookFurther(&channel, problem)
      }
    }
  }

  private mutating func lookFurther(_ channel: inout some TagChannel, _ problem: TagProblem) throws(TagWriteError) {
    if mayGoOn { try finishSector(&channel) }
    guard try extend(&channel) else { throw .refused(problem) }
  }

  /// Reads the rest of the open sector before `extend` opens another one. A TLV block that continues in later sectors
  /// needs these bytes, and would have to reopen the sector.
  private mutating func finishSector(_ channel: inout some TagChannel) throws(TagWriteError) {
    var start = 0
    for sector in sectors {
      if sector == authenticated?.sector { return try require(start..<start + sector.dataSize, &channel) }
      start += sector.dataSize
    }
  }

  /// Skips the bytes that are known.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagWriteError) {
    for address in addresses where memory[address] == nil { try fetch(address, &channel) }
  }

  /// Nil outside the data area.
  func place(of address: Int) -> (sector: MIFAREClassicSector, block: Int)? {
    var rest = address
    for sector in sectors {
      if rest < sector.dataSize { return (sector, sector.firstBlock + rest / Self.blockSize) }
      rest -= sector.dataSize
    }
    return nil
  }

  mutating func write(_ contents: [UInt8], at address: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard let (sector, block) = place(of: address) else { return }
    try requireKey(sector, .ndef, &channel)
    try write(contents, toBlock: block, &channel)
    memory.learn(contents, at: address - address % Self.blockSize)
  }

  /// The tag is known to have the key.
  mutating func contents(
    ofBlock block: Int, of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [UInt8] {
    try requireKey(sector, key, &channel)
    return try read(block, &channel)
  }

  /// Needs a public key A.
  mutating func trailer(
    of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> MIFAREClassicTrailer {
    try requireKey(sector, key, &channel)
    guard let trailer = MIFAREClassicTrailer(try read(sector.trailerBlock, &channel)) else {
      throw .refused(.damaged, "the access bits of sector \(sector.number) contradict each other")
    }
    return trailer
  }

  mutating func writeTrailer(
    _ bytes: [UInt8], of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    try requireKey(sector, key, &channel)
    try write(bytes, toBlock: sector.trailerBlock, &channel)
  }

  mutating func write(
    _ contents: [UInt8], toBlock block: Int, of sector: MIFAREClassicSector, _ key: MIFAREClassicKey,
    _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    try requireKey(sector, key, &channel)
    try write(contents, toBlock: block, &channel)
  }

  /// No exchange if the sector is already open with this key. Returns false if the tag is present but has another key.
  mutating func authenticate(
    _ sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    if let authenticated, authenticated == (sector, key) { return true }
    authenticated = nil
    let block = UInt8(truncatingIfNeeded: sector.firstBlock)
    guard try channel.askOrNil([key.slot.rawValue, block] + key.bytes + uid) != nil else {
      // The tag stays silent until it is reselected. A tag that was removed fails here.
      try channel.reselectTag()
      return false
    }
    authenticated = (sector, key)
    return true
  }

  private mutating func requireKey(
    _ sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    guard try authenticate(sector, key, &channel) else {
      throw .refused(.damaged, "sector \(sector.number) does not open with the key that it should have")
    }
  }

  /// Nil if the checksum is wrong.
  private mutating func directory(
    of sector: MIFAREClassicSector, blocks: ClosedRange<Int>, from first: Int, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [MIFAREClassicSector]? {
    var bytes: [UInt8] = []
    for block in blocks { bytes += try read(block, &channel) }
    return MIFAREApplicationDirectory.ndefSectors(bytes, from: first)
  }

  private mutating func fetch(_ address: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard let (sector, block) = place(of: address) else { return }
    try requireKey(sector, .ndef, &channel)
    memory.learn(try read(block, &channel), at: address - address % Self.blockSize)
  }

  /// The sector is open.
  private mutating func read(_ block: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    // Retry once, in case the tag did not receive the command. A tag that is present and refuses twice protects the
    // block.
    let open = authenticated
    var answer = try ask(forBlock: block, &channel)
    if answer == nil, let open, try authenticate(open.sector, open.key, &channel) {
      answer = try ask(forBlock: block, &channel)
    }
    guard let answer else {
      throw .silence(.unsupported, "the tag does not let everybody read it")
    }
    guard answer.count >= Self.blockSize else {
      throw .refused(.damaged, "the tag answered READ with less than 16 bytes")
    }
    return Array(answer.prefix(Self.blockSize))
  }

  /// Returns nil if the tag is present but does not answer. No sector is open in this case.
  private mutating func ask(
    forBlock block: Int, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [UInt8]? {
    if let answer = try channel.askOrNil([0x30, UInt8(truncatingIfNeeded: block)]) { return answer }
    authenticated = nil
    try channel.reselectTag()
    return nil
  }

  private func write(_ bytes: [UInt8], toBlock block: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    _ = try channel.ask([0xA0, UInt8(truncatingIfNeeded: block)] + bytes)
  }

  /// The first sector and all that follow it without a gap.
  private static func run(_ sectors: [MIFAREClassicSector]) -> [MIFAREClassicSector] {
    guard let first = sectors.first else { return [] }
    return Array(zip(sectors, first.number...).prefix { $0.number == $1 }.map(\.0))
  }
}

/// A sector of a MIFARE Classic: blocks of 16 bytes. The last block is the trailer with keys and access bits
/// (MF1S50YYX_V1 and MF1S70YYX_V1 data sheets, section 8.6).
struct MIFAREClassicSector: Hashable {
  static let blockSize = 16

  /// 0 to 39.
  let number: Int

  var firstBlock: Int { number < 32 ? number * 4 : 128 + (number - 32) * 16 }
  /// Without the trailer. The first block of sector 0 is the manufacturer block.
  var dataBlockCount: Int { number < 32 ? 3 : 15 }
  var trailerBlock: Int { firstBlock + dataBlockCount }
  var dataSize: Int { dataBlockCount * Self.blockSize }

  /// AN10833, section 3. If `sak` is unknown, the maximum: a smaller tag refuses to open the sectors that it does not
  /// have.
  static func count(sak: UInt8?) -> Int {
    guard let sak else { return 40 }
    if sak & 0x10 != 0 { return 40 }
    return sak & 0x01 != 0 ? 5 : 16
  }
}

/// A public key, and whether it is tried as key A or key B.
struct MIFAREClassicKey: Hashable {
  enum Slot: UInt8 {
    case a = 0x60
    case b = 0x61
  }

  let bytes: [UInt8]
  let slot: Slot

  /// Key A of the sectors that hold the application directory (AN10787, section 3.3).
  static let directory = MIFAREClassicKey(bytes: [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5], slot: .a)
  /// Key A of the sectors that hold NDEF (AN1304, section 6.2).
  static let ndef = MIFAREClassicKey(bytes: [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7], slot: .a)

  /// Public values of key B: the factory default, and the keys that formatting programs use.
  static let knownB: [MIFAREClassicKey] = [
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7], [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5],
    [0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5], [0x89, 0xEC, 0xA9, 0x7F, 0x8C, 0x2A],
  ].map { MIFAREClassicKey(bytes: $0, slot: .b) }
}

/// The MIFARE application directory (AN10787): the application of each sector.
enum MIFAREApplicationDirectory {
  /// The NFC Forum's application identifier, low byte first.
  private static let ndef: [UInt8] = [0x03, 0xE1]
  /// The sector of the second part. Only a 4K tag has it.
  static let secondSector = MIFAREClassicSector(number: 16)

  /// Nil if the checksum is wrong. `bytes` are the checksum, the info byte and two bytes for each sector. `first` is
  /// the number of the first sector.
  static func ndefSectors(_ bytes: [UInt8], from first: Int) -> [MIFAREClassicSector]? {
    guard let checksum = bytes.first, checksum == self.checksum(bytes.dropFirst()) else { return nil }
    let applications = stride(from: 2, to: bytes.count - 1, by: 2).map { Array(bytes[$0...$0 + 1]) }
    return applications.enumerated().filter { $0.element == ndef }.map {
      MIFAREClassicSector(number: first + $0.offset)
    }
  }

  /// CRC-8, polynomial 1D, start value C7 (AN10787, section 3.7).
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    var register: UInt8 = 0xC7
    for byte in bytes {
      register ^= byte
      for _ in 0..<8 { register = register & 0x80 != 0 ? register << 1 ^ 0x1D : register << 1 }
    }
    return register
  }
}

/// A sector's trailer: key A, access bits, general purpose byte, key B (MF1S50YYX_V1 data sheet, section 8.7).
struct MIFAREClassicTrailer: Equatable {
  /// C1, C2 and C3 for the three groups of data blocks and for the trailer. C1 is the highest of three bits.
  private let conditions: [UInt8]
  /// In an NDEF sector, the mapping version and the read and write access (AN1304, section 6.1).
  let generalPurpose: UInt8
  /// Zeros if it is hidden.
  let readableKeyB: [UInt8]

  /// Nil if bytes are missing, or if the two copies of the access bits contradict each other.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 16 else { return nil }
    let (c1, c2, c3) = (bytes[7] >> 4, bytes[8] & 0x0F, bytes[8] >> 4)
    guard bytes[6] == ~(c2 << 4 | c1), bytes[7] & 0x0F == ~c3 & 0x0F else { return nil }
    conditions = (0..<4).map { group in
      (c1 >> UInt8(group) & 1) << 2 | (c2 >> UInt8(group) & 1) << 1 | (c3 >> UInt8(group) & 1)
    }
    generalPurpose = bytes[9]
    readableKeyB = Array(bytes[10..<16])
  }

  /// Only for sector 0: whether the directory has a second part, in sector 16. Its version, the two lowest bits, is
  /// then 2 (AN10787, section 3.3).
  var hasSecondPart: Bool { generalPurpose & 0x03 == 0b10 }

  /// Whether anyone may write the data blocks: key A permits it, and so does the general purpose byte.
  var letsEverybodyWrite: Bool {
    areDataOpen && generalPurpose & 0x03 == 0
  }

  /// Both keys may read and write the data blocks.
  var areDataOpen: Bool { conditions[0..<3].allSatisfy { $0 == 0b000 } }

  /// The data blocks are permanently read-only.
  var isLocked: Bool {
    conditions[0..<3].allSatisfy { [0b010, 0b101, 0b111].contains($0) } && accessBitsWriter == nil
  }

  /// The key that permits writing the access bits; nil if neither does.
  var accessBitsWriter: MIFAREClassicKey.Slot? {
    switch conditions[3] {
    case 0b001: .a
    case 0b011, 0b101: .b
    default: nil
    }
  }

  /// A trailer that is permanently read-only. Both keys can read the data blocks, and neither can write them.
  ///
  /// A trailer can only be written as a whole, keys included. The keys must be the ones that the sector has.
  static func locked(keyA: [UInt8], keyB: [UInt8], generalPurpose: UInt8) -> [UInt8] {
    // Access bits 010 for the data, 110 for the trailer.
    keyA + [0x07, 0x8F, 0x0F, generalPurpose] + keyB
  }
}
