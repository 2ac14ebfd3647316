/// Access to the sectors of one tag: the open sector, the location of the NDEF sectors, and a cache of their contents.
///
/// The data blocks of the NDEF sectors, without the trailers, form one contiguous memory with addresses from 0.
struct MIFAREClassicAccess {
  private static let blockSize = MIFAREClassicSector.blockSize
  /// Sectors 1 to 15, 17 to 31 and 32 to 39.
  private static let largestMemory = (30 * 3 + 8 * 15) * blockSize

  /// The part of the UID that is used for authentication: its last four bytes (AN10927, section 3.2.5).
  private let uid: [UInt8]
  private let sectorCount: Int
  private var authenticated: (sector: MIFAREClassicSector, key: MIFAREClassicKey)?
  /// The known NDEF sectors: one run without a gap.
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

  /// The addresses of the data area.
  var area: Range<Int> { 0..<sectors.reduce(0) { $0 + $1.dataSize } }

  /// The directory sectors that the NDEF sectors depend on.
  var directorySectors: [MIFAREClassicSector] {
    [MIFAREClassicSector(number: 0)]
      + (sectors.contains { $0.number > 16 } ? [MIFAREApplicationDirectory.secondSector] : [])
  }

  /// Reads the first part of the directory. If it names no NDEF sector, reads the second part as well.
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

  /// Reads the second part of the directory if the run of NDEF sectors may continue there. Returns true if more sectors
  /// were found.
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

  /// Looks for the NDEF TLV.
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

  /// Reads the bytes at these addresses that are not known yet.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagWriteError) {
    for address in addresses where memory[address] == nil { try fetch(address, &channel) }
  }

  /// The sector and the block that hold an address of the data area.
  func place(of address: Int) -> (sector: MIFAREClassicSector, block: Int)? {
    var rest = address
    for sector in sectors {
      if rest < sector.dataSize { return (sector, sector.firstBlock + rest / Self.blockSize) }
      rest -= sector.dataSize
    }
    return nil
  }

  /// Writes a block of the data area.
  mutating func write(_ contents: [UInt8], at address: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard let (sector, block) = place(of: address) else { return }
    try requireKey(sector, .ndef, &channel)
    try write(contents, toBlock: block, &channel)
    memory.learn(contents, at: address - address % Self.blockSize)
  }

  /// Reads a block of a sector, using a key that the tag is known to have.
  mutating func contents(
    ofBlock block: Int, of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [UInt8] {
    try requireKey(sector, key, &channel)
    return try read(block, &channel)
  }

  /// Reads a sector's trailer, using a public key A.
  mutating func trailer(
    of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> MIFAREClassicTrailer {
    try requireKey(sector, key, &channel)
    guard let trailer = MIFAREClassicTrailer(try read(sector.trailerBlock, &channel)) else {
      throw .refused(.damaged, "the access bits of sector \(sector.number) contradict each other")
    }
    return trailer
  }

  /// Writes a sector's trailer, using a key that the tag is known to have.
  mutating func writeTrailer(
    _ bytes: [UInt8], of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    try requireKey(sector, key, &channel)
    try write(bytes, toBlock: sector.trailerBlock, &channel)
  }

  /// Writes a block of a sector, using a key that the tag is known to have.
  mutating func write(
    _ contents: [UInt8], toBlock block: Int, of sector: MIFAREClassicSector, _ key: MIFAREClassicKey,
    _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    try requireKey(sector, key, &channel)
    try write(contents, toBlock: block, &channel)
  }

  /// Authenticates a sector with a key, unless the sector is already open with this key. Returns false if the tag is
  /// present but has another key.
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

  /// Returns the NDEF sectors; nil if the checksum is wrong.
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

  /// Sends READ for a block of the open sector.
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
