/// Lock bits. Once they are set, they make pages of a Type 2 tag permanently read-only.
struct Type2Locks: Equatable, Sendable {
  /// The byte addresses, and the lock bits in each byte.
  let bytes: [(address: Int, mask: UInt8)]

  static func == (one: Type2Locks, other: Type2Locks) -> Bool {
    one.bytes.elementsEqual(other.bytes) { $0.address == $1.address && $0.mask == $1.mask }
  }

  private init(_ address: Int, _ masks: [UInt8]) {
    bytes = masks.enumerated().map { (address + $0.offset, $0.element) }
  }

  /// No lock bytes, for a tag that only has the static ones.
  static let none = Type2Locks([])

  /// `masks` are the lock bits in each byte from the first byte of `page` on.
  static func from(page: Int, _ masks: UInt8...) -> Type2Locks { Type2Locks(page * Type2Access.pageSize, masks) }

  private init(_ bytes: [(address: Int, mask: UInt8)]) { self.bytes = bytes }

  /// The static lock bytes in page 2, for pages 3 to 15 (section 2.2). Bits 0 to 2 of the first byte freeze the other
  /// bits.
  static let `static` = Type2Locks(10, [0xF8, 0xFF])

  /// Whether the static lock bytes lock a page from 3 to 15.
  static func isLocked(_ page: Int, _ memory: TagMemory) -> Bool {
    guard (3...15).contains(page), let low = memory[10], let high = memory[11] else { return false }
    return (UInt16(high) << 8 | UInt16(low)) & 1 << UInt16(page) != 0
  }

  /// The value of the lock control TLV with which an NTAG203 leaves the factory.
  static let ntag203Control = from(page: 0x28, 0xFF, 0xFF)

  /// The lock bytes according to lock control TLVs. Addresses outside the memory of any tag are ignored. Nil if there
  /// are none.
  static func ofControls(_ controls: [LockControl]) -> Type2Locks? {
    let bytes = controls.filter { $0.address >= 64 && $0.address < 2048 }
      .flatMap { Type2Locks($0.address, $0.masks).bytes }
    return bytes.isEmpty ? nil : Type2Locks(bytes)
  }

  /// The default lock bytes: behind the data area, one bit for each 8 bytes from page 16 on (section 2.2).
  static func standard(behind area: Range<Int>) -> Type2Locks {
    let bits = (max(0, area.count - 48) + 7) / 8
    return Type2Locks(
      area.upperBound, (0..<(bits + 7) / 8).map { UInt8(truncatingIfNeeded: 1 << min(8, bits - $0 * 8) - 1) })
  }

  /// The pages that hold the lock bytes, ascending.
  var pages: [Int] { Set(bytes.map { $0.address / Type2Access.pageSize }).sorted() }

  func areAllSet(in memory: TagMemory) -> Bool {
    bytes.allSatisfy { (memory[$0.address] ?? 0) & $0.mask == $0.mask }
  }

  func isAnySet(in memory: TagMemory) -> Bool { bytes.contains { (memory[$0.address] ?? 0) & $0.mask != 0 } }

  /// The contents of a page after all of its lock bits are set.
  func locked(_ page: Int, _ memory: TagMemory) -> [UInt8] {
    (page * Type2Access.pageSize..<(page + 1) * Type2Access.pageSize).map { address in
      bytes.filter { $0.address == address }.reduce(memory[address] ?? 0) { $0 | $1.mask }
    }
  }
}
