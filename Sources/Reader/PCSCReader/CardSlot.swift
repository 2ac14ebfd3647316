import Names
import ReaderProtocol
import Tags

/// Decides what happens with the card on the reader: pcscd's events and the daemon's goals go in, steps and reports come
/// out. It has no connection and no clock.
///
/// A placement is one value of pcscd's counter, unless the reader reports a card again after this process has reset it. It
/// begins once and ends once. A card that came while the reader did not scan is never announced, as if it lay there before.
struct CardSlot {
  typealias Instant = SuspendingClock.Instant

  /// A card that lies on the reader.
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

    /// Whether its kind is unknown, because it has no power.
    var isWithoutPower: Bool { state.isMute || state.atr.isEmpty }
  }

  /// What is left to do with a card.
  struct Work: Hashable {
    /// Whether the card is only identified and reported as known, not read.
    var isSilent: Bool
    var approach = CardApproach()
    /// The tag, if it was identified before its reading was interrupted.
    var tag: TagActivation?
    /// The tag that rested there before. If it is this one, the reader has only reported it again.
    var echo: Echo?
  }

  /// A card on which this process works.
  struct Examination: Hashable {
    let number: UInt64
    var work: Work
    /// The tag, once its placement was reported.
    var tag: TagActivation?
    /// What has happened in the slot since the card left it; nil if it is still there.
    var successor: Successor?
    /// Until when an insertion may be the same card, reported again; nil if it may not.
    var mayReturnUntil: Instant?
    /// The state of a card that came until then. It is the same card if it has the same identity.
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
    /// A card to work on while the reader scans. Another program may have it exclusively: the work then waits until that
    /// ends. Can transition to: every state.
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
  }

  /// A report for the daemon.
  enum Outcome: Hashable {
    /// The tag of this placement was removed.
    case removed(UInt64)
    /// A tag lies there that is not announced.
    case known(UInt64, TagActivation)
  }

  /// What to do next.
  enum Step: Hashable {
    /// Wait for an event, at most until then.
    case wait(until: Instant?)
    /// Connect to the card: call `begin()`.
    case examine
  }

  /// How long after this process has reset a card, or has ended the reader's transparent session, an insertion may be the
  /// same card. Some readers report a card that they power again as another one.
  static let returnAllowance = Duration.seconds(1)

  var state = State.noReader
  private var lastSerial: UInt64 = 0
  /// The number of the newest placement. Each new placement gets the next number.
  var lastNumber: UInt64 = 0
  var isScanning = false
  var wanted = Set(TagType.readable)

  var key = TagFingerprint.Key(low: 0, high: 0)
  /// The daemon's known tags that may be the card that lies there.
  var expected: [KnownTag] = []
  /// Whether pcscd has reported the reader since this process began.
  private(set) var hasSeenReader = false
  /// Whether the card that lies there at first is known (`KnownTags.includesFirst`).
  var includesFirst = false
  /// The tag that rests there, or has rested there before, if the reader may report it again.
  var echo: Echo?

  // MARK: Events

  /// pcscd no longer has the reader. Known tags that were not found yet stay known: otherwise a tag that makes the reader
  /// fail would be announced each time it comes back.
  mutating func readerLeft() -> [Outcome] {
    switch state {
    case .examining(let card, var examination):
      examination.successor = .noReader
      state = .examining(card, examination)
      return []
    case .resting(_, let number):
      state = .noReader
      return [.removed(number)]
    case .noReader, .empty, .unread, .ignored:
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
      return settle(new, isSilent: isFirst ? includesFirst : !isScanning, at: now)
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
    case .unread, .examining, .resting, .ignored:
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
      state = .ignored(card, isIdentified: true)
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
    }
  }

  /// None of the known tags lies there.
  mutating func expectNone() -> [Outcome] {
    defer { expected = [] }
    return expected.map { .removed($0.number) }
  }

  // MARK: The card

  /// The card that lies there, of whatever kind.
  private var present: Card? {
    switch state {
    case .noReader, .empty: nil
    case .unread(let card, _), .examining(let card, _), .resting(let card, _), .ignored(let card, _): card
    }
  }

  /// The card that a reader session may use; nil if there is none, or if it may have contacts.
  var card: Card? { present.flatMap { $0.mayBeContactless ? $0 : nil } }

  /// Whether the card on which this process works has left the slot.
  var isGone: Bool { if case .examining(_, let examination) = state { examination.successor != nil } else { false } }

  /// A tag rests now. If this process has taken its power, the reader may report it again.
  mutating func rest(_ card: Card, _ examination: Examination, _ tag: TagActivation) {
    guard let end = examination.mayReturnUntil else { return }
    let wasReported = examination.work.echo != nil
    echo = Echo(tag: tag, answerToReset: card.state.atr, until: end, wasReported: wasReported)
  }

  /// The number of a new placement.
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
  /// The kind of card that the answer to reset describes.
  var kind: CardKind { AnswerToReset(state.atr).kind }

  /// Whether the card may be connected to. A card without power does not tell its kind. A slot for contactless cards has
  /// no others.
  var mayBeContactless: Bool { isWithoutPower || kind.isContactless }

  /// Whether the card may be a tag of one of these types.
  func mayBe(_ wanted: Set<TagType>) -> Bool {
    if isWithoutPower { return true }
    return kind.types.map { types in !wanted.isDisjoint(with: types) } ?? true
  }
}

