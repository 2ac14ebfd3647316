import ReaderLink
import Tags

/// Turns what each look at the field brings into stays of tags: one beginning and one end each, for as many tags as lie there.
///
/// A stay outlasts everything that only concerns us: a pause in scanning, a field that was off, a look that missed the tag.
struct PlacementTracker {
  /// A tag that counts as there.
  struct Resting {
    fileprivate(set) var tag: TagActivation
    /// Nil where it is left alone.
    let number: UInt64?
    /// Where it is left alone because the daemon wants that: the UID that the daemon knows it by.
    fileprivate var avoidedUID: [UInt8]?
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

  /// A tag that is to be left alone, and how many more looks without it say that it is away.
  private struct Avoided {
    let tag: AvoidedTag
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
  /// How many more looks announce nothing of what they find, since another program or a reader session had the reader: what lies there
  /// from then on may be missed by as many looks as anything else may without being away.
  private var quiet = RemainingLooks()
  /// How many more looks may find a tag that has come and was not announced, since we stopped or the device failed.
  private var unannounced = RemainingLooks()
  private var avoided: [Avoided] = []
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

  /// The next tag that may be this one, and no second one, is not announced until it has been away.
  mutating func avoid(_ tag: AvoidedTag) {
    guard !avoided.contains(where: { $0.tag.uid == tag.uid }) else { return }
    var entry = Avoided(tag: tag)
    entry.looks.begin(modulations.filter { $0.mayHave(tag.uid) })
    avoided.append(entry)
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
    let isQuiet = isQuiet(modulation)
    quiet.looked(for: modulation)
    unannounced.looked(for: modulation)
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
        if let number = resting[alike].number, resting[alike].content != nil, !isQuiet {
          lastNumber += 1
          outcomes.append(.uncertain(lastNumber, resting: number, tag))
        } else {
          resting[alike].tag = tag
          resting[alike].hasLostPower = false
        }
      } else if resting.count < Self.most {
        outcomes += arrive(tag, isQuiet: isQuiet)
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
    return outcomes + forget(gone.compactMap(\.avoidedUID)) + forget(after: modulation)
  }

  private mutating func arrive(_ tag: TagActivation, isQuiet: Bool) -> [Outcome] {
    let free = avoided.filter { !isShown($0) }
    if let entry = free.first(where: { $0.tag.uid == tag.identifier }) ?? free.first(where: { tag.mayBe($0.tag) }) {
      resting.append(Resting(tag: tag, number: nil, avoidedUID: entry.tag.uid))
      return [.avoided(uid: tag.identifier)]
    }
    if isQuiet {
      resting.append(Resting(tag: tag, number: nil))
      return []
    }
    guard isWanted(tag.type) else {
      resting.append(Resting(tag: tag, number: nil))
      return [.unwanted(tag)]
    }
    lastNumber += 1
    resting.append(Resting(tag: tag, number: lastNumber))
    return [.arrived(lastNumber, tag)]
  }

  /// Whether a tag that rests is taken for this one.
  private func isShown(_ entry: Avoided) -> Bool { resting.contains { $0.avoidedUID == entry.tag.uid } }

  /// Those that were left alone under these UIDs are away.
  private mutating func forget(_ uids: [[UInt8]]) -> [Outcome] {
    avoided.removeAll { uids.contains($0.tag.uid) }
    return uids.map { .forgotten(uid: $0) }
  }

  /// Takes those off the list of what is to be left alone that nothing has shown.
  private mutating func forget(after modulation: Modulation) -> [Outcome] {
    for index in avoided.indices where !isShown(avoided[index]) { avoided[index].looks.looked(for: modulation) }
    return forget(avoided.filter { !isShown($0) && $0.looks.areOver }.map(\.tag.uid))
  }

  /// The tag could not be read because we stopped: it is new to us when it is found again.
  mutating func unread(_ number: UInt64) {
    if let tag = resting.first(where: { $0.number == number })?.tag { unread(tag) }
    resting.removeAll { $0.number == number }
  }

