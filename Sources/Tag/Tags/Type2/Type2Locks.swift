/// Lock bits. Once they are set, they make pages of a Type 2 tag permanently read-only.
struct Type2Locks: Sendable {
  /// The byte addresses, and the lock bits in each byte.
  let bytes: [(address: Int, mask: UInt8)]
  /// Whether the lock bits are known. If not, these are all bits of the lock bytes. One that is set may lock any page,
  /// but setting them all may leave a page writable.
  let areCertain: Bool

  private init(_ address: Int, _ masks: [UInt8], areCertain: Bool = true) {
    self.areCertain = areCertain
    bytes = masks.enumerated().map { (address + $0.offset, $0.element) }
  }

  /// No lock bytes, for a tag that only has the static ones.
  static let none = Type2Locks(0, [])

  /// `masks` are the lock bits in each byte from the first byte of `page` on.
  static func from(page: Int, _ masks: UInt8..., areCertain: Bool = true) -> Type2Locks {
    Type2Locks(page * Type2Access.pageSize, masks, areCertain: areCertain)
  }

  /// The static lock bytes in page 2, for pages 3 to 15 (section 2.2). Bits 0 to 2 of the first byte freeze the other
  /// bits.
  static let `static` = Type2Locks(10, [0xF8, 0xFF])

  /// Whether the static lock bytes lock a page from 3 to 15.
  static func isLocked(_ page: Int, _ memory: TagMemory) -> Bool {
    guard (3...15).contains(page), let low = memory[10], let high = memory[11] else { return false }
    return (UInt16(high) << 8 | UInt16(low)) & 1 << UInt16(page) != 0
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
