import ReaderLink
import Tags

/// Turns what each look at the field brings into stays of tags: one beginning and one end each, for as many tags as lie there.
///
/// A stay outlasts everything that only concerns us: a pause in scanning, a field that was off, a look that missed the tag.
struct PlacementTracker {
  /// A tag that counts as there.
  struct Resting {
    fileprivate(set) var tag: TagActivation
    /// Nil if it is of a kind that is not wanted.
    let number: UInt64?
    /// Nothing may be sent to it, not even to see whether it is there.
    fileprivate(set) var isSuspect = false
    /// Looks for its technology since it was found last.
    fileprivate(set) var misses = 0
    /// Whether it has been without power since it was found last.
    fileprivate var hasLostPower = false
    /// Whether it did not answer when it was asked, and has not been found since.
    fileprivate var hasFailedCheck = false
    /// What it holds, where that may be needed to know it again.
    fileprivate var content: TagReport.Content?

    /// Whether this may be the tag that says that of itself. A phone that is moved loses its power without our doing; of Type B, where
    /// any identifier may be made up, only what the field does counts.
    fileprivate func mayBe(_ other: TagActivation) -> Bool {
      guard tag.isAlike(other) else { return false }
      if case .typeB = tag { return hasLostPower }
      return true
    }
  }

  /// A tag that the daemon knows and that was not found yet, and how many more looks without it say that it is away.
  private struct Expected {
    let tag: KnownTag
    var looks = RemainingLooks()
  }

  /// Looks without a tag until it counts as away: one may miss it.
  static let missesUntilAway = 2
  /// Tags that are known at a time.
  static let most = ReaderLimits.tags

  /// The tags that count as there.
  private(set) var resting: [Resting] = []

  private var modulations: Set<Modulation>
  private var isWanted: (TagType) -> Bool
  /// What the last tag that was announced got; each gets one more.
  private(set) var lastNumber: UInt64
  /// How many more looks announce nothing of what they find, since no one knows what lay there: what lies there from
  /// then on may be missed by as many looks as anything else may without being away.
  private var first = RemainingLooks()
  private var key = TagFingerprint.Key(low: 0, high: 0)
  private var expected: [Expected] = []
  private var interrupted = InterruptedTags()

  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - lastNumber: what the last tag got that was announced before.
  ///   - isWanted: whether tags of a kind are to be read.
  init(
    _ modulations: Set<Modulation> = Set(Modulation.allCases), after lastNumber: UInt64 = 0,
    isWanted: @escaping (TagType) -> Bool = { _ in true }
  ) {
    self.modulations = modulations
    self.lastNumber = lastNumber
    self.isWanted = isWanted
  }

