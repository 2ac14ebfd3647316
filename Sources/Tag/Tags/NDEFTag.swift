import Names

/// The NDEF operations on one kind of tag. Each kind has one conforming type.
protocol NDEFTag {
  /// The bytes are not decoded. Uses as few exchanges as the specification allows, and writes no data.
  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8]

  /// Writes no data.
  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus

  /// If the tag is removed meanwhile, it holds no message rather than half of one.
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError)

  func holds(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) -> Bool

  /// Permanent.
  func lock(over channel: inout some TagChannel) throws(TagWriteError)

  /// True if a tag that is not formatted for NDEF looks blank, so that `format` may try. Writes no data.
  func isBlank(over channel: inout some TagChannel) throws(TagWriteError) -> Bool

  /// The tag then has no message. If it is removed meanwhile, it can be formatted again.
  func format(over channel: inout some TagChannel) throws(TagWriteError)
}

extension NDEFTag {
  func holds(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    try self.message(over: &channel) == message
  }

  /// Tags of this kind are formatted by their manufacturer.
  func isBlank(over channel: inout some TagChannel) throws(TagWriteError) -> Bool { false }

  func format(over channel: inout some TagChannel) throws(TagWriteError) {
    throw .refused(.unsupported, "tags of this kind cannot be formatted")
  }
}

extension TagActivation {
  /// Uses as few exchanges as the specification of the tag allows, and writes no data. If it fails, only the caller can
  /// find out if the tag was removed or a retry helps.
  package func readNDEF(over channel: inout some TagChannel) throws(TagChannelError) -> TagContent {
    do throws(TagWriteError) {
      let tag = try ndefTag
      var limited = LimitedChannel(channel, most: type.mostExchangesToRead)
      defer { channel = limited.channel }
      return .written(try tag.message(over: &limited))
    } catch {
      return .problem(try error.problem)
    }
  }

  package func queryNDEF(over channel: inout some TagChannel) throws(TagChannelError) -> NDEFStatus {
    do throws(TagWriteError) {
      let tag = try ndefTag
      var limited = LimitedChannel(channel, most: type.mostExchanges(reading: 0))
      defer { channel = limited.channel }
      return try tag.status(over: &limited)
    } catch {
      return NDEFStatus(notSupported: try error.problem)
    }
  }

  /// Marks the tag as empty first, then writes the message, then its length. If the tag is removed before the end, it
  /// holds no message. An empty message erases the present one. With `isVerifying`, reads the message back and compares
  /// it. With `isFormatting`, formats a blank tag first.
  package func writeNDEF(
    _ message: [UInt8], isVerifying: Bool = false, isFormatting: Bool = false, over channel: inout some TagChannel
  ) throws(TagWriteError) {
    let tag = try ndefTag
    var limited = LimitedChannel(channel, most: type.mostExchanges(writing: message.count))
    defer { channel = limited.channel }
    do throws(TagWriteError) {
      try tag.write(message, over: &limited)
    } catch {
      // Only a tag that is not formatted is asked if it is blank, so that this costs other tags no exchange.
      guard case .refused(let problem) = error, problem.code == .notNDEF else { throw error }
      let isBlank = try tag.isBlank(over: &limited)
      guard isFormatting else {
        throw isBlank ? .refused(TagProblem(.blank, "not formatted")) : error
      }
      guard isBlank else {
        throw .refused(problem.notFormattable)
      }
      try tag.format(over: &limited)
      try tag.write(message, over: &limited)
    }
    guard isVerifying else { return }
    do throws(TagWriteError) {
      if try tag.holds(message, over: &limited) { return }
      // Tags of other types return what they hold.
      guard [TagType.type2, .type4A, .type4B].contains(type) else { throw .notAsWritten }
      let readings = [try tag.message(over: &limited), try tag.message(over: &limited)]
      switch MirroredText(of: readings, insteadOf: message)?.isPlaced(by: identifier) {
      case true?: return
      case false?: throw .mirroring
      case nil: throw .notAsWritten
      }
    } catch {
      if case .refused = error { throw .notAsWritten }
      throw error
    }
  }

