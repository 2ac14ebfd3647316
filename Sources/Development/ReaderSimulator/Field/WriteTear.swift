/// How far a write gets before the memory loses its power.
package struct WriteTear: Sendable, Hashable {
  /// The contents of the bytes that were not programmed.
  package enum Remainder: Sendable, Hashable, CaseIterable {
    /// The old contents.
    case old
    /// The value of an erased cell, 00, in a memory that erases a unit (a page, a block) before it programs it.
    case zeros
    /// The value of an erased cell in a memory with erased cells of FF.
    case ones
  }

  /// How many bytes of the write are programmed, from the first on.
  package let bytes: Int
  /// The contents of the other bytes.
  package let remainder: Remainder

  /// The first `bytes` bytes of the write are programmed; `remainder` is the contents of the others.
  package init(bytes: Int, remainder: Remainder = .old) {
    self.bytes = bytes
    self.remainder = remainder
  }
}

/// The effect of a lost power supply on a write.
extension WriteTear? {
  /// The contents after the write. `old` has the same length as `new`. If `erasing`, the memory may erase before it
  /// programs; bits that can only be set are not erased.
  func contents(_ new: [UInt8], over old: [UInt8], erasing: Bool = true) -> [UInt8] {
    guard let tear = self else { return new }
    let rest = old.dropFirst(tear.bytes)
    switch tear.remainder {
    case .zeros where erasing: return new.prefix(tear.bytes) + rest.map { _ in UInt8(0x00) }
    case .ones where erasing: return new.prefix(tear.bytes) + rest.map { _ in UInt8(0xFF) }
    default: return Array(new.prefix(tear.bytes) + rest)
    }
  }
}
