/// Numbers domain patterns from 0 and needs little memory: a hash table of numbers, and one text with all names.
///
/// A dictionary of strings would need two allocations and a hundred bytes more for each pattern. Its look-up would also
/// create a string for each label of the host.
struct DomainIndex: Sendable {
  private struct Entry: Sendable {
    let start: UInt32
    /// At most 253 (RFC 1035).
    let length: UInt8
    let isWildcard: Bool
  }

  private static let longestName = 253
  private var names: [UInt8] = []
  private var entries: [Entry] = []
  /// The number of an entry plus one; zero if the slot is free. The slot count is a power of two, with at most half in
  /// use.
  private var slots = [UInt32](repeating: 0, count: 16)

  var count: Int { entries.count }

  /// The pattern with a number that `insert` returned.
  func pattern(_ number: Int) -> (domain: String, isWildcard: Bool) {
    let entry = entries[number]
    return (String(decoding: names[Int(entry.start)...].prefix(Int(entry.length)), as: UTF8.self), entry.isWildcard)
  }

  /// The number of a pattern, which may be new; nil if there is no room for its name.
  mutating func insert(_ domain: String, isWildcard: Bool) -> Int? {
    let bytes = Array(domain.utf8)
    if let number = find(bytes[...], isWildcard: isWildcard) { return number }
    guard bytes.count <= Self.longestName, let start = UInt32(exactly: names.count) else { return nil }
    entries.append(Entry(start: start, length: UInt8(bytes.count), isWildcard: isWildcard))
    names += bytes
    if entries.count * 2 > slots.count { grow() } else { place(entries.count - 1, hash(bytes[...], isWildcard)) }
    return entries.count - 1
  }

  /// The number of a pattern; nil if it was not inserted.
  func find(_ domain: ArraySlice<UInt8>, isWildcard: Bool) -> Int? {
    guard domain.count <= Self.longestName else { return nil }
    var slot = hash(domain, isWildcard) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      let entry = entries[number]
      if entry.isWildcard == isWildcard, Int(entry.length) == domain.count,
        holds(domain, at: Int(entry.start))
      {
        return number
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private func holds(_ domain: ArraySlice<UInt8>, at start: Int) -> Bool {
    var position = start
    for byte in domain {
      if names[position] != byte { return false }
      position += 1
    }
    return true
  }

  private mutating func place(_ number: Int, _ hash: Int) {
    var slot = hash & (slots.count - 1)
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = UInt32(number) + 1
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    for (number, entry) in entries.enumerated() {
      place(number, hash(names[Int(entry.start)...].prefix(Int(entry.length)), entry.isWildcard))
    }
  }

  /// `Hasher` has a random seed in each process, so the author of a desktop entry cannot choose names that all collide.
  private func hash(_ domain: ArraySlice<UInt8>, _ isWildcard: Bool) -> Int {
    var hasher = Hasher()
    hasher.combine(isWildcard)
    unsafe domain.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
