import ReaderLink
import Tags

/// Tags with which the device failed while they were read, or that were lost then: how often in a row, and looks without them since.
struct InterruptedTags {
  /// How often in a row that may happen until it counts as what came of the tag.
  static let most = ReaderLimits.interruptions

  private var entries: [(tag: TagActivation, count: Int, misses: Int)] = []

  /// It has happened with this tag.
  ///
  /// - Returns: whether it has too often; it is forgotten then.
  mutating func isTooOften(_ tag: TagActivation) -> Bool {
    let count = 1 + (entries.first { $0.tag.isSamePlacement(as: tag) }?.count ?? 0)
    forget(tag)
    guard count < Self.most else { return true }
    entries = entries.suffix(PlacementTracker.most - 1) + [(tag, count, 0)]
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
}
