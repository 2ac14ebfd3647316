import ReaderKit
import ReaderProtocol
import Tags

/// Tags that were placed but not read, because the goal changed or the device failed. For each tag: the device failures
/// in a row, and the looks that have missed it since.
struct InterruptedTags {
  /// The number of device failures in a row that becomes the tag's result.
  static let most = ReaderLimits.interruptions

  private var entries: [(tag: TagActivation, count: Int, misses: Int)] = []

  /// Adds a tag that was not read.
  mutating func add(_ tag: TagActivation) { set(tag, count: count(of: tag)) }

  /// Records that the device failed while the tag was read. Returns whether it has failed too often. The tag is then
  /// forgotten.
  mutating func isTooOften(_ tag: TagActivation) -> Bool {
    let count = 1 + count(of: tag)
    guard count < Self.most else {
      forget(tag)
      return true
    }
    set(tag, count: count)
    return false
  }

  /// Forgets a tag that was read.
  mutating func forget(_ tag: TagActivation) { entries.removeAll { $0.tag.isSamePlacement(as: tag) } }

  /// Records a look. The count of a tag that is gone starts again at zero when it returns.
  mutating func looked(for modulation: Modulation, found tags: [TagActivation]) {
    for index in entries.indices where entries[index].tag.modulation == modulation {
      let isThere = tags.contains { $0.isSamePlacement(as: entries[index].tag) }
      entries[index].misses = isThere ? 0 : entries[index].misses + 1
    }
    entries.removeAll { $0.misses >= PlacementTracker.missesUntilAway }
  }

  /// Forgets the tags of technologies that are no longer polled.
  mutating func leaveOut(_ modulations: Set<Modulation>) {
    entries.removeAll { $0.tag.modulation.map(modulations.contains) ?? false }
  }

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
