import Journal
import Names
import ReaderKit
import ReaderProtocol
import Tags

/// Reader sessions. The card is reported to the client instead of read. The client's requests then operate on it.
extension CardReader {
  /// Performs one step of the reader session.
  func serve(_ options: ReaderSessionOptions) throws(Interruption) {
    if session == nil {
      session = CardSession(options, CardHandle(self))
      try reach()
    }
    try noticeRemoval()
    if let options = daemon.takeRestart() { return try restart(options) }
    if let request = daemon.takeRequest() { return try perform(request) }
    let now = SuspendingClock.now
    if let card = slot.card, let start = session?.start(card, at: now) {
      return start <= now ? try meet(card) : try sleep(until: start)
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

  /// Ends the connection to the session's card.
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

  private func restart(_ options: ReaderSessionOptions) throws(Interruption) {
    try forget()
    session?.restart(options, card: slot.card?.serial)
    try report(.sessionPollingRestarted(epoch: epoch))
  }

  // MARK: The card

  /// Reports a card that was removed.
  private func noticeRemoval() throws(Interruption) {
    guard let session else { return }
    switch session.standing {
    case .waiting: break
    case .reported(let found): if slot.card?.serial != found.serial { try forget() }
    case .ignored(let serial): if slot.card?.serial != serial { self.session?.standing = .waiting }
    }
  }

  /// Reports that the reported card is gone, if there is one. A card that still lies there is new when it is found again.
  private func forget() throws(Interruption) {
    release()
    guard let found = session?.found else { return }
    session?.standing = .waiting
    try report(.sessionTagRemoved(epoch: epoch, placement: found.number))
  }

  /// Ends the placement of a card that no longer answers.
  func lose() throws(Interruption) {
    try forget()
    if let card = slot.card { _ = session?.failed(card, isMute: false, at: .now) }
  }

  /// Reports a new card, unless the client does not want it.
  private func meet(_ card: CardSlot.Card) throws(Interruption) {
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
    let systems = session.polled.systemCodes
    let identification = try asking(session.handle) { () throws(TagChannelError) in
      try systems.isEmpty ? link.identify(kind) : link.identify(kind, systems: systems)
    }
    let tag: TagActivation
    switch identification {
    case .success(.tag(let found)): tag = found
    case .success(.notSupported): return false
    case .failure(let error): throw .failed(error.reason)
    }
    guard session.polled.technologies.contains(tag.type), tag.isOfSystem(systems) else { return false }
    self.session?.channel = CardChannel(link, tag: tag)
    let number = slot.newNumber()
    var application: Int?
    if tag.isISODEP, !session.polled.applicationIdentifiers.isEmpty {
      guard case .found(let index) = try search(tag, number, session) else { return false }
      application = index
    }
    let found = CardSession.Found(
      serial: card.serial, number: number, kind: kind, report: tag.sessionTag(number, application: application),
      tag: tag)
    self.session?.standing = .reported(found)
    self.session?.applicationIsDue = false
    // The refused SELECTs may have changed the card's state, so the next operation selects the card again.
    self.session?.isOutOfStep =
      tag.isISODEP && application == nil && !session.polled.applicationIdentifiers.isEmpty
    try withLink { () throws(Interruption) in
      try report(.sessionTag(epoch: epoch, found.report))
      // The reader has one card at a time.
      try report(.sessionRoundEnded(epoch: epoch))
    }
    return true
  }

  /// Connects to a card. Returns its kind.
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

  // MARK: Applications

  /// The result of the search for an application.
  private enum Applications {
    /// The card is to be reported: with the application of this index in `CardSession.options`, or with none.
    case found(Int?)
    /// The card has none of the applications, and is not to be reported.
    case none
  }

  /// Selects the first of the session's applications that the card has. The daemon gets the tag's identity first, in case
  /// the tag makes this process fail.
  private func search(_ tag: TagActivation, _ number: UInt64, _ session: CardSession) throws(Setback) -> Applications {
    let without = session.polled.reportsUndeclaredCards ? Applications.found(nil) : .none
    guard tag.isProper else { return without }
    try withLink { () throws(Interruption) in try report(.examining(Placement(number, tag))) }
    do throws(Setback) {
      for application in session.polled.applicationIdentifiers {
        let answer: [UInt8]
        switch try exchange(ApplicationSelection.command(application)) {
        case .success(let bytes): answer = bytes
        case .failure(let error): throw .failed(error.reason)
        }
        guard ApplicationSelection.isAccepted(answer) else { continue }
        return .found(session.options.applicationIdentifiers.firstIndex(of: application))
      }
    } catch {
      try withLink { () throws(Interruption) in try report(.removed(placement: number)) }
      throw error
    }
    if case .none = without { try withLink { () throws(Interruption) in try report(.removed(placement: number)) } }
    return without
  }

  /// Sends a command to the session's card.
  func exchange(_ command: [UInt8]) throws(Setback) -> Result<[UInt8], TagChannelError> {
    guard let session, var channel = session.channel else { throw .interrupted }
    defer { self.session?.channel = channel }
    return try asking(session.handle) { () throws(TagChannelError) in try channel.exchange(command) }
  }
}

extension TagActivation {
  /// Whether it is a card of one of these FeliCa systems, or of any if there are none.
  fileprivate func isOfSystem(_ systems: [UInt16]) -> Bool {
    guard case .felica(let card) = self, !systems.isEmpty else { return true }
    guard let code = card.systemCode else { return false }
    return systems.contains(code.reduce(0) { $0 << 8 | UInt16($1) })
  }
}
