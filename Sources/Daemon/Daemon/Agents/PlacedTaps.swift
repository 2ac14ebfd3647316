import ReaderProtocol

/// The tags that lie on readers and have become taps, so that the agent that got a tap learns of the tag's removal.
///
/// Pure. A removal is reported once, and only after an agent has stored the tap: the agent does not know the tap before.
///
///     the tag is read, the tag is removed, the agent stores the tap → report
///     the tag is read, the agent stores the tap, the tag is removed → report
struct PlacedTaps: Sendable {
  /// The limit per reader. A reader does not have more tags, so the oldest entry is of a tag that left unnoticed.
  static let most = ReaderLimits.knownTags

  struct Removal: Hashable, Sendable {
    let tap: String
    /// The bus name of the agent that has stored the tap.
    let agent: String
  }

  private struct Entry: Sendable {
    let reader: Int
    let placement: UInt64
    let tap: String
    /// Nil until an agent has stored the tap.
    var agent: String?
    var isRemoved = false

    /// Nil if the report is not due yet.
    var removal: Removal? { isRemoved ? agent.map { Removal(tap: tap, agent: $0) } : nil }
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }

  mutating func add(_ tap: String, placement: UInt64, on reader: Int) {
    entries.append(Entry(reader: reader, placement: placement, tap: tap))
    guard entries.count(where: { $0.reader == reader }) > Self.most,
      let oldest = entries.firstIndex(where: { $0.reader == reader })
    else { return }
    entries.remove(at: oldest)
  }

  mutating func stored(_ tap: String, by agent: String) -> Removal? {
    guard let index = entries.firstIndex(where: { $0.tap == tap }) else { return nil }
    entries[index].agent = agent
    return takeRemoval(at: index)
  }

  mutating func removed(_ placement: UInt64, from reader: Int) -> Removal? {
    let index = entries.firstIndex { $0.reader == reader && $0.placement == placement }
    guard let index else { return nil }
    entries[index].isRemoved = true
    return takeRemoval(at: index)
  }

  mutating func removed(_ reader: Int) -> [Removal] {
    entries.filter { $0.reader == reader }.compactMap { removed($0.placement, from: reader) }
  }

  /// No agent will store the tap.
  mutating func forget(_ tap: String) { entries.removeAll { $0.tap == tap } }

  /// The reader's next process numbers its placements from the beginning.
  mutating func forget(reader: Int) { entries.removeAll { $0.reader == reader && !$0.isRemoved } }

  private mutating func takeRemoval(at index: Int) -> Removal? {
    guard let removal = entries[index].removal else { return nil }
    entries.remove(at: index)
    return removal
  }
}
