/// What pcscd knows about a reader's slot (`SCARD_READERSTATE`).
struct SlotState: Hashable, Sendable {
  var isPresent: Bool
  /// The number of insertions and removals when pcscd first reported the card. It wraps. Another number is another card,
  /// or the same one after it was away.
  var counter: UInt16
  /// The card's answer to reset, which tells its kind; at most 33 bytes. Empty if there is no card, or if it has no
  /// power.
  var atr: [UInt8]
  /// The card is there, but the reader could not give it power.
  var isMute: Bool
  /// pcscd does not report each change of this.
  var isExclusive: Bool

  init(isPresent: Bool, counter: UInt16, atr: [UInt8] = [], isMute: Bool = false, isExclusive: Bool = false) {
    self.isPresent = isPresent
    self.counter = counter
    self.atr = atr
    self.isMute = isMute
    self.isExclusive = isExclusive
  }

  /// `word` is `dwEventState`: the bits of pcsclite.h, and the counter in its high half. `before` is the state that was
  /// reported before; nil if there is none.
  ///
  /// pcscd reports a card a moment before it counts the insertion (eventhandler.c). A removal and an insertion together
  /// count two. So a card that is there in two reports with a difference of one is the same card.
  init(word: UInt32, after before: SlotState? = nil, atr: [UInt8]) {
    isPresent = word & Bits.present != 0
    let number = UInt16(truncatingIfNeeded: word >> 16)
    let isSame = isPresent && before.map { $0.isPresent && number &- $0.counter <= 1 } ?? false
    counter = isSame ? before?.counter ?? number : number
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
  static let powerAttempts = 2

  /// Nil for at once.
  private(set) var notBefore: Instant?
  /// Whether the card is left to another program: all attempts have failed, and the next one waits for `retryAtOnce()`.
  private(set) var isOver = false
  private var refusals = 0
  private var powerFailures = 0

  mutating func awaitPower(at now: Instant) { notBefore = now + Self.powerPause }

  /// Another program has the card. Returns whether there is another attempt.
  mutating func wasRefused(at now: Instant) -> Bool {
    isOver = refusals >= Self.sharingPauses.count
    guard !isOver else { return false }
    notBefore = now + Self.sharingPauses[refusals]
    refusals += 1
    return true
  }

  /// The card gets no power. Returns whether there is another attempt.
  mutating func wasMute(at now: Instant) -> Bool {
    powerFailures += 1
    guard powerFailures < Self.powerAttempts else { return false }
    notBefore = now + Self.powerPause
    return true
  }

  /// The obstacle is gone.
  mutating func retryAtOnce() { (notBefore, isOver, refusals) = (nil, false, 0) }
}
