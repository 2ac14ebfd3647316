/// The memory of a selected Type 2 tag (Type 2 Tag Operation Specification 1.1, section 5): pages of 4 bytes, in
/// sectors of 256 pages. Every byte that has been read is cached.
struct Type2Access {
  static let pageSize = 4
  private static let acknowledgement: [UInt8] = [0x0A]
  private static let getVersion: [UInt8] = [0x60]
  private static let sectorSelect: [UInt8] = [0xC2, 0xFF]
  /// The first byte behind the capability container.
  private static let firstByte = 16
  /// With the lock bytes behind it.
  private static let most = 16 + 255 * 8 + 64

  private(set) var memory = TagMemory(size: most)
  private(set) var area = firstByte..<firstByte
  private let uid: [UInt8]
  private var sector = 0
  private var fastRead: Type2ReadPlan.FastRead?
  /// Nil until `identify` has found it.
  private(set) var model: Type2Model?
  /// Nil until `identify` got one.
  private var versionAnswer: [UInt8]?
  /// The reader can send GET_VERSION. Some readers can only send READ and WRITE.
  private(set) var canAskForModel = true
  /// The first page that cannot be reached, because the reader cannot send SECTOR SELECT; `Int.max` if it can.
  private(set) var pageLimit = Int.max

  /// If the UID has seven bytes, the first pages of the tag hold it.
  init(uid: [UInt8]) { self.uid = uid }

  private var beyondLimit: TagWriteError {
    .refused(
      .unsupported,
      "the NDEF message goes beyond page \(min(pageLimit, 0x100) - 1) of the tag, and this reader cannot read further")
  }

  private var manufacturer: UInt8? { uid.first }
  var isNXP: Bool { manufacturer == 0x04 }

  /// Empty until it was read.
  var container: [UInt8] { memory.known(at: 12..<16) }

  /// Finds out which commands the reader can send, and reads the first pages. Page 3 is the capability container. Page
  /// 2 holds the static lock bytes.
  mutating func begin(from page: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    canAskForModel = channel.canSend(Self.getVersion)
    if !channel.canSend(Self.sectorSelect) {
      pageLimit = (0x04...0xFF).first { !channel.canSend([0x30, UInt8($0)]) } ?? 0x100
    }
    if !channel.canSend([0x3A, 0x04, 0x04]) { fastRead = .absent }
    try read(page, &channel)
  }

  /// Does the same, and checks that the tag is formatted for NDEF.
  mutating func open(from page: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    try begin(from: page, &channel)
    let container = container
    guard container[0] == 0xE1 else {
      throw .refused(.notNDEF, "there is no capability container in page 3")
    }
    guard container[1] >> 4 == 1 else {
      throw .refused(.unsupported, "it is formatted for mapping version \(container[1] >> 4) of Type 2")
    }
    guard container[3] >> 4 == 0 else {
      throw .refused(.unsupported, "the tag does not let everybody read it")
    }
    area = Self.firstByte..<Self.firstByte + Int(container[2]) * 8
  }

  /// Finds the model of the tag, and limits the data area to the memory that this model has. The capability container
  /// alone does not bound a write: it is in one-time programmable bits, and some programs write other numbers into it.
  ///
  /// Without `isExact`, the model stays unknown if it has more memory than the container says. With it, the model stays
  /// unknown if the memory may continue with pages that need the password to be read.
  mutating func identify(isExact: Bool = false, _ channel: inout some TagChannel) throws(TagWriteError) {
    versionAnswer = try version(&channel)
    if let versionAnswer {
      model = Type2Model.ofVersion(versionAnswer)
    } else if isNXP, uid.count == 7 {
      model = try modelByEnd(isExact: isExact, &channel)
    }
    let mostBytes = versionAnswer.map(Type2Model.mostBytes(ofVersion:)) ?? .max
    limit(to: model?.bytes ?? Type2Model.mostBytes(claimed: min(area.count, mostBytes)))
    guard model == nil, let last = area.last else { return }
    let page = min(last / Self.pageSize, pageLimit - 1)
    guard try isReadable(page, &channel) else {
      throw .silence(
        .damaged, "its capability container claims more memory than the tag has, or the tag needs its password")
    }
    // READ has also returned the next three pages. The last page of some sizes is the password of a smaller model.
    for end in page + 1...page + 3 where isFirstPage(at: end) {
      limit(to: Type2Model.ending(at: end)?.bytes ?? .max)
    }
  }

  private mutating func limit(to bytes: Int) { area = area.prefix(bytes) }

