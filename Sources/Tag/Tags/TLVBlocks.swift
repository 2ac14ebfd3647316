/// The TLV blocks in the data area of a tag (Type 1 Tag Operation Specification 1.2, section 2.5; Type 2 1.1, section
/// 2.3; Type 5 Tag Technical Specification 1.0).
///
/// A pure search in the known part of the memory. It returns the address of the next byte that it needs, or its result.
/// The next call continues with the TLV that needed the byte.
struct TLVBlocks {
  enum Outcome {
    /// The search needs the byte at this address.
    case needs(address: Int)
    case found(NDEFBlock)
    /// The block is the free space for an NDEF TLV.
    case absent(NDEFBlock)
    case problem(TagProblem)
  }

  static let absence = TagProblem(.notNDEF, "there is no NDEF TLV on the tag")

  private enum Stop: Error {
    case needs(address: Int)
    case problem(TagProblem)
  }

  /// In front of the first TLV that has not been searched completely.
  private var cursor: Cursor
  /// The start of the NULL blocks in front of the terminator or the end of the area.
  private var free: Int?
  private let hasControls: Bool

  /// `reserved` are addresses in the area that hold no data, in addition to those that control TLVs reserve.
  /// `hasControls` is false for a type of tag on which control TLVs are unknown TLVs.
  init(area: Range<Int>, reserved: Range<Int> = 0..<0, hasControls: Bool = true) {
    cursor = Cursor(area, reserved)
    self.hasControls = hasControls
  }

  /// Searches the known bytes, from the start of the area.
  static func find(in memory: TagMemory, area: Range<Int>, reserved: Range<Int> = 0..<0) -> Outcome {
    var blocks = TLVBlocks(area: area, reserved: reserved)
    return blocks.find(in: memory)
  }

  /// Searches the known bytes. `memory` still knows all bytes of the previous call.
  mutating func find(in memory: TagMemory) -> Outcome {
    do throws(Stop) {
      return try search(memory)
    } catch {
      switch error {
      case .needs(let address): return .needs(address: address)
      case .problem(let problem): return .problem(problem.holding(memory.known(at: cursor.addresses)))
      }
    }
  }

  private mutating func search(_ memory: TagMemory) throws(Stop) -> Outcome {
    while cursor.remaining > 0 {
      // Stored only behind a whole TLV.
      var cursor = cursor
      let kind = try cursor.next(memory)
      let place = cursor.lastAddress
      if kind == 0x00 || kind == 0xFE { free = free ?? place }
      if kind == 0xFE { break }  // Terminator.
      if kind != 0x00 {  // NULL has no length.
        free = nil
        let (length, lengthSize) = try cursor.length(memory)
        // Checked before any byte of the value is fetched, because a tag can claim any length.
        guard length <= cursor.remaining else { throw Self.areaEnds }
        switch kind {
        case 0x01 where hasControls, 0x02 where hasControls:
          guard length == 3 else { throw .problem(TagProblem(.damaged, "a control TLV of \(length) bytes")) }
          let control = LockControl([
            try cursor.next(memory), try cursor.next(memory), try cursor.next(memory),
          ])
          cursor.reserve(kind == 0x01 ? control.lockBytes : control.reservedBytes)
        case 0x03:
          return .found(
            NDEFBlock(addresses: cursor.addresses(from: place), length: length, lengthSize: lengthSize))
        default: cursor.skip(length)  // Proprietary (FD), or of a later version.
        }
      }
      self.cursor = cursor
    }
    return .absent(NDEFBlock(addresses: free.map(cursor.addresses(from:)) ?? [], length: 0, lengthSize: 1))
  }

  private static var areaEnds: Stop {
    .problem(TagProblem(.damaged, "a TLV block is longer than the memory that the tag has for it"))
  }

  /// Iterates over the data bytes of the area in order.
  private struct Cursor {
    /// By index in the area: whether the address holds no data.
    private var isReserved: [Bool]
    private let area: Range<Int>
    private var address: Int
    /// In data bytes.
    private(set) var remaining: Int
    private(set) var lastAddress = 0

    init(_ area: Range<Int>, _ reserved: Range<Int>) {
      self.area = area
      isReserved = [Bool](repeating: false, count: area.upperBound)
      address = area.lowerBound
      remaining = area.count
      reserve(reserved)
    }

