import Names
import ReaderProtocol

/// Holds the removal of a tag back for a while, because a tag that rests on a reader may drop out for a moment. If the
/// same tag is read again within that time, it has the placement of before, and nothing happens.
///
/// Pure. A tag that was not read before the drop-out has no placement to keep.
///
///     the tag is read, it is removed, the time passes        → the tag is removed
///     the tag is read, it is removed, it is read again       → nothing
///     the tag is read, it is removed, another one is read    → another tag; later the removal of the first
struct HeldRemovals: Sendable {
  typealias Instant = TapQueue.Instant

  struct Removal: Hashable, Sendable {
    let reader: Int
    /// That of the first reading.
    let placement: UInt64
  }

  private struct Tag: Sendable {
    let removal: Removal
    let placement: Placement
    /// A hash, because a message may have a megabyte.
    let content: Int
    /// When the removal is due; nil while the tag lies there.
    var due: Instant?

    /// Whether a tag that was read is this one. After a drop-out, the reading may have failed. A random UID is another one
    /// then.
    func isSame(as report: TagReport) -> Bool {
      let other = report.placement
      let mayChange = { UIDText.mayChange($0, technology: other.technology.rawValue) } as ([UInt8]) -> Bool
      let isSameTag =
        placement.uid == other.uid || mayChange(placement.uid) && mayChange(other.uid)
      guard placement.technology == other.technology, isSameTag else { return false }
      switch report.content {
      case .problem, .damaged: return placement.uid == other.uid
      case .message, .bare: return content == report.content.hashValue
      }
    }
  }

  /// The newest is the last.
  private var tags: [Tag] = []

  /// When ``due(at:)`` returns the next removal; nil if none is held.
  var deadline: Instant? { tags.compactMap(\.due).min() }

  /// The number of tags that lie on readers or are held.
  var count: Int { tags.count }

  /// Returns whether the tag is one that has just dropped out.
  mutating func read(_ report: TagReport, on reader: Int, at now: Instant) -> Bool {
    let index = tags.firstIndex { tag in
      tag.removal.reader == reader && tag.due.map { now < $0 } == true && tag.isSame(as: report)
    }
    var removal = Removal(reader: reader, placement: report.placement.number)
    var content = report.content.hashValue
    if let index {
      let former = tags.remove(at: index)
      (removal, content) = (former.removal, former.content)
    } else if case .problem = report.content {
      return false
    }
    tags.append(Tag(removal: removal, placement: report.placement, content: content))
    // An older one has left unnoticed.
    let present = tags.indices.filter { tags[$0].removal.reader == reader && tags[$0].due == nil }
    if present.count > PlacedTaps.most { tags.remove(at: present[0]) }
    return index != nil
  }

  /// Returns the removal if it is not held back.
  mutating func removed(_ placement: UInt64, from reader: Int, at now: Instant, delay: Duration) -> Removal? {
    let index = tags.firstIndex {
      $0.removal.reader == reader && $0.due == nil && $0.placement.number == placement
    }
    guard let index else { return Removal(reader: reader, placement: placement) }
    guard delay > .zero else { return tags.remove(at: index).removal }
    tags[index].due = now + delay
    return nil
  }

  /// In order.
  mutating func due(at now: Instant) -> [Removal] {
    let due = tags.filter { $0.due.map { $0 <= now } == true }
    tags.removeAll { $0.due.map { $0 <= now } == true }
    return due.sorted { ($0.due ?? now) < ($1.due ?? now) }.map(\.removal)
  }

  /// The reader is gone, or its next process numbers its placements from the beginning. Returns the removals that were
  /// held.
  mutating func forget(reader: Int) -> [Removal] {
    defer { tags.removeAll { $0.removal.reader == reader } }
    return tags.filter { $0.removal.reader == reader && $0.due != nil }.map(\.removal)
  }
}
