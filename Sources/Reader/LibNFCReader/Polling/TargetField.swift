import Names
import ReaderKit
import ReaderProtocol
import Tags

/// Turns the results of looks into placements, for as many tags as lie on the reader. Each placement begins once and
/// ends once.
///
/// A placement outlasts interruptions by the reader: a pause in scanning, a field that was off, or a look that missed
/// the tag.
struct TargetField {
  struct Resting {
    fileprivate(set) var tag: TagActivation
    /// Of the placement; nil if this kind of tag is not wanted.
    let number: UInt64?
    /// Whether the tag must not get any command, not even a presence check.
    fileprivate(set) var isSuspect = false
    /// Looks for its technology since one last found the tag.
    fileprivate(set) var misses = 0
    /// Without power since a look last found the tag.
    fileprivate var hasLostPower = false
    /// No look has found the tag since.
    fileprivate var hasFailedCheck = false
    /// Kept to recognise the tag if it may change its identifier.
    fileprivate var content: TagReport.Content?

    /// Whether `other` may be this tag with a new identifier. A phone that is moved can lose power without the field
    /// being off. For Type B only the field matters, because any identifier may be random.
    fileprivate func mayBe(_ other: TagActivation) -> Bool {
      guard tag.isAlike(other) else { return false }
      if case .typeB = tag { return hasLostPower }
      return true
    }
  }

  /// A tag that the daemon knows but no look has found yet. It is gone if the remaining looks miss it, too.
  private struct Expected {
    let tag: KnownTag
    var looks = RemainingLooks()
  }

  /// The number of looks that have to miss a tag until it is gone. A single look may miss a tag that is there.
  static let missesUntilAway = 2
  /// Tags tracked at a time.
  static let most = ReaderLimits.tags

  private(set) var resting: [Resting] = []
  private var modulations: Set<Modulation>
  private var isWanted: (TagType) -> Bool
  /// Of the newest placement. Each new placement gets the next number.
  private(set) var lastNumber: UInt64
  /// The looks that announce no tag, because no one knows which tags lay there before (`KnownTags.includesFirst`).
  /// There are `missesUntilAway` of them per technology, because a single look may miss a tag.
  private var first = RemainingLooks()
  private var key = TagFingerprint.Key(low: 0, high: 0)
  private var expected: [Expected] = []
  private var interrupted = InterruptedTags()

  /// `lastNumber` is the number of the last placement so far.
  init(
    _ modulations: Set<Modulation> = Set(Modulation.allCases), after lastNumber: UInt64 = 0,
    isWanted: @escaping (TagType) -> Bool = { _ in true }
  ) {
    self.modulations = modulations
    self.lastNumber = lastNumber
    self.isWanted = isWanted
  }

  /// Adds the daemon's known tags. Each entry matches one tag only. That tag is not announced again before it has been
  /// removed.
  mutating func know(_ known: KnownTags) {
    key = known.key
    // A tag that the daemon has dropped was removed. Its next tap is new.
    expected.removeAll { entry in !known.tags.contains { $0.number == entry.tag.number } }
    for tag in known.tags {
      if let index = resting.firstIndex(where: { $0.number == tag.number }) {
        resting[index].isSuspect = tag.isSuspect
      } else if !expected.contains(where: { $0.tag.number == tag.number }) {
        expected.append(Expected(tag: tag))
      }
    }
    if known.includesFirst {
      first.begin(modulations)
      fieldWentOff()
    }
    expectAgain()
  }

  /// Gives each expected tag the full number of looks.
  private mutating func expectAgain() {
    for index in expected.indices {
      expected[index].looks = RemainingLooks()
      expected[index].looks.begin(modulations.filter { $0.mayHave(expected[index].tag.technology) })
    }
  }

  mutating func checkFailed(_ tag: TagActivation) {
    for index in resting.indices where resting[index].tag.isSameTag(as: tag) { resting[index].hasFailedCheck = true }
  }

  /// A tag with a random identifier may have a new one.
  mutating func fieldWentOff() {
    for index in resting.indices { resting[index].hasLostPower = true }
  }

