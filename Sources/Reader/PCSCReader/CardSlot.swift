import Names
import ReaderKit
import ReaderProtocol
import Tags

/// Decides what happens with the card on the reader: pcscd's events and the daemon's goals go in, steps and reports
/// come out. It has no connection and no clock.
///
/// A placement is one value of pcscd's counter, unless the reader reports a card again after this process has reset it.
/// It begins once and ends once. A card that came while the reader did not scan is never announced, as if it lay there
/// before.
struct CardSlot {
  typealias Instant = SuspendingClock.Instant

  struct Card: Hashable {
    /// Distinguishes this card from earlier ones, also after the counter has wrapped.
    let serial: UInt64
    fileprivate(set) var state: SlotState

    func `is`(_ other: SlotState) -> Bool { other.isPresent && other.counter == state.counter }

    /// The same card after it got power.
    func powered(_ atr: [UInt8]) -> Card {
      var card = self
      card.state.atr = Array(atr.prefix(SlotState.longestATR))
      card.state.isMute = false
      return card
    }

    /// Without power, the card's kind is unknown.
    var isWithoutPower: Bool { state.isMute || state.atr.isEmpty }
  }

  /// The remaining work on a card.
  struct Work: Hashable {
    /// The card is only identified and reported as known, not read.
    var isSilent: Bool
    /// The slot may have no antenna. Some devices have such a slot, which reports a card that gets no power from the
    /// beginning. It is not reported before it has power.
    var mayBeNone = false
    var approach = CardApproach()
    /// If it was identified before its reading was interrupted.
    var tag: TagActivation?
    /// The tag that rested there before. If it is this one, the reader has only reported it again.
    var echo: Echo?
  }

  /// A card on which this process works.
  struct Examination: Hashable {
    let number: UInt64
    var work: Work
    /// Once its placement was reported.
    var tag: TagActivation?
    /// The events in the slot since the card left it; nil if the card is still there.
    var successor: Successor?
    /// Until when an insertion may be the same card, reported again; nil if it may not.
    var mayReturnUntil: Instant?
    /// The state of a card that came before that. It is the same card if it has the same identity.
    var returned: SlotState?
  }

  /// A resting tag that the reader may report as another one, because this process had taken its power.
  struct Echo: Hashable {
    let tag: TagActivation
    let answerToReset: [UInt8]
    let until: Instant
    /// Whether it was reported again already. Some readers do so after each identification.
    let wasReported: Bool
  }

  enum Successor: Hashable {
    case state(SlotState)
    case noReader
  }

  enum State: Hashable {
    /// pcscd does not have the reader, or has not reported it yet. Can transition to: `.empty`, `.unread`, `.ignored`.
    case noReader
    /// No card lies there. Can transition to: `.noReader`, `.unread`, `.ignored`.
    case empty
    /// A card to work on while the reader scans. Another program may have it exclusively: the work then waits until
    /// that ends. Can transition to: every state.
    case unread(Card, Work)
    /// Work on the card goes on. Events wait until it ends. Can transition to: every state.
    case examining(Card, Examination)
    /// A card that was announced or is known. It gets no commands while the reader scans. Can transition to:
    /// `.noReader`, `.empty`, `.unread`, `.ignored`.
    case resting(Card, number: UInt64)
    /// A card that is left alone: it has contacts, its kind is not wanted, or connecting has failed too often. Its
    /// identity is known if it cannot be one of the daemon's known tags. Can transition to: `.noReader`, `.empty`,
    /// `.unread`, `.ignored`.
    case ignored(Card, isIdentified: Bool)
    /// The reader reports a card that is not there. `isCertainAt` is nil until this process has sent the command that
    /// switches on the reader's own polling. From then on the reader is stuck. Can transition to: `.noReader`, `.empty`,
    /// `.unread`, `.ignored`.
    case placeholder(Card, isCertainAt: Instant?)
  }

  enum Outcome: Hashable {
    case removed(UInt64)
    /// A tag lies there that is not announced.
    case known(UInt64, TagActivation)
  }

  enum Step: Hashable {
    /// Wait for an event, at most until this time.
    case wait(until: Instant?)
    /// Connect to the card: call `begin()`.
    case examine
    /// Switch on the reader's own polling, then call `pollingRestored(at:)`.
    case restorePolling
  }