    mutating func next(_ memory: TagMemory) throws(Stop) -> UInt8 {
      guard remaining > 0 else { throw areaEnds }
      stepOverReserved()
      guard let byte = memory[address] else { throw .needs(address: address) }
      advance()
      return byte
    }

    mutating func length(_ memory: TagMemory) throws(Stop) -> (length: Int, size: Int) {
      let length = Int(try next(memory))
      guard length == 0xFF else { return (length, 1) }
      let high = Int(try next(memory))
      return (high << 8 | Int(try next(memory)), 3)
    }

    mutating func skip(_ count: Int) {
      for _ in 0..<count {
        stepOverReserved()
        advance()
      }
    }

    /// Skips these addresses from now on.
    mutating func reserve(_ range: Range<Int>) {
      for place in range.clamped(to: area) where !isReserved[place] {
        isReserved[place] = true
        if place >= address { remaining -= 1 }
      }
    }

    var addresses: [Int] { addresses(from: area.lowerBound) }

    func addresses(from start: Int) -> [Int] { (start..<area.upperBound).filter { !isReserved[$0] } }

    private mutating func stepOverReserved() {
      while address < area.upperBound, isReserved[address] { address += 1 }
    }

    private mutating func advance() {
      lastAddress = address
      address += 1
      remaining -= 1
    }
  }
}

/// The value of a lock control or memory control TLV (Type 2 Tag Operation Specification 1.1, sections 2.3.2 and
/// 2.3.3).
struct LockControl: Equatable {
  /// Of the first byte.
  let address: Int
  /// Lock bits, or reserved bytes: 1 to 256.
  let count: Int

  /// `value` has three bytes.
  init(_ value: [UInt8]) {
    address = (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F)
    count = value[1] == 0 ? 256 : Int(value[1])
  }

  var lockBytes: Range<Int> { address..<address + (count + 7) / 8 }
  var reservedBytes: Range<Int> { address..<address + count }
}

/// An NDEF TLV and the space for it.
struct NDEFBlock {
  /// All data bytes from the TLV's first byte to the end of the data area.
  let addresses: [Int]
  /// Of the message, in bytes.
  let length: Int
  /// Of the length field, in bytes: 1 or 3.
  let lengthSize: Int

  var messageAddresses: ArraySlice<Int> { addresses.dropFirst(1 + lengthSize).prefix(length) }
  /// The byte there is zero if there is no message.
  var lengthAddress: Int { addresses.count > 1 ? addresses[1] : 0 }

  /// `bytes` includes the type and the length.
  static func capacity(bytes: Int) -> Int { max(0, max(min(bytes - 2, 0xFE), bytes - 4)) }

  /// Its length, the message and, if there is room, a terminator. Each byte comes once, in the order of the block. The
  /// message is no longer than the capacity.
  func bytes(holding message: [UInt8]) -> [(address: Int, byte: UInt8)] {
    let count = message.count
    let length: [UInt8] =
      count < 0xFF
      ? [UInt8(truncatingIfNeeded: count)]
      : [0xFF, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    return zip(addresses.dropFirst(), length + message + [0xFE]).map { ($0, $1) }
  }

  /// Plans the writes of the page or block that holds the length. The length becomes zero before any byte of the
  /// message changes, and each write changes only the length or only other bytes. A tag that is removed during a write
  /// may have stored part of it. It still never has a message that is half old and half new.
  ///
  /// Example: the page `03 05 aa bb` is to become `03 07 cc dd`.
  ///
  /// 1. Before the other pages: `03 00 aa bb`.
  /// 2. After the other pages: `03 00 cc dd`, then `03 07 cc dd`.
  ///
  /// Returns the writes before and after those of the other pages, in order. `new` has as many bytes as `old`. The
  /// length begins at the index `length`. `othersChange` says whether other pages are written.
  static func lengthWrites(
    from old: [UInt8], to new: [UInt8], length: Int, othersChange: Bool
  ) -> (before: [[UInt8]], after: [[UInt8]]) {
    guard othersChange || old != new else { return ([], []) }
    let (oldEmpty, newEmpty) = (emptied(old, length), emptied(new, length))
    var after = newEmpty == oldEmpty ? [] : [newEmpty]
    if new != newEmpty { after.append(new) }
    return (old == oldEmpty ? [] : [oldEmpty], after)
  }

  private static func emptied(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { $0.offset == length ? 0 : $0.element }
  }
}
