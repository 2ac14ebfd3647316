/// The commands of NFC Forum Type 2 (Type 2 Tag Operation Specification, section 5; NTAG213/215/216 data sheet, section
/// 10).
struct SimulatedType2: TypeAApplication {
  private var pages: Type2Memory
  /// The page from the first half of a COMPATIBILITY WRITE.
  private var compatibilityWritePage: Int?
  private var sector = 0
  /// Whether the first packet of SECTOR SELECT has arrived.
  private var awaitsSector = false

  private static let invalidArgument: UInt8 = 0x0
  private static let transmissionError: UInt8 = 0x1

  init(_ pages: Type2Memory) { self.pages = pages }

  var atqa: [UInt8] { [0x44, 0x00] }
  var sak: UInt8 { 0x00 }
  var memory: [UInt8] { pages.bytes }
  mutating func tearWrites(_ tear: WriteTear?) { pages.writeTear = tear }
  var isInBlockProtocol: Bool { false }

  mutating func deactivate() {
    compatibilityWritePage = nil
    awaitsSector = false
    sector = 0
  }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    guard let data, let command = data.first else { return .refuse(Self.transmissionError) }
    if let page = compatibilityWritePage {
      compatibilityWritePage = nil
      guard data.count == 16 else { return .refuse(Self.invalidArgument) }
      return write(Array(data[0..<4]), page: page)
    }
    if awaitsSector {
      awaitsSector = false
      return select(sector: data)
    }
    switch (command, data.count) {
    case (0x30, 2): return answer(pages.read(page: address(data[1])))
    case (0xA2, 6): return write(Array(data[2..<6]), page: address(data[1]))
    case (0xA0, 2):
      let page = address(data[1])
      guard page >= 2, pages.model.hasPage(page) else { return .refuse(Self.invalidArgument) }
      compatibilityWritePage = page
      return .acknowledge
    case (0x60, 1): return pages.model.version.map(TypeAReply.data) ?? unknownCommand
    case (0x3A, 3):
      guard pages.model.version != nil else { return unknownCommand }
      guard data[1] <= data[2] else { return .refuse(Self.invalidArgument) }
      return answer(pages.read(pages: address(data[1])...address(data[2])))
    case (0xC2, 2):
      guard pages.model.hasSectors else { return unknownCommand }
      guard data[1] == 0xFF else { return .refuse(Self.invalidArgument) }
      awaitsSector = true
      return .acknowledge
    // The first half of the authentication. The second half always fails here.
    case (0x1A, 2):
      return pages.model.hasTripleDES ? .data([0xAF] + [UInt8](repeating: 0x5A, count: 8)) : unknownCommand
    default: return unknownCommand
    }
  }

  /// Selects a sector. The tag confirms this by silence.
  private mutating func select(sector data: [UInt8]) -> TypeAReply {
    guard data.count == 4, pages.model.hasPage(Int(data[0]) << 8) else { return .refuse(Self.invalidArgument) }
    sector = Int(data[0])
    return .ignore
  }

  private func address(_ page: UInt8) -> Int { sector << 8 | Int(page) }

  private var unknownCommand: TypeAReply {
    pages.model.isSilentAtUnknownCommands ? .leave : .refuse(Self.invalidArgument)
  }

  private func answer(_ bytes: [UInt8]?) -> TypeAReply {
    bytes.map(TypeAReply.data) ?? .refuse(Self.invalidArgument)
  }

  private mutating func write(_ data: [UInt8], page: Int) -> TypeAReply {
    pages.write(data, page: page) ? .acknowledge : .refuse(Self.invalidArgument)
  }
}

/// The memory of a Type 2 tag: pages of four bytes, and their write protection (NTAG213/215/216 data sheet, section
/// 8.5; MF0ICU1 data sheet, section 7.5).
struct Type2Memory: Sendable {
  let model: SimulatedType2Model
  private(set) var bytes: [UInt8]
  /// How far further writes get before the tag loses its power; nil if they complete. Bits that can only be set are not
  /// erased first.
  var writeTear: WriteTear?

  /// A tag with `message`, which may be empty, in an NDEF TLV. `uid` has the seven bytes of the first pages; it is
  /// empty for another kind of UID. If `hasLockControl`, the model's factory lock control TLV precedes the message.
  /// Fails if it does not fit.
  init(
    model: SimulatedType2Model, uid: [UInt8], message: [UInt8], hasLockControl: Bool = false
  ) throws(SimulatorError) {
    let control = hasLockControl ? model.lockControl : []
    try self.init(model: model, uid: uid, contents: control + SimulatedTag.tlv(message), terminated: true)
  }

