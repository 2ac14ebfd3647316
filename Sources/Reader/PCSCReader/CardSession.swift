import Journal
import Names
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

  struct Found {
    /// Of the card in the slot.
    let serial: UInt64
    let number: UInt64
    let kind: CardKind
    let report: SessionTag
    /// With its latest activation.
    var tag: TagActivation
  }

  var base: TagSession
  var standing = Standing.waiting
  /// Of the card with this serial number.
  private(set) var approach: (serial: UInt64, CardApproach)?
  /// The card that has to lose its power before it is reported again, because polling was restarted.
  private(set) var resetIsDue: UInt64?

  /// Nil if the card is not connected.
  var channel: CardChannel<CardHandle>?
  let handle: CardHandle
  /// The end of the last operation.
  var idleSince = SuspendingClock.now

  init(_ options: TagSessionOptions, _ handle: CardHandle) {
    base = TagSession(options)
    self.handle = handle
  }

  /// The session forgets its card and looks for those of other options, a part of `options`. `card` is the serial
  /// number of the present card.
  mutating func restart(_ options: TagSessionOptions, card: UInt64?) {
    base.polled = options
    standing = .waiting
    approach = nil
    resetIsDue = card
  }

  /// As a restart requires.
  mutating func wasReset() { resetIsDue = nil }

  var found: Found? { if case .reported(let found) = standing { found } else { nil } }

  /// Nil if the session does not use this card.
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

  /// After the last attempt the session leaves the card alone. Returns whether there is another attempt.
  mutating func failed(_ card: CardSlot.Card, isMute: Bool, at now: Instant) -> Bool {
    var next = approach?.1 ?? CardApproach()
    let isTriedAgain = isMute ? next.wasMute(at: now) : next.wasRefused(at: now)
    approach = (card.serial, next)
    standing = isTriedAgain ? .waiting : .ignored(card.serial)
    return isTriedAgain
  }
}

/// Reader sessions. The card is reported to the client instead of read. The client's requests then operate on it.
extension CardReader {
  func serve(_ options: TagSessionOptions) throws(Interruption) {
    if session == nil {
      session = CardSession(options, CardHandle(self))
      try reach()
    }
    try noticeRemoval()
    if let options = daemon.takeRestart() { return try restart(options) }
    if let request = daemon.takeRequest() {
      defer { session?.idleSince = .now }
      return try perform(request)
    }
    let now = SuspendingClock.now
    if let card = slot.card, let start = session?.start(card, at: now) {
      return start <= now ? try reportNew(card) : try sleep(until: start)
    }
    if slot.card == nil { try wait(for: "") }
    try rest(at: now)
  }

  /// Sleeps. Releases a card that has not been used for a while, so that other programs can use it.
  private func rest(at now: SuspendingClock.Instant) throws(Interruption) {
    guard isConnected, let idleSince = session?.idleSince else { return try sleep() }
    let end = idleSince + CardSession.idleAllowance
    if end <= now { release() } else { try sleep(until: end) }
  }

  func release() {
    session?.channel = nil
    disconnect()
  }

  /// Ends the session in this process. The daemon has the next scan treat the card that lies there as known
  /// (`KnownTags.includesFirst`).
  func dropSession() {
    release()
    session = nil
  }

  private func restart(_ options: TagSessionOptions) throws(Interruption) {
    try forget()
    session?.restart(options, card: slot.card?.serial)
    try report(.sessionPollingRestarted(epoch: epoch))
  }

  // MARK: The card

  private func noticeRemoval() throws(Interruption) {
    guard let session else { return }
    switch session.standing {
    case .waiting: break
    case .reported(let found): if slot.card?.serial != found.serial { try forget() }
    case .ignored(let serial): if slot.card?.serial != serial { self.session?.standing = .waiting }
    }
  }

  /// Reports that the reported card is gone, if there is one. A card that still lies there is new when it is found
  /// again.
  private func forget() throws(Interruption) {
    release()
    guard let found = session?.found else { return }
    session?.standing = .waiting
    try report(.sessionTagRemoved(epoch: epoch, placement: found.number))
  }

