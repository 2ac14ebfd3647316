import ReaderKit
import ReaderProtocol
import Tags

/// The state of a reader session. The reader has one card at a time.
struct CardSession {
  typealias Instant = SuspendingClock.Instant

  /// How long the card stays connected, with a transaction, after the last operation. Other programs wait meanwhile. A
  /// client that works step by step sends its next command within this time. After it, the card's application has to be
  /// selected again.
  static let idleAllowance = Duration.seconds(5)

  /// How long an operation waits for another program's transaction. The daemon waits longer for the operation.
  static let transactionAllowance = Duration.seconds(10)

  /// What the session has done with the card that lies on the reader.
  enum Standing {
    /// Nothing yet, or there is no card. Can transition to: `.reported`, `.ignored`.
    case waiting
    /// It was reported to the daemon. Can transition to: `.waiting`.
    case reported(Found)
    /// The session does not use the card with this serial number. Can transition to: `.waiting`.
    case ignored(UInt64)
  }

  /// A reported card.
  struct Found {
    /// The slot's serial number of the card.
    let serial: UInt64
    /// The placement.
    let number: UInt64
    let kind: CardKind
    let report: SessionTag
    /// The tag, with its latest activation.
    var tag: TagActivation
  }

  var base: TagSession
  var standing = Standing.waiting
  /// When to connect to the card with this serial number.
  private(set) var approach: (serial: UInt64, CardApproach)?
  /// The card that has to lose its power before it is reported again, because polling was restarted.
  private(set) var resetIsDue: UInt64?

  /// The way to the card while it is connected.
  var channel: CardChannel<CardHandle>?
  let handle: CardHandle
  /// The end of the last operation.
  var idleSince = SuspendingClock.now

  init(_ options: TagSessionOptions, _ handle: CardHandle) {
    base = TagSession(options)
    self.handle = handle
  }

  /// The session forgets its card and looks for those of other options, a part of `options`. `card` is the serial number
  /// of the card that lies there.
  mutating func restart(_ options: TagSessionOptions, card: UInt64?) {
    base.polled = options
    standing = .waiting
    approach = nil
    resetIsDue = card
  }

  /// The card has lost its power, as a restart requires.
  mutating func wasReset() { resetIsDue = nil }

  /// The reported card.
  var found: Found? { if case .reported(let found) = standing { found } else { nil } }

  /// When to connect to this card; nil if the session has done with it.
  mutating func start(_ card: CardSlot.Card, at now: Instant) -> Instant? {
    switch standing {
    case .reported(let found) where found.serial == card.serial: return nil
    case .ignored(card.serial): return nil
    case .waiting, .reported, .ignored: break
    }
    if let approach, approach.serial == card.serial { return approach.1.notBefore ?? now }
    var first = CardApproach()
    if card.isWithoutPower { first.awaitPower(at: now) }
    approach = (card.serial, first)
    return first.notBefore ?? now
  }

  /// An attempt to use the card has failed. After the last one the session leaves it alone. Returns whether there is
  /// another attempt.
  mutating func failed(_ card: CardSlot.Card, isMute: Bool, at now: Instant) -> Bool {
    var next = approach?.1 ?? CardApproach()
    let isTriedAgain = isMute ? next.wasMute(at: now) : next.wasRefused(at: now)
    approach = (card.serial, next)
    standing = isTriedAgain ? .waiting : .ignored(card.serial)
    return isTriedAgain
  }
}