  /// Takes in what the daemon knows. Each known tag is one tag and no second one, and is not announced until it has
  /// been away.
  mutating func know(_ known: KnownTags) {
    key = known.key
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

  /// What is expected may be missed by as many looks as anything else.
  private mutating func expectAgain() {
    for index in expected.indices {
      expected[index].looks = RemainingLooks()
      expected[index].looks.begin(modulations.filter { $0.mayHave(expected[index].tag.technology) })
    }
  }

  /// The selected tag did not answer.
  mutating func checkFailed(_ tag: TagActivation) {
    for index in resting.indices where resting[index].tag.isSameTag(as: tag) { resting[index].hasFailedCheck = true }
  }

  /// The field was off: whoever makes up identifiers may have made up a new one.
  mutating func fieldWentOff() {
    for index in resting.indices { resting[index].hasLostPower = true }
  }

  /// A look for `modulation` has found `tags`.
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
      // Who did not answer, and has another tag in its place, need not be looked for again.
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
    let fingerprint = TagFingerprint(tag.type.description, tag.identifier, key)
    let index =
      expected.firstIndex { $0.tag.fingerprint == fingerprint }
      ?? expected.firstIndex {
        $0.tag.mayHaveChanged && $0.tag.technology == tag.type.description && tag.mayChangeIdentifier
      }
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

  /// Says of those that are expected, and that no look has found, that they are away.
  private mutating func miss(after modulation: Modulation) -> [Outcome] {
    var missed: [Outcome] = []
    for index in expected.indices.reversed() where expected[index].looks.include(modulation) {
      expected[index].looks.looked(for: modulation)
      if expected[index].looks.areOver { missed.append(.left(expected.remove(at: index).tag.number)) }
    }
    return missed
  }

  /// The tag could not be read because we stopped: it is new to us when it is found again.
  mutating func unread(_ number: UInt64) {
    if let tag = resting.first(where: { $0.number == number })?.tag { unread(tag) }
    resting.removeAll { $0.number == number }
  }

  /// The same of one that may be the one that rests.
  mutating func unread(_ tag: TagActivation) { interrupted.add(tag) }

  /// The tag calls itself otherwise since it was selected last.
  mutating func reselected(_ number: UInt64, _ tag: TagActivation) {
    guard let index = resting.firstIndex(where: { $0.number == number }) else { return }
    resting[index].tag = tag
    resting[index].hasLostPower = false
  }

  /// The tag has been read, or it is known why it cannot be.
  ///
  /// - Parameters:
  ///   - number: its number.
  ///   - tag: what it says of itself since it was selected last.
  ///   - content: what it holds.
  mutating func examined(_ number: UInt64, _ tag: TagActivation, _ content: TagReport.Content) {
    interrupted.forget(tag)
    guard let index = resting.firstIndex(where: { $0.number == number }) else { return }
    resting[index].tag = tag
    if resting[index].tag.mayChangeIdentifier { resting[index].content = content }
  }

  /// The tag that may be one that rests has been read.
  ///
  /// - Parameters:
  ///   - number: the number it has if it is another one.
  ///   - old: the number of the one that rests.
  ///   - tag: what it says of itself since it was selected last.
  ///   - content: what it holds.
  /// - Returns: whether it is the same one.
  mutating func compared(_ number: UInt64, with old: UInt64, _ tag: TagActivation, _ content: TagReport.Content) -> Bool
  {
    guard let index = resting.firstIndex(where: { $0.number == old }) else { return false }
    interrupted.forget(tag)
    let isSame = resting[index].content == content
    resting[index] = Resting(tag: tag, number: isSame ? old : number, content: content)
    return isSame
  }

  /// The device failed while the tag was read, or could not select it again: it is new to us when it is found again, unless that has
  /// happened too often.
  ///
  /// - Parameter number: the tag.
  /// - Returns: whether it has, and the tag counts as read.
  mutating func interrupted(_ number: UInt64) -> Bool {
    guard let tag = resting.first(where: { $0.number == number })?.tag else { return false }
    if interrupted.isTooOften(tag) { return true }
    resting.removeAll { $0.number == number }
    return false
  }

  /// The same with a tag that may be one that rests: that one stays what it was, unless this has happened too often.
  ///
  /// - Parameters:
  ///   - number: the number it has if it is another one.
  ///   - old: the number of the one that rests.
  ///   - tag: what it says of itself.
  /// - Returns: whether it has, and the tag counts as another one that was read.
  mutating func interrupted(_ number: UInt64, with old: UInt64, _ tag: TagActivation) -> Bool {
    guard let index = resting.firstIndex(where: { $0.number == old }), interrupted.isTooOften(tag) else { return false }
    resting[index] = Resting(tag: tag, number: number)
    return true
  }

  // MARK: After somebody else

  /// Numbers go on behind those that were given meanwhile.
  mutating func `continue`(after number: UInt64) { lastNumber = max(lastNumber, number) }

  /// Whether the next look for `modulation` announces nothing.
  func isFirst(_ modulation: Modulation) -> Bool { first.include(modulation) }

  /// Tags are wanted no more, and if they are again, it may be by somebody else: a tag that came and was not read is
  /// known from now on.
  ///
  /// - Returns: what the daemon should know.
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

  /// Other technologies are looked for from now on. Nothing is known any more here of tags that are not looked for;
  /// the daemon knows them. What rests besides stays what it is, also if it is read now.
  ///
  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - isWanted: whether tags of a kind are to be read.
  mutating func look(for modulations: Set<Modulation>, isWanted: @escaping (TagType) -> Bool) {
    let leftOut = self.modulations.subtracting(modulations)
    (self.modulations, self.isWanted) = (modulations, isWanted)
    resting.removeAll { leftOut.contains($0.tag.modulation) }
    interrupted.leaveOut(leftOut)
    first.leaveOut(leftOut)
    expectAgain()
  }

  /// The reader is gone, and whatever was on it.
  ///
  /// The tag with which the device has failed stays known, and so does one that the daemon knows and this process has
  /// not found: if a tag brings a reader or a process down, and the reader is away for a moment then, that would go
  /// on for ever otherwise.
  mutating func readerLeft() -> [Outcome] {
    let numbers = resting.compactMap(\.number)
    resting = []
    first = RemainingLooks()
    return numbers.map { .left($0) }
  }
}