  /// Unless the client does not want it.
  private func reportNew(_ card: CardSlot.Card) throws(Interruption) {
    let setback: Setback
    do throws(Setback) {
      if card.obstacle == nil, try find(card) {
        session?.idleSince = .now
      } else {
        session?.standing = .ignored(card.serial)
        release()
      }
      return
    } catch {
      setback = error
    }
    release()
    switch setback {
    case .interrupted, .readerGone: return
    case .refused:
      guard session?.failed(card, isMute: false, at: .now) == true else { return try wait(for: "") }
      try wait(for: Self.exclusiveUse)
    case .mute: _ = session?.failed(card, isMute: true, at: .now)
    case .reset, .replaced, .failed: _ = session?.failed(card, isMute: false, at: .now)
    }
  }

  /// Connects to a card and reports it. Returns false if the client does not want it.
  private func find(_ card: CardSlot.Card) throws(Setback) -> Bool {
    guard let session else { throw .interrupted }
    cardInUse = card.serial
    let kind = try reach(card, session)
    guard kind.isContactless else { return false }
    var link = try makeLink(session.handle)
    guard case .tag(let tag) = try identify(kind, &link, session) else { return false }
    let polled = session.base.polled
    guard polled.technologies.contains(tag.type), tag.isOfSystem(polled.systemCodes) else { return false }
    let number = slot.newNumber()
    var (base, channel) = (session.base, CardChannel(link, tag: tag))
    base.isOutOfStep = false
    let examination = try asking(session.handle) { () throws(TagChannelError) in
      try base.examine(tag, number, over: &channel, daemon)
    }
    if case .failure(let error) = examination { throw .failed(error.reason) }
    guard case .success(let report?) = examination else { return false }
    self.session?.base = base
    self.session?.channel = channel
    self.session?.standing = .reported(
      CardSession.Found(serial: card.serial, number: number, kind: kind, report: report, tag: tag))
    try withLink { () throws(Interruption) in
      try self.report(.sessionTag(epoch: epoch, report))
      // The reader has one card at a time.
      try self.report(.sessionRoundEnded(epoch: epoch))
    }
    return true
  }

  /// As a card of one of the session's systems, if it names any.
  private func identify(
    _ kind: CardKind, _ link: inout CardLink<CardHandle>, _ session: CardSession
  ) throws(Setback) -> CardIdentification {
    let systems = session.base.polled.systemCodes
    let result = try asking(session.handle) { () throws(TagChannelError) in
      try systems.isEmpty ? link.identify(kind) : link.identify(kind, systems: systems)
    }
    switch result {
    case .success(let identification): return identification
    case .failure(let error): throw .failed(error.reason)
    }
  }

  /// Connects to the card.
  private func reach(_ card: CardSlot.Card, _ session: CardSession) throws(Setback) -> CardKind {
    do throws(CallFailure) { try open() } catch { throw Setback(error) }
    do throws(CardFailure) {
      if session.resetIsDue == card.serial {
        try session.handle.reset()
        self.session?.wasReset()
      }
      guard card.isWithoutPower else { return card.kind }
      return AnswerToReset(try session.handle.answerToReset()).kind
    } catch {
      if card.isWithoutPower, case .exchange = error { throw .mute }
      throw Setback(error)
    }
  }
}

extension TagActivation {
  /// True for any system if there are none.
  fileprivate func isOfSystem(_ systems: [UInt16]) -> Bool {
    guard case .felica(let card) = self, !systems.isEmpty else { return true }
    guard let code = card.systemCode else { return false }
    return systems.contains(code.reduce(0) { $0 << 8 | UInt16($1) })
  }
}

extension CardReader: SessionServer {
  func reportedTag(_ placement: UInt64) -> TagActivation? {
    session?.found.flatMap { $0.number == placement ? $0.tag : nil }
  }

