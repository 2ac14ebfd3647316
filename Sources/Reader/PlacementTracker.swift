import Tags

/// Turns what each look at the field brings into stays of tags: one beginning and one end each.
///
/// A stay outlasts everything that only concerns us: a pause in scanning, a field that was off, a look that missed the tag.
struct PlacementTracker {
  /// What has come of a look.
  enum Outcome: Hashable {
    /// A tag has come: read it, and say what it holds.
    case arrived(UInt64)
    /// The tag of this number is away.
    case left(UInt64)
    /// A tag that is to be left alone is there.
    case avoided(uid: [UInt8])
    /// A tag that was to be left alone is away.
    case forgotten(uid: [UInt8])
  }

  /// Looks without a tag until it counts as away: one may miss it.
  static let missesUntilAway = 2

  /// How often the device may fail while a tag is read until that counts as what came of the tag.
  static let mostInterruptions = 3

  private var lastNumber: UInt64 = 0
  private var resting: (tag: TagActivation, number: UInt64?)?
  private var misses = 0
  private var avoided: [[UInt8]] = []
  /// The tag with which the device failed last, and how often in a row.
  private var interruptions: (tag: TagActivation, count: Int)?

  /// Whether a tag counts as there.
  var isOccupied: Bool { resting != nil }

  /// The next tag with this UID is not announced until it has been away.
  mutating func avoid(_ uid: [UInt8]) {
    if !avoided.contains(uid) { avoided.append(uid) }
  }

  /// A look has found `tag`.
  mutating func found(_ tag: TagActivation) -> [Outcome] {
    misses = 0
    if let resting, Self.isSame(resting.tag, tag) {
      self.resting = (tag, resting.number)
      return []
    }
    var outcomes = leave()
    if avoided.contains(where: { Self.isSame($0, tag) }) {
      resting = (tag, nil)
      return outcomes + [.avoided(uid: tag.identifier)]
    }
    outcomes += avoided.map { .forgotten(uid: $0) }
    avoided = []
    lastNumber += 1
    resting = (tag, lastNumber)
    return outcomes + [.arrived(lastNumber)]
  }

  /// A look has found nothing.
  mutating func nothing() -> [Outcome] {
    guard isOccupied || !avoided.isEmpty || interruptions != nil else { return [] }
    misses += 1
    guard misses >= Self.missesUntilAway else { return [] }
    interruptions = nil
    let outcomes = leave() + avoided.map { .forgotten(uid: $0) }
    avoided = []
    return outcomes
  }

  /// The tag could not be read because we stopped: it is new to us when it is found again.
  mutating func unread() {
    resting = nil
  }

  /// The tag has been read, or it is known why it cannot be.
  mutating func examined() { interruptions = nil }

  /// The device failed while the tag was read: it is new to us when it is found again, unless that has happened too often.
  ///
  /// - Returns: whether it has, and the tag counts as read.
  mutating func interrupted() -> Bool {
    guard let tag = resting?.tag else { return false }
    var count = 1
    if let interruptions, Self.isSame(interruptions.tag, tag) { count += interruptions.count }
    interruptions = count < Self.mostInterruptions ? (tag, count) : nil
    guard interruptions != nil else { return true }
    resting = nil
    return false
  }

  /// The reader is gone, and whatever was on it.
  mutating func readerLeft() -> [Outcome] {
    leave()
  }

  private mutating func leave() -> [Outcome] {
    misses = 0
    guard let resting else { return [] }
    self.resting = nil
    if let number = resting.number { return [.left(number)] }
    let uids = avoided.filter { Self.isSame($0, resting.tag) }
    avoided.removeAll { uids.contains($0) }
    return uids.map { .forgotten(uid: $0) }
  }

  private static func isSame(_ a: TagActivation, _ b: TagActivation) -> Bool { a.isSamePlacement(as: b) }

  private static func isSame(_ uid: [UInt8], _ tag: TagActivation) -> Bool {
    uid == tag.identifier || (tag.hasRandomIdentifier && uid.count == 4 && uid.first == 0x08)
  }
}

extension TagActivation {
  /// Whether the identifier may be another one each time the field comes on.
  var hasRandomIdentifier: Bool {
    if case .typeA(let tag) = self { tag.hasRandomUID } else { false }
  }

  /// Whether it is the same tag as far as can be told. A random UID is new each time the field comes back, so that such a
  /// tag is known by everything else it says.
  func isSamePlacement(as other: TagActivation) -> Bool {
    guard case .typeA(let a) = self, case .typeA(let b) = other, a.hasRandomUID, b.hasRandomUID else {
      return type == other.type && identifier == other.identifier
    }
    return a.atqa == b.atqa && a.sak == b.sak && a.ats == b.ats
  }
}