  /// How long after this process has reset a card, or has ended the reader's transparent session, an insertion may be
  /// the same card. Some readers report a card that they power again as another one.
  static let returnAllowance = Duration.seconds(1)
  /// How long the reader may take to report that no card is there after its polling was switched on.
  static let restoringAllowance = Duration.seconds(3)

  var state = State.noReader
  private var lastSerial: UInt64 = 0
  /// Of the newest placement. Each new placement gets the next number.
  var lastNumber: UInt64 = 0
  var isScanning = false
  var wanted = Set(TagType.readable)

  var key = TagFingerprint.Key(low: 0, high: 0)
  /// The daemon's known tags that may be the card that lies there.
  var expected: [KnownTag] = []
  /// Since this process began.
  private(set) var hasSeenReader = false
  /// Whether the card that lies there at first is known (`KnownTags.includesFirst`).
  var includesFirst = false
  /// The tag that rests there, or has rested there before, if the reader may report it again.
  var echo: Echo?

  // MARK: Events

  /// pcscd no longer has the reader. Known tags that were not found yet stay known: otherwise a tag that makes the
  /// reader fail would be announced each time it comes back.
  mutating func readerLeft() -> [Outcome] {
    switch state {
    case .examining(let card, var examination):
      examination.successor = .noReader
      state = .examining(card, examination)
      return []
    case .resting(_, let number):
      state = .noReader
      return [.removed(number)]
    case .noReader, .empty, .unread, .ignored, .placeholder:
      state = .noReader
      return []
    }
  }

  /// pcscd has reported the state of the slot.
  mutating func handle(_ new: SlotState, at now: Instant) -> [Outcome] {
    switch state {
    case .noReader:
      let isFirst = !hasSeenReader
      hasSeenReader = true
      let outcomes = settle(new, isSilent: isFirst ? includesFirst : !isScanning, at: now)
      if isFirst, new.isMute, case .unread(let card, var work) = state {
        work.mayBeNone = true
        state = .unread(card, work)
      }
      return outcomes
    case .empty: return new.isPresent ? settle(new, isSilent: !isScanning, at: now) : []
    case .unread(let card, _) where card.is(new):
      refresh(new, at: now)
      return []
    case .examining(let card, var examination) where examination.returned != nil || !card.is(new):
      examination.note(new, after: card.state, at: now)
      state = .examining(card, examination)
      return []
    case .resting(let card, let number) where !card.is(new):
      return [.removed(number)] + settle(new, isSilent: !isScanning, at: now)
    case .unread, .examining, .resting, .ignored, .placeholder:
      if let card = present, card.is(new) {
        update(new)
        return []
      }
      return settle(new, isSilent: !isScanning, at: now)
    }
  }

  /// The slot has no card, or another one.
  private mutating func settle(_ new: SlotState, isSilent: Bool, at now: Instant) -> [Outcome] {
    guard new.isPresent else {
      state = .empty
      return expectNone()
    }
    lastSerial += 1
    let card = Card(serial: lastSerial, state: new)
    guard card.mayBeContactless else {
      state = card.kind == .placeholder ? .placeholder(card, isCertainAt: nil) : .ignored(card, isIdentified: true)
      return expectNone()
    }
    var work = Work(isSilent: isSilent)
    if let echo, now <= echo.until, echo.answerToReset == new.atr {
      guard !echo.wasReported else {
        state = .ignored(card, isIdentified: true)
        return expectNone()
      }
      // Kept until the card is identified: before that, the reader may report it once more.
      work.echo = echo
    } else {
      echo = nil
    }
    if card.isWithoutPower { work.approach.awaitPower(at: now) }
    state = .unread(card, work)
    return []
  }

  /// The card that is to be read has got its power, or another program has given it up.
  private mutating func refresh(_ new: SlotState, at now: Instant) {
    guard case .unread(var card, var work) = state else { return }
    let before = card
    card.state = new
    guard card.mayBeContactless else {
      state = .ignored(card, isIdentified: true)
      return
    }
    if before.isWithoutPower && !card.isWithoutPower || before.state.isExclusive && !new.isExclusive {
      work.approach.retryAtOnce()
    }
    state = .unread(card, work)
  }

