/// A number for each domain pattern, from 0, in little memory: a hash table of numbers beside one text of all names.
///
/// A dictionary of strings needs two allocations and a hundred bytes for each pattern more, and a look-up in it a new string for each
/// label of the host.
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
  /// The number of an entry and one, or zero; a power of two of them, at most half in use.
  private var slots = [UInt32](repeating: 0, count: 16)

  var count: Int { entries.count }

  /// The pattern of a number that was given out.
  func pattern(_ number: Int) -> (domain: String, isWildcard: Bool) {
    let entry = entries[number]
    return (String(decoding: names[Int(entry.start)...].prefix(Int(entry.length)), as: UTF8.self), entry.isWildcard)
  }

  /// The number of a pattern, a new one where it has none yet; nil where there is no room for its name.
  mutating func insert(_ domain: String, isWildcard: Bool) -> Int? {
    let bytes = Array(domain.utf8)
    if let number = find(bytes[...], isWildcard: isWildcard) { return number }
    guard bytes.count <= Self.longestName, let start = UInt32(exactly: names.count) else { return nil }
    entries.append(Entry(start: start, length: UInt8(bytes.count), isWildcard: isWildcard))
    names += bytes
    if entries.count * 2 > slots.count { grow() } else { place(entries.count - 1, hash(bytes[...], isWildcard)) }
    return entries.count - 1
  }

  /// The number of a pattern; nil where it has none.
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

  /// Keyed, and anew in each process: whoever writes desktop entries cannot choose names that all fall together.
  private func hash(_ domain: ArraySlice<UInt8>, _ isWildcard: Bool) -> Int {
    var hasher = Hasher()
    hasher.combine(isWildcard)
    unsafe domain.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