  mutating func looked(for modulation: Modulation, found tags: [TagActivation]) -> [Outcome] {
    let isFirst = isFirst(modulation)
    first.looked(for: modulation)
    var seen: Set<Int> = []
    var strangers: [TagActivation] = []
    for tag in tags {
      if let index = resting.firstIndex(where: { $0.tag.isSameTag(as: tag) }) {
        seen.insert(index)
        resting[index].misses = 0
        resting[index].hasLostPower = false
        resting[index].hasFailedCheck = false
      } else {
        strangers.append(tag)
      }
    }
    var outcomes: [Outcome] = []
    for tag in strangers {
      let alike = resting.indices.first { !seen.contains($0) && resting[$0].mayBe(tag) }
      if let alike {
        seen.insert(alike)
        resting[alike].misses = 0
        if let number = resting[alike].number, resting[alike].content != nil, !isFirst {
          lastNumber += 1
          outcomes.append(.uncertain(lastNumber, resting: number, tag))
        } else {
          resting[alike].tag = tag
          resting[alike].hasLostPower = false
        }
      } else if resting.count < Self.most {
        outcomes += arrive(tag, isFirst: isFirst)
        seen.insert(resting.count - 1)
      }
    }
    let missed = resting.indices.filter { !seen.contains($0) && resting[$0].tag.modulation == modulation }
    for index in missed {
      // A tag that failed its check and has another tag in its place is gone without a second look.
      let isReplaced = resting[index].hasFailedCheck && !strangers.isEmpty
      resting[index].misses += isReplaced ? Self.missesUntilAway : 1
    }
    let gone = resting.filter { $0.misses >= Self.missesUntilAway }
    resting.removeAll { $0.misses >= Self.missesUntilAway }
    outcomes = gone.compactMap { $0.number.map { .left($0) } } + outcomes
    interrupted.looked(for: modulation, found: tags)
    return outcomes + miss(after: modulation)
  }

  private mutating func arrive(_ tag: TagActivation, isFirst: Bool) -> [Outcome] {
    let index = expected.firstIndex { $0.tag.identifies(tag, key) } ?? expected.firstIndex { $0.tag.mayBe(tag) }
    if let index {
      let known = expected.remove(at: index).tag
      resting.append(Resting(tag: tag, number: known.number, isSuspect: known.isSuspect))
      return [.recognized(tag)]
    }
    guard isFirst || isWanted(tag.type) else {
      resting.append(Resting(tag: tag, number: nil))
      return [.unwanted(tag)]
    }
    lastNumber += 1
    resting.append(Resting(tag: tag, number: lastNumber))
    return [isFirst ? .known(lastNumber, tag) : .arrived(lastNumber, tag)]
  }

  /// Counts a look, and returns the expected tags without remaining looks as gone.
  private mutating func miss(after modulation: Modulation) -> [Outcome] {
    var missed: [Outcome] = []
    for index in expected.indices.reversed() where expected[index].looks.include(modulation) {
      expected[index].looks.looked(for: modulation)
      if expected[index].looks.areOver { missed.append(.left(expected.remove(at: index).tag.number)) }
    }
    return missed
  }

  /// The tag's reading was stopped. The tag is new when it is found again.
  mutating func unread(_ number: UInt64) {
    if let tag = resting.first(where: { $0.number == number })?.tag { unread(tag) }
    resting.removeAll { $0.number == number }
  }

  /// Like `unread(_:)`, for a tag that may be a resting tag. The resting tag keeps its state.
  mutating func unread(_ tag: TagActivation) { interrupted.add(tag) }

  mutating func reselected(_ number: UInt64, _ tag: TagActivation) {
    guard let index = resting.firstIndex(where: { $0.number == number }) else { return }
    resting[index].tag = tag
    resting[index].hasLostPower = false
  }

  /// The tag was read, or `content` says why it cannot be.
  mutating func examined(_ number: UInt64, _ tag: TagActivation, _ content: TagReport.Content) {
    interrupted.forget(tag)
    guard let index = resting.firstIndex(where: { $0.number == number }) else { return }
    resting[index].tag = tag
    if resting[index].tag.mayChangeIdentifier { resting[index].content = content }
  }

  /// The tag was read and may be the resting tag `old`. Returns whether it is. If not, its placement is `number`.
  mutating func compared(_ number: UInt64, with old: UInt64, _ tag: TagActivation, _ content: TagReport.Content) -> Bool
  {
    guard let index = resting.firstIndex(where: { $0.number == old }) else { return false }
    interrupted.forget(tag)
    let isSame = resting[index].content == content
    resting[index] = Resting(tag: tag, number: isSame ? old : number, content: content)
    return isSame
  }

  /// The device failed while a tag was read, or could not select it again. The tag is new when it is found again,
  /// unless this has happened too often. Then the tag is treated as read, and the result is true.
  mutating func interrupted(_ number: UInt64) -> Bool {
    guard let tag = resting.first(where: { $0.number == number })?.tag else { return false }
    if interrupted.isTooOften(tag) { return true }
    resting.removeAll { $0.number == number }
    return false
  }

  /// Like `interrupted(_:)`, for a tag that may be the resting tag `old`. The resting tag keeps its state unless this
  /// has happened too often. Then the tag is treated as a different one that was read, with `number`, and the result is
  /// true.
  mutating func interrupted(_ number: UInt64, with old: UInt64, _ tag: TagActivation) -> Bool {
    guard let index = resting.firstIndex(where: { $0.number == old }), interrupted.isTooOften(tag) else { return false }
    resting[index] = Resting(tag: tag, number: number)
    return true
  }

  // MARK: Changes of the goal or the reader