  private mutating func update(_ new: SlotState) {
    func updated(_ card: Card) -> Card { Card(serial: card.serial, state: new) }
    switch state {
    case .noReader, .empty: break
    case .unread(let card, let work): state = .unread(updated(card), work)
    case .examining(let card, var examination):
      if card.state.isExclusive && !new.isExclusive { examination.work.approach.retryAtOnce() }
      state = .examining(updated(card), examination)
    case .resting(let card, let number): state = .resting(updated(card), number: number)
    case .ignored(let card, let isIdentified): state = .ignored(updated(card), isIdentified: isIdentified)
    case .placeholder(let card, let end): state = .placeholder(updated(card), isCertainAt: end)
    }
  }

  /// None of the known tags lies there.
  mutating func expectNone() -> [Outcome] {
    defer { expected = [] }
    return expected.map { .removed($0.number) }
  }

  // MARK: The card

  private var present: Card? {
    switch state {
    case .noReader, .empty: nil
    case .unread(let card, _), .examining(let card, _), .resting(let card, _), .ignored(let card, _),
      .placeholder(let card, _):
      card
    }
  }

  /// The card that a reader session may use; nil if there is none, or if it may have contacts.
  var card: Card? { present.flatMap { $0.mayBeContactless ? $0 : nil } }

  /// The card on which this process works has left the slot.
  var isGone: Bool { if case .examining(_, let examination) = state { examination.successor != nil } else { false } }

  /// If this process has taken the tag's power, the reader may report it again.
  mutating func rest(_ card: Card, _ examination: Examination, _ tag: TagActivation) {
    guard let end = examination.mayReturnUntil else { return }
    let wasReported = examination.work.echo != nil
    echo = Echo(tag: tag, answerToReset: card.state.atr, until: end, wasReported: wasReported)
  }

  mutating func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}

extension CardSlot.Examination {
  /// The card has left the slot, or has come back to it.
  fileprivate mutating func note(_ new: SlotState, after old: SlotState, at now: CardSlot.Instant) {
    let mayBeSame = new.atr == old.atr || new.isMute || old.isMute || old.atr.isEmpty
    if new.isPresent, mayBeSame, returned?.counter == new.counter || mayReturnUntil.map({ now <= $0 }) == true {
      (returned, successor) = (new, nil)
    } else {
      successor = .state(new)
    }
  }
}

extension CardSlot.Card {
  /// From the answer to reset.
  var kind: CardKind { AnswerToReset(state.atr).kind }

  /// A card without power does not tell its kind, and is accepted. A slot for contactless cards has no others.
  var mayBeContactless: Bool { isWithoutPower || kind.isContactless }

  func mayBe(_ wanted: Set<TagType>) -> Bool {
    if isWithoutPower { return true }
    return kind.types.map { types in !wanted.isDisjoint(with: types) } ?? true
  }

  /// Why no attempt to read the card can succeed, and the type of tag that is nearest to it; nil if one may. It is
  /// reported without a connection.
  var obstacle: (type: TagType, reason: String)? {
    guard !isWithoutPower, case .storage(let card) = kind, case .none(let reason) = card.treatment else { return nil }
    switch card.standard {
    case .iso15693: return (.type5, reason)
    case .typeB: return (.type4B, reason)
    case .feliCa: return (.type3, reason)
    default: return (.type2, reason)
    }
  }
}

extension CardKind {
  /// Nil if the answer to reset does not tell.
  fileprivate var types: [TagType]? {
    switch self {
    case .contact, .placeholder, .unknown: []
    case .isoDEPTypeA: [.type4A]
    // A card of Type A may look like one of Type B.
    case .isoDEPTypeB: [.type4A, .type4B]
    case .storage(let card):
      switch card.treatment {
      case .tag(let type): [type]
      case .mifareClassic: [.mifareClassic]
      case .feliCa: [.type3]
      case .probe: [.type2]
      // The user learns the reason.
      case .none: nil
      }
    }
  }
}

/// The daemon's goals and known tags, and the work on one card.
extension CardSlot {
  // MARK: Goals

  /// The reader scans for tags of these kinds. A resting card keeps its state, even if its kind becomes wanted.
  mutating func scan(for wanted: Set<TagType>) {
    isScanning = true
    self.wanted = wanted
  }

  /// The reader may scan again for another user, so a card that was not read is not announced.
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