extension CardSlot.Card {
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
  /// The types of tags that it may be; nil if the answer to reset does not tell.
  fileprivate var types: [TagType]? {
    switch self {
    case .contact, .unknown: []
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

/// What pcscd knows about a reader's slot (`SCARD_READERSTATE`).
struct SlotState: Hashable, Sendable {
  /// Whether a card is there.
  var isPresent: Bool
  /// The number of insertions and removals so far. It wraps. Another number is another card, or the same one after it
  /// was away.
  var counter: UInt16
  /// The card's answer to reset, which tells its kind; at most 33 bytes. Empty if there is no card, or if it has no
  /// power.
  var atr: [UInt8]
  /// Whether the card is there and the reader could not give it power.
  var isMute: Bool
  /// Whether another program has the card for itself. pcscd does not report each change of this.
  var isExclusive: Bool

  init(isPresent: Bool, counter: UInt16, atr: [UInt8] = [], isMute: Bool = false, isExclusive: Bool = false) {
    self.isPresent = isPresent
    self.counter = counter
    self.atr = atr
    self.isMute = isMute
    self.isExclusive = isExclusive
  }

  /// `word` is `dwEventState`: the bits of pcsclite.h, and the counter in its high half.
  init(word: UInt32, atr: [UInt8]) {
    isPresent = word & Bits.present != 0
    counter = UInt16(truncatingIfNeeded: word >> 16)
    self.atr = isPresent ? Array(atr.prefix(Self.longestATR)) : []
    isMute = word & Bits.mute != 0
    isExclusive = word & Bits.exclusive != 0
  }

  /// MAX_ATR_SIZE of pcsclite.h.
  static let longestATR = 33

  /// Bits of `dwEventState`.
  enum Bits {
    static let changed: UInt32 = 0x0002
    static let unknown: UInt32 = 0x0004
    static let unavailable: UInt32 = 0x0008
    static let present: UInt32 = 0x0020
    static let exclusive: UInt32 = 0x0080
    static let inUse: UInt32 = 0x0100
    static let mute: UInt32 = 0x0200
  }
}

/// A change that `SlotWatcher` reports.
enum SlotEvent: Hashable, Sendable {
  /// pcscd has the reader, under this name. A state follows.
  case reader(ReaderName)
  /// The state of the reader's slot.
  case state(SlotState)
  /// pcscd has the reader, and its driver cannot reach it.
  case unavailable
  /// pcscd does not have the reader.
  case absent
  /// pcscd has ended or closed the connection. No event follows.
  case lost(PCSCError)
  /// pcscd does not allow the access to cards. No event follows.
  case forbidden
}

/// When to connect to a card that cannot be connected to at once. Each limit is per placement, but the attempts begin
/// again when the obstacle is gone.
struct CardApproach: Hashable {
  typealias Instant = SuspendingClock.Instant

  /// The pauses between the attempts to connect to a card that another program has exclusively. After the last attempt
  /// the card is left to that program.
  static let sharingPauses: [Duration] = [.milliseconds(700), .milliseconds(1300)]
  /// The pause before each attempt to give power to a card that has none. It may still be moving.
  static let powerPause = Duration.milliseconds(200)
  /// The attempts to give a card power.
  static let powerAttempts = 2

  /// When to connect; nil for at once.
  private(set) var notBefore: Instant?
  /// Whether the card is left to another program: all attempts have failed, and the next one waits for `retryAtOnce()`.
  private(set) var isOver = false
  private var refusals = 0
  private var powerFailures = 0

  /// The card has no power.
  mutating func awaitPower(at now: Instant) { notBefore = now + Self.powerPause }

  /// An attempt has failed, because another program has the card. Returns whether there is another attempt.
  mutating func wasRefused(at now: Instant) -> Bool {
    isOver = refusals >= Self.sharingPauses.count
    guard !isOver else { return false }
    notBefore = now + Self.sharingPauses[refusals]
    refusals += 1
    return true
  }

  /// An attempt has failed, because the card gets no power. Returns whether there is another attempt.
  mutating func wasMute(at now: Instant) -> Bool {
    powerFailures += 1
    guard powerFailures < Self.powerAttempts else { return false }
    notBefore = now + Self.powerPause
    return true
  }

  /// The obstacle is gone.
  mutating func retryAtOnce() { (notBefore, isOver, refusals) = (nil, false, 0) }
}