  /// A tag with arbitrary `contents` from page 4 on. Fails if they do not fit.
  init(model: SimulatedType2Model, uid: [UInt8], contents: [UInt8], terminated: Bool = false) throws(SimulatorError) {
    guard contents.count <= model.capacity else {
      throw SimulatorError("\(contents.count) bytes do not fit into the \(model.capacity) of an \(model.name)")
    }
    var bytes = Self.blank(model, uid: uid)
    bytes.replaceSubrange(16..<(16 + contents.count), with: contents)
    if terminated && contents.count < model.capacity { bytes[16 + contents.count] = 0xFE }
    self.model = model
    self.bytes = bytes
  }

  /// A tag from a dump, from page 0 on. Bytes missing at the end have their factory value. Fails if it has more bytes
  /// than the model.
  init(model: SimulatedType2Model, uid: [UInt8], image: [UInt8]) throws(SimulatorError) {
    guard image.count <= model.pageCount * 4 else {
      throw SimulatorError("\(image.count) bytes are more than the \(model.pageCount * 4) of an \(model.name)")
    }
    var bytes = Self.blank(model, uid: uid)
    bytes.replaceSubrange(0..<image.count, with: image)
    self.model = model
    self.bytes = bytes
  }

  private static func blank(_ model: SimulatedType2Model, uid: [UInt8]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: model.pageCount * 4)
    if uid.count == 7 {
      let first = uid[0..<3] + [0x88 ^ uid[0] ^ uid[1] ^ uid[2]]
      let second = uid[3..<7] + [uid[3] ^ uid[4] ^ uid[5] ^ uid[6], 0x48]
      bytes.replaceSubrange(0..<10, with: first + second)
    }
    bytes.replaceSubrange(12..<16, with: [0xE1, 0x10, model.capacityCode, 0x00])
    // A model with a password has two configuration pages, and its last lock byte is fixed.
    if let configuration = model.configuration {
      bytes.replaceSubrange((configuration * 4)..<(configuration * 4 + 8), with: [0x04, 0, 0, 0xFF, 0x00, 0x05, 0, 0])
      if let page = model.dynamicLockPage { bytes[page * 4 + 3] = 0xBD }
    }
    // AUTH0 of an Ultralight C.
    if model.hasTripleDES { bytes[0x2A * 4] = 0x30 }
    return bytes
  }

  /// READ of four pages; nil if the first is not readable. Passwords read as zero. Pages after the last one read as the
  /// model's `end` says.
  func read(page: Int) -> [UInt8]? {
    guard isReadable(page) else { return nil }
    return (page..<page + 4).flatMap { next in
      switch model.end {
      case .rollsOver: contents(of: next % (lastReadable + 1))
      case .zeros: next >> 8 == page >> 8 && isReadable(next) ? contents(of: next) : [0, 0, 0, 0]
      }
    }
  }

  /// FAST_READ. Nil if one of the pages is not readable.
  func read(pages: ClosedRange<Int>) -> [UInt8]? {
    guard pages.allSatisfy(isReadable) else { return nil }
    return pages.flatMap(contents(of:))
  }

  private func isReadable(_ page: Int) -> Bool { model.hasPage(page) && page <= lastReadable }

  /// The last page that is readable without the password or the key.
  private var lastReadable: Int { min(model.lastReadable, isReadingProtected ? firstProtectedPage - 1 : Int.max) }

  /// AUTH0: the first page that needs the password or the key (NTAG213/215/216 data sheet, section 8.5.7; MF0ICU2 data
  /// sheet, section 7.5.8).
  private var firstProtectedPage: Int {
    if model.hasTripleDES { return Int(bytes[0x2A * 4]) }
    return model.configuration.map { Int(bytes[$0 * 4 + 3]) } ?? .max
  }

  /// Bit 7 of ACCESS, or bit 0 of AUTH1: whether reading needs the password or the key too.
  private var isReadingProtected: Bool {
    if model.hasTripleDES { return bytes[0x2B * 4] & 0x01 == 0 }
    return model.configuration.map { bytes[($0 + 1) * 4] & 0x80 != 0 } ?? false
  }

  private func contents(of page: Int) -> [UInt8] {
    if let secrets = model.secrets, secrets.contains(page) { return [0, 0, 0, 0] }
    let mirror = mirror
    return (page * 4..<page * 4 + 4).map { address in
      let index = address - mirror.start
      return mirror.text.indices.contains(index) ? mirror.text[index] : bytes[address]
    }
  }

  /// The text that reads return from an address on instead of the memory: the UID, the counter, which is zero here, or
  /// both (NTAG213_215_216 3.2, section 8.7; NTAG210_212 3.0, section 8.6).
  private var mirror: (start: Int, text: [UInt8]) {
    guard let configuration = model.configuration, model.mirror != .none else { return (0, []) }
    let settings = bytes[(configuration * 4)...].prefix(4)
    guard let first = settings.first, let page = settings.dropFirst(2).first, page > 3 else { return (0, []) }
    let uid = HexText.string(bytes[0..<3] + bytes[4..<8]).uppercased()
    let text = model.mirror == .uid ? uid : ["", uid, "000000", uid + "x000000"][Int(first >> 6)]
    return (Int(page) * 4 + Int(first >> 4 & 3), Array(text.utf8))
  }

  /// Returns false if the tag refuses the write: the page does not exist, is read-only, or is locked.
  mutating func write(_ data: [UInt8], page: Int) -> Bool {
    guard page >= 2, model.hasPage(page), page < firstProtectedPage, data.count == 4 else { return false }
    switch page {
    case 2: setOnce([0, 0, data[2] & ~frozenStaticLocks.0, data[3] & ~frozenStaticLocks.1], page: 2)
    case 3:
      guard !isLocked(3) else { return false }
      setOnce(data, page: 3)
    case model.dynamicLockPage:
      let frozen = frozenDynamicLocks
      setOnce([data[0] & ~frozen.0, data[1] & ~frozen.1, data[2], 0], page: page)
    default:
      guard !isLocked(page) else { return false }
      let old = Array(bytes[(page * 4)..<(page * 4 + 4)])
      bytes.replaceSubrange((page * 4)..<(page * 4 + 4), with: writeTear.contents(data, over: old))
    }
    return true
  }

  /// Sets bits, which then stay set.
  private mutating func setOnce(_ data: [UInt8], page: Int) {
    let old = Array(bytes[(page * 4)..<(page * 4 + 4)])
    let new = zip(old, data).map { $0 | $1 }
    bytes.replaceSubrange((page * 4)..<(page * 4 + 4), with: writeTear.contents(new, over: old, erasing: false))
  }

  /// Whether a lock bit makes the page read-only.
  func isLocked(_ page: Int) -> Bool {
    switch page {
    case 3...7: return bytes[10] & 1 << UInt8(page) != 0
    case 8...15: return bytes[11] & 1 << UInt8(page - 8) != 0
    default: return isDynamicallyLocked(page)
    }
  }

  private func isDynamicallyLocked(_ page: Int) -> Bool {
    switch model.locks {
    case .none: return false
    case .uniform(let lockPage, let pagesPerBit):
      guard (16..<lockPage).contains(page) else { return false }
      let bit = (page - 16) / pagesPerBit
      return bytes[lockPage * 4 + bit / 8] & 1 << UInt8(bit % 8) != 0
    case .interleaved(let lockPage):
      guard (16..<lockPage).contains(page) else { return false }
      let group = (page - 16) / 4
      return bytes[lockPage * 4] & 1 << UInt8(group < 3 ? group + 1 : group + 2) != 0
    }
  }

  /// The static lock bits that a block-locking bit has frozen.
  private var frozenStaticLocks: (UInt8, UInt8) {
    let blocks = bytes[10] & 0x07
    var low: UInt8 = 0
    var high: UInt8 = 0
    if blocks & 0x01 != 0 { low |= 0x08 }
    if blocks & 0x02 != 0 {
      low |= 0xF0
      high |= 0x03
    }
    if blocks & 0x04 != 0 { high |= 0xFC }
    return (low, high)
  }

  /// The dynamic lock bits that a block-locking bit has frozen.
  private var frozenDynamicLocks: (UInt8, UInt8) {
    switch model.locks {
    case .none: return (0, 0)
    case .uniform(let page, _):
      let blocks = bytes[page * 4 + 2]
      var frozen: UInt16 = 0
      for bit in 0..<UInt16(8) where blocks & 1 << UInt8(bit) != 0 { frozen |= 0b11 << (2 * bit) }
      return (UInt8(truncatingIfNeeded: frozen), UInt8(truncatingIfNeeded: frozen >> 8))
    case .interleaved(let page):
      let blocks = bytes[page * 4]
      return ((blocks & 0x01 != 0 ? 0x0E : 0) | (blocks & 0x10 != 0 ? 0xE0 : 0), 0)
    }
  }
}