  /// Each known tag that cannot be the card that lies there was removed.
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
    case .empty, .resting, .ignored(_, isIdentified: true), .placeholder: return expectNone()
    }
  }

  // MARK: Work on one card

  mutating func next(at now: Instant) -> Step {
    guard isScanning else { return .wait(until: nil) }
    if case .placeholder(_, let end) = state {
      guard let end else { return .restorePolling }
      return .wait(until: now < end ? end : nil)
    }
    guard case .unread(let card, let work) = state else { return .wait(until: nil) }
    guard card.mayBe(wanted) else {
      state = .ignored(card, isIdentified: false)
      return .wait(until: nil)
    }
    if work.approach.isOver { return .wait(until: nil) }
    guard let start = work.approach.notBefore, now < start else { return .examine }
    return .wait(until: start)
  }

  mutating func pollingRestored(at now: Instant) {
    guard case .placeholder(let card, nil) = state else { return }
    state = .placeholder(card, isCertainAt: now + Self.restoringAllowance)
  }

  /// The reader goes on reporting a card that is not there.
  func isStuck(at now: Instant) -> Bool {
    if case .placeholder(_, let end?) = state { now >= end } else { false }
  }

  /// The number of the placement; nil if there is no card to work on.
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

  /// Nil if the card has not left, or will not come back.
  var mayReturnUntil: Instant? {
    guard case .examining(_, let examination) = state, case .state? = examination.successor else { return nil }
    return examination.mayReturnUntil
  }

  /// Whether a card came when the reader might report this one again, and was not identified yet.
  var hasReturned: Bool {
    guard case .examining(_, let examination) = state else { return false }
    return examination.returned != nil
  }

  /// Another card, or none, is the successor.
  mutating func verify(_ isSame: Bool) -> Bool {
    guard case .examining(var card, var examination) = state else { return false }
    if isSame, let returned = examination.returned { card = Card(serial: card.serial, state: returned) }
    if !isSame, let returned = examination.returned { examination.successor = .state(returned) }
    examination.returned = nil
    state = .examining(card, examination)
    return isSame
  }

  /// The card has power after all.
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

  /// Unless the card is new, the work on it is over.
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

  /// If the daemon knows a card of this type without an identifier, the work is over. Nil if it does not.
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

  mutating func interrupted(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    var work = examination.work
    work.tag = examination.tag
    return giveUp(examination) + end(.unread(card, work), at: now)
  }

  /// Returns whether there is another attempt before the exclusive use ends.
  mutating func refused(at now: Instant) -> (isTriedAgain: Bool, [Outcome]) {
    guard case .examining(let card, let examination) = state else { return (true, []) }
    var work = examination.work
    let isTriedAgain = work.approach.wasRefused(at: now)
    return (isTriedAgain, giveUp(examination) + end(.unread(card, work), at: now))
  }

  /// A card lies there unread because another program has it exclusively, and no attempt is due.
  var isHeld: Bool { if case .unread(_, let work) = state { work.approach.isOver } else { false } }

  /// The card was removed and pcscd has not reported it yet, or the reader is gone.
  mutating func failed(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    var work = examination.work
    let next = work.approach.wasRefused(at: now) ? State.unread(card, work) : .ignored(card, isIdentified: false)
    return giveUp(examination) + end(next, at: now)
  }

  /// The card gets no power. Nil if there is no other attempt. The work goes on then: report the problem.
  mutating func mute(at now: Instant) -> [Outcome]? {
    guard case .examining(let card, let examination) = state else { return [] }
    var work = examination.work
    guard work.approach.wasMute(at: now) else { return nil }
    return end(.unread(card, work), at: now)
  }

  /// Without a report, because the card cannot be identified.
  mutating func ignore(at now: Instant) -> [Outcome] {
    guard case .examining(let card, let examination) = state else { return [] }
    return giveUp(examination) + end(.ignored(card, isIdentified: false), at: now)
  }

  /// Whether a card that cannot be identified is not reported.
  var isSilent: Bool {
    guard case .examining(let card, let examination) = state else { return true }
    return examination.work.isSilent || examination.work.mayBeNone && card.isWithoutPower
  }

  /// The daemon has a report that the tag is being read, and gets no content.
  private func giveUp(_ examination: Examination) -> [Outcome] {
    examination.tag == nil ? [] : [.removed(examination.number)]
  }

  /// Then handles the events that have happened meanwhile.
  private mutating func end(_ next: State, at now: Instant) -> [Outcome] {
    guard case .examining(_, let examination) = state else { return [] }
    state = next
    // A card that came after a reset, and was not identified again, is treated as another one.
    switch examination.successor ?? examination.returned.map(Successor.state) {
    case nil: return []
    case .state(let new)?: return handle(new, at: now)
    case .noReader?: return readerLeft()
    }
  }
}