  /// **This is permanent** and cannot be undone.
  ///
  /// Types 1, 2 and 5, MIFARE Classic and FeliCa Lite enforce it themselves. On FeliCa Standard and Type 4 it is only a
  /// flag. Readers that follow the specification do not write such a card. Only some Type 4 cards themselves refuse to
  /// be written.
  ///
  /// A tag with damaged contents is not locked, because a half-written message would become permanent. An empty tag is
  /// locked.
  package func lockNDEF(over channel: inout some TagChannel) throws(TagWriteError) {
    let tag = try ndefTag
    var limited = LimitedChannel(channel, most: type.mostExchangesToRead)
    defer { channel = limited.channel }
    let content = TagContent.written(try tag.message(over: &limited))
    if case .problem(let problem) = content, problem.code != .empty { throw .refused(problem) }
    try tag.lock(over: &limited)
  }

  /// Throws the reason if the tag is not supported.
  private var ndefTag: any NDEFTag {
    get throws(TagWriteError) {
      switch self {
      case .typeA(let tag):
        switch tag.type {
        case .type4A: return Type4Tag()
        case .mifareClassic: return MIFAREClassicTag(uid: tag.uid, sak: tag.sak)
        case .peer: throw .refused(.unsupported, "it is another NFC device, not a tag")
        default: return Type2Tag(uid: tag.uid)
        }
      case .typeB: return Type4Tag()
      case .felica(let tag): return Type3Tag(tag)
      case .jewel(let tag): return Type1Tag(tag)
      case .typeV: return Type5Tag()
      }
    }
  }
}

/// The writes that put a message on a tag with TLV blocks, in pages of a fixed size.
///
/// The length becomes zero first. The other pages follow, and the page of the length comes last. An interrupted write
/// leaves the tag empty. A page that already has its contents is not written.
struct NDEFWritePlan {
  private let block: NDEFBlock
  private let pageSize: Int
  private let new: [Int: UInt8]

  /// `bytes` are those from the length on. With `isNew`, the tag has no NDEF TLV yet, and its type is written as well.
  init(_ bytes: some Sequence<(address: Int, byte: UInt8)>, over block: NDEFBlock, isNew: Bool, pageSize: Int) {
    self.block = block
    self.pageSize = pageSize
    var new = Dictionary(bytes.map { ($0.address, $0.byte) }, uniquingKeysWith: { first, _ in first })
    if isNew, let type = block.addresses.first { new[type] = 0x03 }
    self.new = new
  }

  /// The bytes that share a page with new ones and stay unchanged. They must be known before the writes. Unused bytes
  /// of the TLV's space are not among them. They become zero.
  var kept: [Int] {
    let free = Set(block.addresses)
    return pages.flatMap(addresses(of:)).filter { new[$0] == nil && !free.contains($0) }
  }

  /// In order. `memory` knows the bytes at `kept` and the page of the length.
  func writes(_ memory: TagMemory) -> [(page: Int, bytes: [UInt8])] {
    func contents(of page: Int) -> [UInt8] { addresses(of: page).map { new[$0] ?? memory[$0] ?? 0 } }
    let lengthPage = block.lengthAddress / pageSize
    let others = pages.filter { page in
      page != lengthPage && memory.known(at: addresses(of: page)) != contents(of: page)
    }
    let length = NDEFBlock.lengthWrites(
      from: addresses(of: lengthPage).map { memory[$0] ?? 0 }, to: contents(of: lengthPage),
      length: block.lengthAddress % pageSize, othersChange: !others.isEmpty)
    var writes = length.before.map { (page: lengthPage, bytes: $0) }
    writes += others.map { (page: $0, bytes: contents(of: $0)) }
    writes += length.after.map { (page: lengthPage, bytes: $0) }
    return writes
  }

  /// Ascending.
  private var pages: [Int] { Set(new.keys.map { $0 / pageSize }).sorted() }

  private func addresses(of page: Int) -> Range<Int> { page * pageSize..<(page + 1) * pageSize }
}
