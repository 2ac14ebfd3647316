import Names
import ReaderKit
import ReaderProtocol
import Tags

/// The daemon's goals and known tags, and the work on one card.
extension CardSlot {
  // MARK: Goals

  /// The reader scans for tags of these kinds. A resting card keeps its state, even if its kind becomes wanted.
  mutating func scan(for wanted: Set<TagType>) {
    isScanning = true
    self.wanted = wanted
  }

  /// The reader no longer scans. It may scan again for another user, so a card that was not read is not announced.
  mutating func stop() -> [Outcome] {
    isScanning = false
    guard case .unread(let card, var work) = state else { return [] }
    if let tag = work.tag {
      let number = newNumber()
      state = .resting(card, number: number)
      return [.known(number, tag)]
    }
    work.isSilent = true
    state = .unread(card, work)
    return []
  }

  /// The daemon has sent its known tags. Each of them that cannot be the card that lies there was removed.
  mutating func know(_ known: KnownTags) -> [Outcome] {
    key = known.key
    var own: UInt64?
    if case .resting(_, let number) = state { own = number }
    // A tag that this process found and that does not rest here was removed, and the daemon will learn of it. But a tag
    // with which the reader has failed may come back with the reader.
    expected = known.tags.filter { $0.number != own && ($0.isSuspect || $0.number > lastNumber) }
    if !hasSeenReader { includesFirst = known.includesFirst }
    switch state {
    case .unread(let card, var work):
      if known.includesFirst { work.isSilent = true }
      state = .unread(card, work)
      return []
    case .noReader, .examining, .ignored(_, isIdentified: false): return []
    case .empty, .resting, .ignored(_, isIdentified: true): return expectNone()
    }
  }

  // MARK: Work on one card

  /// The next step.
  mutating func next(at now: Instant) -> Step {
    guard isScanning, case .unread(let card, let work) = state else { return .wait(until: nil) }
    guard card.mayBe(wanted) else {
      state = .ignored(card, isIdentified: false)
      return .wait(until: nil)
    }
    if work.approach.isOver { return .wait(until: nil) }
    guard let start = work.approach.notBefore, now < start else { return .examine }
    return .wait(until: start)
  }

  /// Begins the work on the card. Returns the number of its placement; nil if there is no card to work on.
  mutating func begin() -> UInt64? {
    guard case .unread(let card, let work) = state else { return nil }
    let number = newNumber()
    state = .examining(card, Examination(number: number, work: work))
    return number
  }

  /// The reader may report the card on which this process works as another one, or no longer.
  mutating func expectReturn(_ mayReturn: Bool = true, at now: Instant) {
    guard case .examining(let card, var examination) = state else { return }
    examination.mayReturnUntil = mayReturn ? now + Self.returnAllowance : nil
    state = .examining(card, examination)
  }

  /// Until when the card that has left the slot may come back; nil if it has not left, or will not.
  var mayReturnUntil: Instant? {
    guard case .examining(_, let examination) = state, case .state? = examination.successor else { return nil }
    return examination.mayReturnUntil
  }

  /// Whether a card came when the reader might report this one again, and was not identified yet.
  var hasReturned: Bool {
    guard case .examining(_, let examination) = state else { return false }
    return examination.returned != nil
  }

  /// The card was identified again. Returns whether it is the same one. Another one, or none, is its successor.
  mutating func verify(_ isSame: Bool) -> Bool {
    guard case .examining(var card, var examination) = state else { return false }
    if isSame, let returned = examination.returned { card = Card(serial: card.serial, state: returned) }
    if !isSame, let returned = examination.returned { examination.successor = .state(returned) }
    examination.returned = nil
    state = .examining(card, examination)
    return isSame
  }

  /// The card has power after all. Returns its kind.
  mutating func powered(_ atr: [UInt8]) -> CardKind {
    guard case .examining(let card, let examination) = state else { return .unknown }
    let powered = card.powered(atr)
    state = .examining(powered, examination)
    return powered.kind
  }

  /// What the identity of a tag means.
  enum Identity: Hashable {
    /// Read the tag and announce its content.
    case new
    /// The daemon knows the tag. Leave it alone.
    case recognized
    /// The tag is not announced. Leave it alone.
    case known
    /// Tags of this kind are not wanted. Leave it alone.
    case unwanted
  }

