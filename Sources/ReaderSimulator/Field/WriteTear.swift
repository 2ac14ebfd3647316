/// How far a memory gets that loses its power while it programs what a command has told it to.
public struct WriteTear: Sendable, Hashable {
  /// What the bytes hold that were not programmed any more.
  public enum Remainder: Sendable, Hashable, CaseIterable {
    /// What they held before.
    case old
    /// What an erased cell holds, in a memory that erases a unit (a page, a block) before it programs it: 00.
    case zeros
    /// The same where an erased cell is a one: FF.
    case ones
  }

  /// So many bytes of what the command writes are new, from the first on.
  public let bytes: Int
  /// What the others hold.
  public let remainder: Remainder

  /// - Parameters:
  ///   - bytes: how many are new.
  ///   - remainder: what the others hold.
  public init(bytes: Int, remainder: Remainder = .old) {
    self.bytes = bytes
    self.remainder = remainder
  }
}

/// Where writes end that power is lost in.
extension WriteTear? {
  /// - Parameters:
  ///   - new: what a command writes.
  ///   - old: what is there, as many bytes.
  ///   - erasing: whether what is there may be erased before; bits that can only be set are not.
  /// - Returns: what is there afterwards.
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
