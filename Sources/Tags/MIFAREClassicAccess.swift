/// The way into the sectors of one tag: what is authenticated, where the NDEF sectors are, and what is known of them.
///
/// Their data blocks, one behind the other without the trailers, are one memory with addresses from 0.
struct MIFAREClassicAccess {
  private static let blockSize = MIFAREClassicSector.blockSize
  /// Sectors 1 to 15, 17 to 31 and 32 to 39.
  private static let largestMemory = (30 * 3 + 8 * 15) * blockSize

  /// The part of the UID that goes into an authentication: its last four bytes (AN10927, section 3.2.5).
  private let uid: [UInt8]
  private let sectorCount: Int
  private var authenticated: (sector: MIFAREClassicSector, key: MIFAREClassicKey)?
  /// The sectors with NDEF, as far as they are known: one run without a gap.
  private(set) var sectors: [MIFAREClassicSector] = []
  /// Whether the second part of the directory may add to them.
  private var mayGoOn = false
  /// Whether the second part of the directory was asked for, and is not to be had.
  private(set) var hasClosedSectors = false
  private(set) var memory = TagMemory(size: largestMemory)

  init(uid: [UInt8], sak: UInt8) {
    self.uid = Array(uid.suffix(4))
    sectorCount = MIFAREClassicSector.count(sak: sak)
  }

  /// The addresses of the data area.
  var area: Range<Int> { 0..<sectors.reduce(0) { $0 + $1.dataSize } }

  /// The sectors of the directory, which the run of NDEF sectors needs.
  var directorySectors: [MIFAREClassicSector] {
    [MIFAREClassicSector(number: 0)]
      + (sectors.contains { $0.number > 16 } ? [MIFAREApplicationDirectory.secondSector] : [])
  }

  /// Reads the first part of the directory, and where that names no sector the second.
  mutating func open(_ channel: inout some TagChannel) throws(TagStop) {
    let first = MIFAREClassicSector(number: 0)
    guard try authenticate(first, .directory, &channel) else {
      throw .silence(.notNDEF, "there is no application directory that everybody may read")
    }
    guard let named = try directory(of: first, blocks: 1...2, from: 1, &channel) else {
      throw .problem(TagProblem(.notNDEF, "the checksum of the application directory is wrong"))
    }
    sectors = Self.run(named.filter { $0.number < sectorCount })
    mayGoOn = sectorCount > 16 && (sectors.isEmpty || sectors.last?.number == 15)
    if sectors.isEmpty { try extend(&channel) }
    guard !sectors.isEmpty else {
      throw .problem(TagProblem(.notNDEF, "no sector belongs to NDEF"))
    }
  }

  /// Reads the second part of the directory where the run of NDEF sectors may go on there.
  ///
  /// - Returns: whether there are more of them now.
  @discardableResult
  mutating func extend(_ channel: inout some TagChannel) throws(TagStop) -> Bool {
    guard mayGoOn else { return false }
    mayGoOn = false
    let second = MIFAREApplicationDirectory.secondSector
    // What was not heard is asked again.
    var isOpen = try authenticate(second, .directory, &channel)
    if !isOpen { isOpen = try authenticate(second, .directory, &channel) }
    guard isOpen else {
      hasClosedSectors = true
      return false
    }
    // A damaged second part names no sectors; those of the first are as good as ever.
    guard let named = try directory(of: second, blocks: 64...66, from: 17, &channel) else { return false }
    // Between the sectors 15 and 17 lies that of the directory.
    guard sectors.isEmpty || named.first?.number == 17 else { return false }
    let more = Self.run(named)
    sectors += more
    return !more.isEmpty
  }

  /// Looks for the NDEF TLV.
  mutating func block(_ channel: inout some TagChannel) throws(TagStop) -> NDEFBlock {
    while true {
      switch TLVBlocks.find(in: memory, area: area) {
      case .needs(let address): try fetch(address, &channel)
      case .found(let block): return block
      case .absent: try lookFurther(&channel, TLVBlocks.absence)
      case .problem(let problem): try lookFurther(&channel, problem)
      }
    }
  }

  private mutating func lookFurther(_ channel: inout some TagChannel, _ problem: TagProblem) throws(TagStop) {
    if mayGoOn { try finishSector(&channel) }
    guard try extend(&channel) else { throw .problem(problem) }
  }

  /// A block that goes beyond what is known of the area needs the rest of the open sector, which would have to be opened again.
  private mutating func finishSector(_ channel: inout some TagChannel) throws(TagStop) {
    var start = 0
    for sector in sectors {
      if sector == authenticated?.sector { return try require(start..<start + sector.dataSize, &channel) }
      start += sector.dataSize
    }
  }

