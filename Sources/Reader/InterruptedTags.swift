import ReaderLink
import Tags

/// Tags that came and were not read, because the daemon wanted something else or the device failed: how often in a
/// row the device failed, and looks without them since.
struct InterruptedTags {
  /// How often in a row that may happen until it counts as what came of the tag.
  static let most = ReaderLimits.interruptions

  private var entries: [(tag: TagActivation, count: Int, misses: Int)] = []

  /// The tag was not read.
  mutating func add(_ tag: TagActivation) { set(tag, count: count(of: tag)) }

  /// The device failed while the tag was read.
  ///
  /// - Returns: whether it has too often; the tag is forgotten then.
  mutating func isTooOften(_ tag: TagActivation) -> Bool {
    let count = 1 + count(of: tag)
    guard count < Self.most else {
      forget(tag)
      return true
    }
    set(tag, count: count)
    return false
  }

  /// The tag has been read.
  mutating func forget(_ tag: TagActivation) { entries.removeAll { $0.tag.isSamePlacement(as: tag) } }

  /// There was a look. A tag that is away counts anew when it comes back.
  mutating func looked(for modulation: Modulation, found tags: [TagActivation]) {
    for index in entries.indices where entries[index].tag.modulation == modulation {
      let isThere = tags.contains { $0.isSamePlacement(as: entries[index].tag) }
      entries[index].misses = isThere ? 0 : entries[index].misses + 1
    }
    entries.removeAll { $0.misses >= PlacementTracker.missesUntilAway }
  }

  /// There will be no more looks for these.
  mutating func leaveOut(_ modulations: Set<Modulation>) {
    entries.removeAll { modulations.contains($0.tag.modulation) }
  }

  /// Forgets all tags.
  ///
  /// - Returns: the tags.
  mutating func takeAll() -> [TagActivation] {
    defer { entries = [] }
    return entries.map(\.tag)
  }

  private func count(of tag: TagActivation) -> Int { entries.first { $0.tag.isSamePlacement(as: tag) }?.count ?? 0 }

  private mutating func set(_ tag: TagActivation, count: Int) {
    forget(tag)
    entries = entries.suffix(PlacementTracker.most - 1) + [(tag, count, 0)]
  }
}