  /// The model of an NXP tag that does not answer GET_VERSION, or cannot be asked: READ continues behind the last page
  /// with the first one.
  private mutating func modelByEnd(
    isExact: Bool, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Type2Model? {
    for end in Type2Model.ends(upTo: isExact ? .max : container[2], isCertain: !canAskForModel && !isExact) {
      if !isSeen(end) {
        // This page exists, because the memory has not ended before it.
        guard try isReadable(end - 1, &channel) else { return nil }
      }
      guard isFirstPage(at: end), let model = Type2Model.ending(at: end) else { continue }
      let isDoubtful = model.size < container[2] || Type2Model.isProtected(from: end, size: container[2], memory)
      return isExact && isDoubtful ? nil : model
    }
    return nil
  }

  private func isSeen(_ page: Int) -> Bool {
    memory[page * Self.pageSize] != nil && (!isFirstPage(at: page) || memory[(page + 2) * Self.pageSize] != nil)
  }

  /// Whether every page is known to have its lock bits in those of the model, or in the static ones if the model is not
  /// known. Call this after they were set.
  ///
  /// The contents of a page may be a copy of the first pages, so that the memory seems to end there. A copy does not
  /// have the lock bits that were set just now.
  mutating func isEndCertain(_ channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    if let versionAnswer {
      if model != nil { return true }
      guard Type2Model.mostBytes(ofVersion: versionAnswer) <= 48 else { return false }
    }
    let end = model?.end ?? 0x10
    guard try isReadable(end - 1, &channel) else { return false }
    return isFirstPage(at: end)
  }

  /// The addresses at which the tag returns other bytes than it holds.
  mutating func mirroredAddresses(_ channel: inout some TagChannel) throws(TagWriteError) -> Range<Int> {
    try identify(&channel)
    guard let mirror = model?.mirror, let page = model?.protection?.page, try isReadable(page, &channel)
    else { return 0..<0 }
    return mirror.addresses(memory.known(at: page * Self.pageSize..<(page + 1) * Self.pageSize))
  }

  /// For the pages from 16 on.
  var whyLocksAreUnknown: String {
    if versionAnswer != nil, let model {
      return model.locks.areCertain ? "this reader does not reach its lock bits" : "its lock bits are not known"
    }
    return canAskForModel ? "its model is not known" : "this reader cannot ask for its model"
  }

  /// A formatted tag without an NDEF TLV but with room for one is treated as empty: a write adds the TLV.
  mutating func block(_ channel: inout some TagChannel) throws(TagWriteError) -> NDEFBlock {
    while true {
      switch TLVBlocks.find(in: memory, area: area) {
      case .needs(let address): try require([address], &channel)
      case .found(let block): return block
      case .absent(let place):
        guard place.addresses.count > 1 else { throw .refused(TLVBlocks.absence) }
        return place
      case .problem(let problem): throw .refused(problem)
      }
    }
  }

  /// Whether the data area of this size holds only zeros. `besides` may be at its beginning.
  mutating func isUnused(
    _ size: Int, besides: [UInt8], _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    area = Self.firstByte..<Self.firstByte + size
    try require(area, &channel)
    let bytes = memory.known(at: area)
    return (bytes.starts(with: besides) ? bytes.dropFirst(besides.count) : bytes[...]).allSatisfy { $0 == 0 }
  }

  /// Skips the bytes that are known.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagWriteError) {
    var missing: [Int] = []
    for address in addresses where memory[address] == nil && missing.last != address / Self.pageSize {
      missing.append(address / Self.pageSize)
    }
    if let last = missing.last, last >= pageLimit { throw beyondLimit }
    let lastPage = area.upperBound / Self.pageSize - 1
    while true {
      let fastRead = self.fastRead ?? Type2ReadPlan.fastRead(manufacturer: manufacturer, memory)
      switch Type2ReadPlan.next(missing: missing, lastPage: lastPage, fastRead: fastRead) {
      case .read(let page): try read(page, &channel)
      case .fastRead(let pages): try read(pages, isKnown: fastRead == .certain, &channel)
      case nil: return
      }
      missing.removeAll { memory[$0 * Self.pageSize] != nil }
    }
  }

  /// READ returns four pages.
  mutating func read(_ page: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard try isReadable(page, &channel) else {
      throw .silence(.unsupported, "the tag does not let everybody read it")
    }
  }

  /// For a page that the tag may protect.
  mutating func isReadable(_ page: Int, _ channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    // Retry once, in case the tag did not receive the command. A tag that is present and refuses twice protects the
    // page.
    var answer = try askForPages(from: page, &channel)
    if answer == nil { answer = try askForPages(from: page, &channel) }
    guard let answer else { return false }
    guard answer.count >= 16 else {
      throw .refused(.damaged, "the tag answered READ with less than 16 bytes")
    }
    // Behind the last page of a sector, the answer does not continue with the next page numbers.
    memory.learn(answer.prefix(min(16, (0x100 - page & 0xFF) * Self.pageSize)), at: page * Self.pageSize)
    return true
  }