  /// Fetches what is not known yet of these addresses.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagStop) {
    for address in addresses where memory[address] == nil { try fetch(address, &channel) }
  }

  /// The sector and the block behind an address of the data area.
  func place(of address: Int) -> (sector: MIFAREClassicSector, block: Int)? {
    var rest = address
    for sector in sectors {
      if rest < sector.dataSize { return (sector, sector.firstBlock + rest / Self.blockSize) }
      rest -= sector.dataSize
    }
    return nil
  }

  /// Writes a block of the data area.
  mutating func write(_ contents: [UInt8], at address: Int, _ channel: inout some TagChannel) throws(TagStop) {
    guard let (sector, block) = place(of: address) else { return }
    try requireKey(sector, .ndef, &channel)
    try write(contents, toBlock: block, &channel)
    memory.learn(contents, at: address - address % Self.blockSize)
  }

  /// A sector's trailer, opened with a key A that everybody knows.
  mutating func trailer(
    of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagStop) -> MIFAREClassicTrailer {
    try requireKey(sector, key, &channel)
    guard let trailer = MIFAREClassicTrailer(try read(sector.trailerBlock, &channel)) else {
      throw .problem(TagProblem(.damaged, "the access bits of sector \(sector.number) contradict each other"))
    }
    return trailer
  }

  /// Writes a sector's trailer with a key that the tag is known to have.
  mutating func writeTrailer(
    _ bytes: [UInt8], of sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagStop) {
    try requireKey(sector, key, &channel)
    try write(bytes, toBlock: sector.trailerBlock, &channel)
  }

  /// Opens a sector, where it is not open with this key.
  ///
  /// - Returns: false where the tag is there and has another key.
  mutating func authenticate(
    _ sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagStop) -> Bool {
    if let authenticated, authenticated == (sector, key) { return true }
    authenticated = nil
    let block = UInt8(truncatingIfNeeded: sector.firstBlock)
    do throws(TagChannelError) {
      _ = try channel.exchange([key.slot.rawValue, block] + key.bytes + uid)
    } catch {
      guard error.code == .noAnswer else { throw .channel(error) }
      // Silent until it is selected anew, if it is there.
      try reselect(&channel)
      return false
    }
    authenticated = (sector, key)
    return true
  }

  private func reselect(_ channel: inout some TagChannel) throws(TagStop) {
    do throws(TagChannelError) { try channel.reselect() } catch { throw .channel(error) }
  }

  private mutating func requireKey(
    _ sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ channel: inout some TagChannel
  ) throws(TagStop) {
    guard try authenticate(sector, key, &channel) else {
      throw .problem(TagProblem(.damaged, "sector \(sector.number) does not open with the key that it should have"))
    }
  }

  /// - Returns: the sectors of NDEF; nil where the checksum is wrong.
  private mutating func directory(
    of sector: MIFAREClassicSector, blocks: ClosedRange<Int>, from first: Int, _ channel: inout some TagChannel
  ) throws(TagStop) -> [MIFAREClassicSector]? {
    var bytes: [UInt8] = []
    for block in blocks { bytes += try read(block, &channel) }
    return MIFAREApplicationDirectory.ndefSectors(bytes, from: first)
  }

  private mutating func fetch(_ address: Int, _ channel: inout some TagChannel) throws(TagStop) {
    guard let (sector, block) = place(of: address) else { return }
    try requireKey(sector, .ndef, &channel)
    memory.learn(try read(block, &channel), at: address - address % Self.blockSize)
  }

  /// READ: of the sector that is open.
  private mutating func read(_ block: Int, _ channel: inout some TagChannel) throws(TagStop) -> [UInt8] {
    // What was not heard is asked again; a tag that is there and refuses twice protects the block.
    let open = authenticated
    var answer = try ask(forBlock: block, &channel)
    if answer == nil, let open, try authenticate(open.sector, open.key, &channel) {
      answer = try ask(forBlock: block, &channel)
    }
    guard let answer else {
      throw .silence(.unsupported, "the tag does not let everybody read it")
    }
    guard answer.count >= Self.blockSize else {
      throw .problem(TagProblem(.damaged, "the tag answered READ with less than 16 bytes"))
    }
    return Array(answer.prefix(Self.blockSize))
  }

  /// - Returns: nil where the tag is there and does not answer; no sector is open then.
  private mutating func ask(
    forBlock block: Int, _ channel: inout some TagChannel
  ) throws(TagStop) -> [UInt8]? {
    do throws(TagChannelError) {
      return try channel.exchange([0x30, UInt8(truncatingIfNeeded: block)])
    } catch {
      guard error.code == .noAnswer else { throw .channel(error) }
    }
    authenticated = nil
    try reselect(&channel)
    return nil
  }

  private func write(_ bytes: [UInt8], toBlock block: Int, _ channel: inout some TagChannel) throws(TagStop) {
    do throws(TagChannelError) {
      _ = try channel.exchange([0xA0, UInt8(truncatingIfNeeded: block)] + bytes)
    } catch {
      throw .channel(error)
    }
  }

  /// The first of them and those that follow it without a gap.
  private static func run(_ sectors: [MIFAREClassicSector]) -> [MIFAREClassicSector] {
    guard let first = sectors.first else { return [] }
    return Array(zip(sectors, first.number...).prefix { $0.number == $1 }.map(\.0))
  }
}