  /// The card was identified. Unless it is new, the work on it is over.
  mutating func identified(_ tag: TagActivation, at now: Instant) -> (Identity, [Outcome]) {
    guard case .examining(let card, var examination) = state else { return (.unwanted, []) }
    let index = expected.firstIndex { $0.identifies(tag, key) } ?? expected.firstIndex { $0.mayBe(tag) }
    let isEcho = examination.work.echo.map { tag.isSameTag(as: $0.tag) } ?? false
    if !isEcho { examination.work.echo = nil }
    // pcscd may have taken the power before this process connected, so the reader may report the same tag once more.
    echo = examination.work.echo
    if index != nil || isEcho || examination.work.isSilent { rest(card, examination, tag) }
    if let index { return (.recognized, recognize(expected[index], card, at: now)) }
    let others = expectNone()
    if examination.work.isSilent || isEcho {
      let number = examination.number
      return (.known, others + [.known(number, tag)] + end(.resting(card, number: number), at: now))
    }
    guard wanted.contains(tag.type) else {
      return (.unwanted, others + end(.ignored(card, isIdentified: true), at: now))
    }
    examination.tag = tag
    state = .examining(card, examination)
    return (.new, others)
  }

  /// The card has no identifier. If the daemon knows a card of this type without one, the work is over. Returns nil if it
  /// does not.
  mutating func recognized(_ type: TagType, at now: Instant) -> [Outcome]? {
    guard case .examining(let card, _) = state else { return [] }
    let fingerprint = TagFingerprint(type, [], key)
    guard let known = expected.first(where: { $0.fingerprint == fingerprint }) else { return nil }
    return recognize(known, card, at: now)
  }

  /// The card is this known tag.
  private mutating func recognize(_ tag: KnownTag, _ card: Card, at now: Instant) -> [Outcome] {
    expected.removeAll { $0.number == tag.number }
    return expectNone() + end(.resting(card, number: tag.number), at: now)
  }

  /// The card was read, or has a result that no other attempt changes. Its result is reported.
  mutating func read(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    if let tag = examination.tag { rest(card, examination, tag) }
    return end(.resting(card, number: examination.number), at: now)
  }

  /// The goal has changed before the card was read.
  mutating func interrupted(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    var work = examination.work
    work.tag = examination.tag
    return giveUp(examination) + end(.unread(card, work), at: now)
  }

  /// Another program has the card exclusively. Returns whether there is another attempt before that ends.
  mutating func refused(at now: Instant) -> (isTriedAgain: Bool, [Outcome]) {
    guard case .examining(let card, let examination) = state else { return (true, []) }
    var work = examination.work
    let isTriedAgain = work.approach.wasRefused(at: now)
    return (isTriedAgain, giveUp(examination) + end(.unread(card, work), at: now))
  }

  /// Whether a card lies there unread because another program has it exclusively, and no attempt is due.
  var isHeld: Bool { if case .unread(_, let work) = state { work.approach.isOver } else { false } }

  /// The card could not be used: it was removed and pcscd has not said so yet, or the reader is gone.
  mutating func failed(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    var work = examination.work
    let next = work.approach.wasRefused(at: now) ? State.unread(card, work) : .ignored(card, isIdentified: false)
    return giveUp(examination) + end(next, at: now)
  }

  /// The card gets no power. Returns nil if there is no other attempt. The work goes on then: report the problem.
  mutating func mute(at now: Instant) -> [Outcome]? {
    guard case .examining(let card, let examination) = state else { return [] }
    var work = examination.work
    guard work.approach.wasMute(at: now) else { return nil }
    return end(.unread(card, work), at: now)
  }

  /// The card is left alone without a report, because it cannot be identified.
  mutating func ignore(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    return giveUp(examination) + end(.ignored(card, isIdentified: false), at: now)
  }

  /// Whether the card on which this process works is only identified.
  var isSilent: Bool { if case .examining(_, let examination) = state { examination.work.isSilent } else { true } }

  /// The daemon was told that the tag is being read, and gets no content.
  private func giveUp(_ examination: Examination) -> [Outcome] {
    examination.tag == nil ? [] : [.removed(examination.number)]
  }

  /// Ends the work on the card. Then come the events that have happened meanwhile.
  private mutating func end(_ next: State, at now: Instant) -> [Outcome] {
    guard case .examining(_, let examination) = state else { return [] }
    state = next
    // A card that came after a reset, and was not identified again, counts as another one.
    switch examination.successor ?? examination.returned.map(Successor.state) {
    case nil: return []
    case .state(let new)?: return handle(new, at: now)
    case .noReader?: return readerLeft()
    }
  }
}