  /// A reader session used the numbers up to this one.
  mutating func `continue`(after number: UInt64) { lastNumber = max(lastNumber, number) }

  /// The next look for `modulation` announces no tag.
  func isFirst(_ modulation: Modulation) -> Bool { first.include(modulation) }

  /// Scanning stops. It may start again for another user, so a tag that was not read becomes known.
  mutating func stop() -> [Outcome] {
    interrupted.takeAll().flatMap { tag -> [Outcome] in
      if let index = resting.firstIndex(where: { $0.tag.isSamePlacement(as: tag) }) {
        resting[index].tag = tag
        resting[index].content = nil
        return []
      }
      guard resting.count < Self.most else { return [] }
      lastNumber += 1
      resting.append(Resting(tag: tag, number: lastNumber))
      return [.known(lastNumber, tag)]
    }
  }

  /// Forgets tags of technologies that are no longer polled, but the daemon still knows them. The other resting tags
  /// keep their state, even if their kind becomes wanted.
  mutating func look(for modulations: Set<Modulation>, isWanted: @escaping (TagType) -> Bool) {
    let leftOut = self.modulations.subtracting(modulations)
    (self.modulations, self.isWanted) = (modulations, isWanted)
    resting.removeAll { $0.tag.modulation.map(leftOut.contains) ?? false }
    interrupted.leaveOut(leftOut)
    first.leaveOut(leftOut)
    expectAgain()
  }

  /// The reader was unplugged or replaced, so the resting tags are forgotten.
  ///
  /// Interrupted tags are kept, and so are known tags that no look has found yet. Otherwise there could be an endless
  /// loop: a tag makes the reader or the process fail, the reader disappears for a moment, and the tag is new again.
  mutating func readerLeft() -> [Outcome] {
    let numbers = resting.compactMap(\.number)
    resting = []
    first = RemainingLooks()
    return numbers.map { .left($0) }
  }
}

extension TargetField {
  enum Outcome: Hashable {
    /// A new tag: read it and announce its content.
    case arrived(UInt64, TagActivation)
    /// A tag that may be the resting tag `resting` with a new random identifier: compare their contents.
    case uncertain(UInt64, resting: UInt64, TagActivation)
    /// The tag with this placement number is gone.
    case left(UInt64)
    /// A tag that is not announced, but reported to the daemon as known.
    case known(UInt64, TagActivation)
    /// A tag that the daemon already knows.
    case recognized(TagActivation)
    /// A tag of a kind that is not wanted.
    case unwanted(TagActivation)

    var isToBeRead: Bool {
      switch self {
      case .arrived, .uncertain: true
      case .left, .known, .recognized, .unwanted: false
      }
    }
  }
}

/// How many more looks a condition lasts, per technology. It starts at `TargetField.missesUntilAway`.
struct RemainingLooks {
  private var counts: [Modulation: Int] = [:]
  var areOver: Bool { counts.isEmpty }

  func include(_ modulation: Modulation) -> Bool { counts[modulation] != nil }

  mutating func begin(_ modulations: some Sequence<Modulation>) {
    for modulation in modulations { counts[modulation] = TargetField.missesUntilAway }
  }

  /// They are no longer polled.
  mutating func leaveOut(_ modulations: some Sequence<Modulation>) {
    for modulation in modulations { counts[modulation] = nil }
  }

  mutating func looked(for modulation: Modulation) {
    counts[modulation] = counts[modulation].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}

/// Tags that were placed but not read, because the goal changed or the device failed. For each tag: the device failures
/// in a row, and the looks that have missed it since.
struct InterruptedTags {
  /// The number of device failures in a row that becomes the tag's result.
  static let most = ReaderLimits.interruptions

  private var entries: [(tag: TagActivation, count: Int, misses: Int)] = []

  mutating func add(_ tag: TagActivation) { set(tag, count: count(of: tag)) }

  /// The device failed while the tag was read. If this has happened too often, the tag is forgotten.
  mutating func isTooOften(_ tag: TagActivation) -> Bool {
    let count = 1 + count(of: tag)
    guard count < Self.most else {
      forget(tag)
      return true
    }
    set(tag, count: count)
    return false
  }

  mutating func forget(_ tag: TagActivation) { entries.removeAll { $0.tag.isSamePlacement(as: tag) } }

  /// The count of a tag that is gone starts again at zero when it returns.
  mutating func looked(for modulation: Modulation, found tags: [TagActivation]) {
    for index in entries.indices where entries[index].tag.modulation == modulation {
      let isThere = tags.contains { $0.isSamePlacement(as: entries[index].tag) }
      entries[index].misses = isThere ? 0 : entries[index].misses + 1
    }
    entries.removeAll { $0.misses >= TargetField.missesUntilAway }
  }

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
    entries = entries.suffix(TargetField.most - 1) + [(tag, count, 0)]
  }
}