  func operate(_ request: DaemonConnection.Request, on tag: TagActivation) throws(Interruption) -> SessionOutcome {
    guard let found = session?.found else { return .removed }
    cardInUse = found.serial
    var resets = 0
    while true {
      do throws(Setback) {
        try engage(found)
        return try operateOnce(request, found)
      } catch {
        // An operation on the message starts again. A client's command does not, because it may rely on earlier ones.
        guard case .reset = error, resets < Self.mostResets, !request.operation.isTransceive else {
          return try outcome(error)
        }
        resets += 1
        session?.base.isOutOfStep = true
      }
    }
  }

  private func operateOnce(
    _ request: DaemonConnection.Request, _ found: CardSession.Found
  ) throws(Setback) -> SessionOutcome {
    guard let session, var channel = session.channel else { throw .interrupted }
    let application = self.session?.base.application(for: request.operation, on: found.report)
    defer { self.session?.channel = channel }
    let result = try asking(session.handle) { () throws(TagChannelError) in
      try daemon.perform(request, selecting: application, over: &channel)
    }
    switch result {
    case .success(let result):
      // A tag that is not supported has not refused a command.
      if case .failed(let failure, _) = result, failure != .notSupported { self.session?.base.isOutOfStep = true }
      return .result(result)
    case .failure(let error) where error.code == .unsupported:
      return .result(.failed(.notSupported, reason: error.reason))
    case .failure(let error) where error.code == .aborted: throw .interrupted
    case .failure(let error): return .silence(error.reason)
    }
  }

  func selectAnew(_ tag: TagActivation, _ placement: UInt64) throws(Interruption) -> SessionOutcome? {
    do throws(Setback) {
      try selectAgain()
      return nil
    } catch {
      return try outcome(error)
    }
  }

  func loseTag(_ placement: UInt64) throws(Interruption) {
    try forget()
    if let card = slot.card { _ = session?.failed(card, isMute: false, at: .now) }
  }

  /// The connection to the card has made the operation impossible.
  private func outcome(_ setback: Setback) throws(Interruption) -> SessionOutcome {
    release()
    session?.base.isOutOfStep = true
    try wait(for: "")
    let failure: ReaderOperationFailure
    switch setback {
    case .interrupted: return .over
    case .replaced: return .removed
    case .readerGone: failure = .deviceLost
    case .refused: failure = .refused
    case .reset: failure = .timeout
    case .failed, .mute:
      do throws(CallFailure) { if try isRemoved() { return .removed } } catch { return .over }
      failure = .timeout
    }
    return .result(.failed(failure, reason: setback.reason))
  }

  /// Afterwards the card is connected, and in a known state.
  private func engage(_ found: CardSession.Found) throws(Setback) {
    guard let session else { throw .interrupted }
    if !isConnected || session.channel == nil {
      do throws(CallFailure) { try open(within: CardSession.transactionAllowance) } catch { throw Setback(error) }
      var link = try makeLink(session.handle)
      guard case .tag(let tag) = try identify(found.kind, &link, session), tag.isSamePlacement(as: found.tag) else {
        throw .replaced
      }
      self.session?.channel = CardChannel(link, tag: tag)
      self.session?.base.applicationIsDue = true
    }
    if session.base.isOutOfStep { try selectAgain() }
  }

  /// Takes the card's power for a moment.
  private func selectAgain() throws(Setback) {
    guard let session, var channel = session.channel else { throw .failed("the card is not connected") }
    self.session?.base.applicationIsDue = true
    defer { self.session?.channel = channel }
    let result = try asking(session.handle) { () throws(TagChannelError) in try channel.reselect() }
    if case .failure(let error) = result { throw .failed(error.reason) }
    self.session?.base.isOutOfStep = false
  }
}

extension CardChannel<CardHandle>: SessionChannel {
  mutating func transceive(_ command: [UInt8], within timeout: Duration) throws(TagChannelError) -> [UInt8] {
    let handle = link.connection
    handle.limit = timeout + CardReader.transferAllowance
    defer { handle.limit = nil }
    return try exchange(command)
  }
}