  /// The same of one that may be the one that rests.
  mutating func unread(_ tag: TagActivation) { unannounced.begin([tag.modulation]) }

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
    unread(number)
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
    guard let index = resting.firstIndex(where: { $0.number == old }), interrupted.isTooOften(tag) else {
      unread(tag)
      return false
    }
    resting[index] = Resting(tag: tag, number: number)
    return true
  }

  // MARK: After somebody else

  /// Numbers go on behind those that were given meanwhile.
  mutating func `continue`(after number: UInt64) { lastNumber = max(lastNumber, number) }

  /// Whether the next look for `modulation` announces nothing.
  func isQuiet(_ modulation: Modulation) -> Bool { quiet.include(modulation) }

  /// Tags are wanted no more, and if they are again, it may be by somebody else: what has come and was not announced is nobody's.
  mutating func stop() {
    if !unannounced.areOver { quieten() }
    unannounced = RemainingLooks()
  }

  /// Another program, or a reader session, has had the reader: what the next looks find was laid down for that.
  mutating func quieten() {
    quiet.begin(modulations)
    fieldWentOff()
  }

  /// A tag that a reader session has left on the reader: it counts as there, and is not announced until it has been away.
  ///
  /// - Parameters:
  ///   - tag: what it says of itself.
  ///   - uid: by which UID the daemon knows it and hears of its removal; nil where it does not.
  /// - Returns: what becomes of the stay that it had before.
  mutating func leaveAlone(_ tag: TagActivation, knownAs uid: [UInt8]?) -> [Outcome] {
    fieldWentOff()
    let index = resting.firstIndex { $0.tag.isSameTag(as: tag) } ?? resting.firstIndex { $0.mayBe(tag) }
    let old = index.map { resting.remove(at: $0) }
    var new = Resting(tag: tag, number: nil, avoidedUID: uid ?? old?.avoidedUID)
    new.hasLostPower = true
    resting.append(new)
    let forgotten = [old?.avoidedUID].compactMap { $0 }.filter { $0 != new.avoidedUID }
    let left = [old?.number].compactMap { $0 }.map { Outcome.left($0) }
    return left + forget(forgotten)
  }

  /// Other technologies are looked for from here on. What can be found only from here on counts as announced where it lies there
  /// already; what is not looked for any more counts as away, and what rests besides stays what it is, also where it is read now.
  ///
  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - isWanted: whether tags of a kind are to be read.
  /// - Returns: which stays are over.
  mutating func look(for modulations: Set<Modulation>, isWanted: @escaping (TagType) -> Bool) -> [Outcome] {
    let leftOut = self.modulations.subtracting(modulations)
    let added = modulations.subtracting(self.modulations)
    (self.modulations, self.isWanted) = (modulations, isWanted)
    let gone = resting.filter { leftOut.contains($0.tag.modulation) }
    resting.removeAll { leftOut.contains($0.tag.modulation) }
    interrupted.leaveOut(leftOut)
    quiet.leaveOut(leftOut)
    unannounced.leaveOut(leftOut)
    for index in avoided.indices where !isShown(avoided[index]) { avoided[index].looks.leaveOut(leftOut) }
    quiet.begin(added)
    let left = gone.compactMap { $0.number.map { Outcome.left($0) } }
    let forgotten = forget(gone.compactMap(\.avoidedUID))
    return left + forgotten + forget(avoided.filter { !isShown($0) && $0.looks.areOver }.map(\.tag.uid))
  }

  /// The reader is gone, and whatever was on it.
  ///
  /// The tag with which the device has failed stays known, and so does one to be left alone that this process has not found: where a
  /// tag brings a reader or a process down, and the reader is away for a moment then, that would go on for ever otherwise.
  mutating func readerLeft() -> [Outcome] {
    let numbers = resting.compactMap(\.number)
    let uids = resting.compactMap(\.avoidedUID)
    resting = []
    (quiet, unannounced) = (RemainingLooks(), RemainingLooks())
    return numbers.map { .left($0) } + forget(uids)
  }
}