  /// Reads the page also if it is known.
  ///
  /// A reader that cannot send every command may lose a tag that refuses a page until the tag is taken away. On such a
  /// reader, the four pages that READ returns end with this one, because the tag may have no page behind it.
  mutating func readLocks(inPage page: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    try read(canAskForModel ? page : max(page & ~0xFF, page - 3), &channel)
  }

  private mutating func askForPages(
    from page: Int, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [UInt8]? {
    try select(sector: page >> 8, &channel)
    return try ask([0x30, UInt8(page & 0xFF)], &channel)
  }

  /// FAST_READ. A refusal means that the tag does not support it. If the tag is known to support it, the command was
  /// lost, and is sent again.
  private mutating func read(
    _ pages: ClosedRange<Int>, isKnown: Bool, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    var answer = try askForAll(pages, &channel)
    if isKnown, answer == nil { answer = try askForAll(pages, &channel) }
    guard let answer, answer.count == pages.count * Self.pageSize else {
      fastRead = .absent
      return
    }
    fastRead = .certain
    memory.learn(answer, at: pages.lowerBound * Self.pageSize)
  }

  private mutating func askForAll(
    _ pages: ClosedRange<Int>, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [UInt8]? {
    try select(sector: pages.lowerBound >> 8, &channel)
    return try ask([0x3A, UInt8(pages.lowerBound & 0xFF), UInt8(pages.upperBound & 0xFF)], &channel)
  }

  /// GET_VERSION. An NXP tag that does not answer gets one retry, in case the command was lost. Nil if the tag does not
  /// support the command, or the reader cannot send it.
  mutating func version(_ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8]? {
    guard canAskForModel else { return nil }
    if let version = try ask(Self.getVersion, &channel) { return version }
    return isNXP ? try ask(Self.getVersion, &channel) : nil
  }

  /// READ continues with the first page behind the last one. The first three pages hold the UID with its check bytes
  /// (ISO/IEC 14443-3, 6.5.4), and the static lock bytes. Only known bytes are compared.
  private func isFirstPage(at page: Int) -> Bool {
    guard uid.count == 7 else { return false }
    let serial = uid[0..<3] + [uid[0..<3].reduce(0x88, ^)] + uid[3..<7] + [uid[3..<7].reduce(0, ^)]
    let first = serial + memory.known(at: serial.count..<12)
    let bytes = memory.known(at: page * Self.pageSize..<page * Self.pageSize + first.count)
    return !bytes.isEmpty && first.starts(with: bytes)
  }

  /// Some readers lose the acknowledgement of a page that was written, so without one the page is read.
  mutating func write(_ data: [UInt8], to page: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    if try isAccepted(data, page, &channel) { return }
    let start = page * Self.pageSize
    guard try isReadable(page, &channel), memory.known(at: start..<start + Self.pageSize) == data else {
      throw .channel(TagChannelError(.noAnswer, "the tag does not confirm that it was written"))
    }
  }

  /// False if the tag refuses the page.
  mutating func isAccepted(
    _ data: [UInt8], _ page: Int, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    try select(sector: page >> 8, &channel)
    guard try ask([0xA2, UInt8(page & 0xFF)] + data, &channel) == Self.acknowledgement else { return false }
    memory.learn(data, at: page * Self.pageSize)
    return true
  }

  /// Changes to another sector, and reads its first pages to prove the change. Silence confirms a change (see below),
  /// but a tag that did not receive the sector number is silent too. Reads and writes would then go to the wrong
  /// sector.
  ///
  /// The way back to sector 0 is a reselection, which needs no proof.
  private mutating func select(sector wanted: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard wanted != sector else { return }
    if sector != 0 { try reselect(&channel) }
    guard wanted != 0 else { return }
    for _ in 0..<2 {
      try name(sector: wanted, &channel)
      if let answer = try ask([0x30, 0x00], &channel), answer.count >= 16 {
        if !isFirstSector(answer) {
          memory.learn(answer.prefix(16), at: (wanted << 8) * Self.pageSize)
          return
        }
        try reselect(&channel)
      }
    }
    throw .channel(TagChannelError(.transmission, "the tag does not change its sector"))
  }

  /// Compares UID and capability container.
  private func isFirstSector(_ pages: [UInt8]) -> Bool {
    guard Array(pages[12..<16]) == container else { return false }
    return uid.count != 7 || Array(pages[0..<3] + pages[4..<8]) == uid
  }

  /// In two packets. Silence confirms the second packet (section 5.4).
  private mutating func name(sector wanted: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard pageLimit > 0x100 else { throw beyondLimit }
    // Retry once, in case the tag did not receive the command.
    var answer = try ask(Self.sectorSelect, &channel)
    if answer == nil { answer = try ask(Self.sectorSelect, &channel) }
    guard (0...0xFE).contains(wanted), answer == Self.acknowledgement else {
      throw .silence(.unsupported, "the NDEF message goes beyond the first sector of the tag")
    }
    guard try channel.askOrNil([UInt8(wanted), 0, 0, 0]) == nil else {
      throw .refused(.damaged, "the tag has no sector \(wanted)")
    }
    sector = wanted
  }

  /// Leaves the tag in the state in which it was found.
  mutating func close(_ channel: inout some TagChannel) throws(TagWriteError) {
    try select(sector: 0, &channel)
  }

  /// If the tag refuses the command, reselects the tag and returns nil.
  private mutating func ask(_ command: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8]? {
    if let answer = try channel.askOrNil(command) { return answer }
    try reselect(&channel)
    return nil
  }

  /// The tag is then in sector 0.
  mutating func reselect(_ channel: inout some TagChannel) throws(TagWriteError) {
    try channel.reselectTag()
    sector = 0
  }
}

/// Chooses the next command that reads pages of a Type 2 tag in the fewest exchanges.
///
/// READ returns four pages. FAST_READ returns any number of pages, but not every tag supports it. GET_VERSION would
/// reveal support at the cost of one exchange. Trying FAST_READ costs the same, and returns the pages if it succeeds.
enum Type2ReadPlan {
  enum Step: Equatable {
    case read(page: Int)
    case fastRead(ClosedRange<Int>)
  }

  enum FastRead {
    case certain, unknown, absent
  }

  /// In one answer. Its 240 bytes, the CRC and the status fit into a normal frame of a PN53x, and into an APDU of a
  /// reader that wraps its frames.
  static let mostPages = 60
  /// The cost of trying FAST_READ on a tag that does not support it: the refused exchange.
  static let refusalCost = 1

  /// The next command; nil if no page is missing. `missing` is ascending. READ does not go beyond `lastPage`, the last
  /// page of the data area, unless a missing page lies there.
  static func next(missing: [Int], lastPage: Int, fastRead: FastRead) -> Step? {
    guard let first = missing.first else { return nil }
    let saved = reads(missing, lastPage) - fastReads(missing)
    let isWorthwhile =
      switch fastRead {
      case .certain: saved > 0
      case .unknown: saved > refusalCost
      case .absent: false
      }
    return isWorthwhile ? .fastRead(span(missing[...])) : .read(page: start(of: first, lastPage))
  }

  /// Support for FAST_READ as far as it is known without an exchange, for NXP tags (UID 04). Three models have 144
  /// bytes. The NTAG213 supports FAST_READ, and leaves the factory with this lock control TLV. NTAG203 and Ultralight C
  /// do not support it. Returns `unknown` for all other tags. The memory has the capability container and, if known,
  /// the start of the data area. `manufacturer` is the first byte of the UID.
  static func fastRead(manufacturer: UInt8?, _ memory: TagMemory) -> FastRead {
    guard manufacturer == 0x04, let size = memory[14] else { return .unknown }
    if size == 0x12, memory.known(at: 16..<21) == [0x01, 0x03, 0xA0, 0x0C, 0x34] { return .certain }
    return Type2Model.knowFastRead(size: size) ? .certain : .unknown
  }

  /// Of four pages that include `page`: at `page`, or earlier at the end of the data area or sector.
  private static func start(of page: Int, _ lastPage: Int) -> Int {
    let last = min(max(lastPage, page), page | 0xFF)
    return max(min(page, last - 3), page & ~0xFF, min(page, 3))
  }

  private static func reads(_ missing: [Int], _ lastPage: Int) -> Int {
    var count = 0
    var end = 0
    for page in missing where page >= end {
      end = start(of: page, lastPage) + 4
      count += 1
    }
    return count
  }

  private static func fastReads(_ missing: [Int]) -> Int {
    var count = 0
    var rest = missing[...]
    while !rest.isEmpty {
      let last = span(rest).upperBound
      rest = rest.drop { $0 <= last }
      count += 1
    }
    return count
  }

  /// The pages from the first missing one that fit into one answer, within one sector. Pages in between that are not
  /// missing are included, because a second exchange would take longer.
  private static func span(_ missing: ArraySlice<Int>) -> ClosedRange<Int> {
    let first = missing.first ?? 0
    let end = min(first + mostPages, (first | 0xFF) + 1)
    return first...(missing.last { $0 < end } ?? first)
  }
}
