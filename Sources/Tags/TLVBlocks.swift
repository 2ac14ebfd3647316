/// The TLV blocks in the data area of a tag (Type 1 Tag Operation Specification 1.2, section 2.5; Type 2 1.1, section 2.3).
///
/// A value over what is known of the memory: it says which byte it needs next, or what it found.
enum TLVBlocks {
  enum Outcome {
    /// The byte at this address has to be known first.
    case needs(address: Int)
    case found(NDEFBlock)
    /// There is no NDEF TLV. The block is the free space where one can be written.
    case absent(NDEFBlock)
    case problem(TagProblem)
  }

  /// Why a tag without an NDEF TLV cannot be read.
  static let absence = TagProblem(.notNDEF, "there is no NDEF TLV on the tag")

  private enum Stop: Error {
    case needs(address: Int)
    case problem(TagProblem)
  }

  /// Looks for the first NDEF TLV.
  ///
  /// - Parameters:
  ///   - memory: what is known.
  ///   - area: the addresses of the data area.
  ///   - reserved: what in it is not data, beside what the blocks themselves say.
  /// - Returns: how far that gets.
  static func find(in memory: TagMemory, area: Range<Int>, reserved: Range<Int> = 0..<0) -> Outcome {
    do throws(Stop) {
      return try search(Cursor(memory, area, reserved))
    } catch {
      switch error {
      case .needs(let address): return .needs(address: address)
      case .problem(let problem): return .problem(problem)
      }
    }
  }

  private static func search(_ start: Cursor) throws(Stop) -> Outcome {
    var cursor = start
    var lockControls: [LockControl] = []
    // Where the NULL blocks begin that only a terminator, or the end of the area, follows.
    var free: Int?
    while cursor.remaining > 0 {
      let kind = try cursor.next()
      let place = cursor.lastAddress
      if kind == 0x00 || kind == 0xFE { free = free ?? place }
      if kind == 0x00 { continue }  // NULL has no length
      if kind == 0xFE { break }  // terminator
      free = nil
      let (length, lengthSize) = try cursor.length()
      // Before a byte of it is fetched: a length is cheap to lie about.
      guard length <= cursor.remaining else { throw areaEnds }
      switch kind {
      case 0x01, 0x02:
        guard length == 3 else { throw .problem(TagProblem(.damaged, "a control TLV of \(length) bytes")) }
        let control = LockControl([try cursor.next(), try cursor.next(), try cursor.next()])
        cursor.reserve(kind == 0x01 ? control.lockBytes : control.reservedBytes)
        if kind == 0x01 { lockControls.append(control) }
      case 0x03:
        return .found(
          NDEFBlock(
            addresses: cursor.addresses(from: place), length: length, lengthSize: lengthSize,
            lockControls: lockControls))
      default: cursor.skip(length)  // proprietary (FD), or of a later version
      }
    }
    return .absent(
      NDEFBlock(
        addresses: free.map(cursor.addresses(from:)) ?? [], length: 0, lengthSize: 1, lockControls: lockControls))
  }

  private static var areaEnds: Stop {
    .problem(TagProblem(.damaged, "a TLV block is longer than the memory that the tag has for it"))
  }

  /// Goes through the data bytes of the area in order.
  private struct Cursor {
    let memory: TagMemory
    /// Whether an address of the area holds no data.
    private var isReserved: [Bool]
    private let area: Range<Int>
    private var address: Int
    /// Data bytes that are still to come.
    private(set) var remaining: Int
    private(set) var lastAddress = 0

    init(_ memory: TagMemory, _ area: Range<Int>, _ reserved: Range<Int>) {
      self.memory = memory
      self.area = area
      isReserved = [Bool](repeating: false, count: area.upperBound)
      address = area.lowerBound
      remaining = area.count
      reserve(reserved)
    }

    mutating func next() throws(Stop) -> UInt8 {
      guard remaining > 0 else { throw areaEnds }
      stepOverReserved()
      guard let byte = memory[address] else { throw .needs(address: address) }
      advance()
      return byte
    }

    mutating func length() throws(Stop) -> (length: Int, size: Int) {
      let length = Int(try next())
      guard length == 0xFF else { return (length, 1) }
      let high = Int(try next())
      return (high << 8 | Int(try next()), 3)
    }

    mutating func skip(_ count: Int) {
      for _ in 0..<count {
        stepOverReserved()
        advance()
      }
    }

    /// From here on these addresses are not data.
    mutating func reserve(_ range: Range<Int>) {
      for place in range.clamped(to: area) where !isReserved[place] {
        isReserved[place] = true
        if place >= address { remaining -= 1 }
      }
    }

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

/// What a lock control or memory control TLV says (Type 2 Tag Operation Specification 1.1, sections 2.3.2 and 2.3.3).
struct LockControl: Equatable {
  /// The address of the first byte.
  let address: Int
  /// Lock bits, or reserved bytes: 1 to 256.
  let count: Int

  /// - Parameter value: the three bytes of its value.
  init(_ value: [UInt8]) {
    address = (Int(value[0] >> 4) << Int(value[2] & 0x0F)) + Int(value[0] & 0x0F)
    count = value[1] == 0 ? 256 : Int(value[1])
  }

  var lockBytes: Range<Int> { address..<address + (count + 7) / 8 }
  var reservedBytes: Range<Int> { address..<address + count }

  /// The lock bits of each of `lockBytes`.
  var masks: [UInt8] {
    lockBytes.map { UInt8(truncatingIfNeeded: 1 << min(8, count - ($0 - address) * 8) - 1) }
  }
}

/// An NDEF TLV and the room that it has.
struct NDEFBlock {
  /// The addresses of all data bytes from its first one to the end of the data area.
  let addresses: [Int]
  /// Bytes of the message.
  let length: Int
  /// Bytes of the length: 1 or 3.
  let lengthSize: Int
  /// Where the lock control TLVs before it say that lock bits are.
  let lockControls: [LockControl]

  /// Where the message lies.
  var messageAddresses: ArraySlice<Int> { addresses.dropFirst(1 + lengthSize).prefix(length) }
  /// Where its length begins: the byte that is zero where there is no message.
  var lengthAddress: Int { addresses.count > 1 ? addresses[1] : 0 }

  /// The longest message that goes into so many bytes, those of type and length included.
  static func capacity(bytes: Int) -> Int { max(0, max(min(bytes - 2, 0xFE), bytes - 4)) }

  /// The bytes that make the block hold a message, by their addresses: length, message and, where there is room, the
  /// terminator.
  ///
  /// - Parameter message: no longer than the capacity.
  /// - Returns: each byte once, in the order of the block.
  func bytes(holding message: [UInt8]) -> [(address: Int, byte: UInt8)] {
    let count = message.count
    let length: [UInt8] =
      count < 0xFF
      ? [UInt8(truncatingIfNeeded: count)]
      : [0xFF, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    return zip(addresses.dropFirst(), length + message + [0xFE]).map { ($0, $1) }
  }

  /// The writes of the page or block that the length lies in, before and after those of the others: as long as a byte of the
  /// message changes the length is zero, and it changes alone. So a tag that is torn away within a write, and has taken a part
  /// of it, has no message that is half old and half new.
  ///
  /// - Parameters:
  ///   - old: what is there.
  ///   - new: what is to be there, as many bytes.
  ///   - length: where in it the length begins.
  ///   - othersChange: whether other pages are written.
  /// - Returns: what to write, one after the other.
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
