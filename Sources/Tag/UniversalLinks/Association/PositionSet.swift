/// Positions in a text, including its end, as bits: each is an end of a part that a pattern may have matched.
struct PositionSet: Equatable {
  private var words: [UInt64]
  /// The number of possible positions: one more than the text has characters.
  let count: Int

  init(count: Int) {
    self.count = count
    words = [UInt64](repeating: 0, count: (count + 63) / 64)
  }

  var wordCount: Int { words.count }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  func contains(_ position: Int) -> Bool { words[position / 64] & 1 << UInt64(position % 64) != 0 }

  mutating func insert(_ position: Int) { words[position / 64] |= 1 << UInt64(position % 64) }

  mutating func formUnion(_ other: PositionSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// Moves every position in `allowed` forward by one, and drops the others and those after the end.
  mutating func advance(where allowed: PositionSet) {
    for index in words.indices { words[index] &= allowed.words[index] }
    advance()
  }

  /// Moves every position forward by one, and drops those after the end.
  mutating func advance() {
    var carry: UInt64 = 0
    for index in words.indices {
      let word = words[index]
      words[index] = word << 1 | carry
      carry = word >> 63
    }
    dropExcess()
  }

  /// Adds all positions after the lowest one.
  mutating func fillUp() {
    guard let first = words.firstIndex(where: { $0 != 0 }) else { return }
    let lowest = words[first] & ~(words[first] &- 1)
    words[first] = ~(lowest &- 1)
    for index in words.indices.dropFirst(first + 1) { words[index] = ~0 }
    dropExcess()
  }

  /// Clears the bits that have no position.
  private mutating func dropExcess() {
    if !count.isMultiple(of: 64) { words[words.count - 1] &= (1 << UInt64(count % 64)) - 1 }
  }

  /// Calls `body` with each position, in ascending order.
  func forEach(_ body: (Int) -> Void) {
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        body(index * 64 + rest.trailingZeroBitCount)
        rest &= rest &- 1
      }
    }
  }
}
