import Journal
import Names
import ReaderKit
import ReaderProtocol
import Tags

/// Reader sessions. The card is reported to the client instead of read. The client's requests then operate on it.
extension CardReader {
  /// Performs one step of the reader session.
  func serve(_ options: TagSessionOptions) throws(Interruption) {
    if session == nil {
      session = CardSession(options, CardHandle(self))
      try reach()
    }
    try noticeRemoval()
    if let options = daemon.takeRestart() { return try restart(options) }
    if let request = daemon.takeRequest() { return try perform(request) }
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

  private func restart(_ options: TagSessionOptions) throws(Interruption) {
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

/// Performing a client's operations on the card of a reader session.
extension CardReader {
  private enum Outcome {
    case result(ReaderOperationResult)
    /// The tag gave no valid answer.
    case silence(String)
  }

  func perform(_ request: DaemonConnection.Request) throws(Interruption) {
    func answer(_ result: ReaderOperationResult) throws(Interruption) {
      session?.idleSince = .now
      try report(.performed(request: request.number, result))
    }
    let lost = ReaderOperationResult.failed(.tagLost, reason: "the tag was removed")
    guard let found = session?.found, found.number == request.placement else { return try answer(lost) }
    if let refusal = request.operation.refusal(for: found.tag) { return try answer(refusal) }
    cardInUse = found.serial
    let outcome: Outcome
    do throws(Setback) {
      outcome = try operate(request, found)
    } catch {
      return try fail(error, request.number)
    }
    switch outcome {
    case .result(let result):
      // A command that the reader cannot send has not reached the tag.
      if case .failed(let failure, _) = result, failure != .notSupported { session?.isOutOfStep = true }
      try answer(result)
    case .silence(let reason):
      // The tag has refused the command or is gone. Only a tag that is gone ends its placement.
      do throws(Setback) { try selectAgain() } catch { return try fail(error, request.number) }
      try answer(.failed(.timeout, reason: reason))
    }
  }

  /// Answers a request that the connection to the card has made impossible.
  private func fail(_ setback: Setback, _ number: UInt64) throws(Interruption) {
    release()
    session?.isOutOfStep = true
    try wait(for: "")
    let result: ReaderOperationResult
    switch setback {
    // The daemon expects no answer.
    case .interrupted: return
    case .readerGone: result = .failed(.deviceLost, reason: setback.reason)
    case .refused: result = .failed(.refused, reason: setback.reason)
    case .reset: result = .failed(.timeout, reason: setback.reason)
    case .replaced:
      try report(.performed(request: number, .failed(.tagLost, reason: "the tag was removed")))
      return try lose()
    case .failed, .mute:
      let isRemoved: Bool
      do throws(CallFailure) { isRemoved = try self.isRemoved() } catch { return }
      if isRemoved {
        try report(.performed(request: number, .failed(.tagLost, reason: "the tag was removed")))
        return try lose()
      }
      result = .failed(.timeout, reason: setback.reason)
    }
    try report(.performed(request: number, result))
  }

  private func operate(_ request: DaemonConnection.Request, _ found: CardSession.Found) throws(Setback) -> Outcome {
    var resets = 0
    while true {
      do throws(Setback) {
        try engage(found)
        if case .transceive(let command, let timeout) = request.operation {
          return try transceive(command, .milliseconds(Int64(timeout)), found)
        }
        return try operateOnMessage(request, found)
      } catch {
        // An operation on the message starts again. A client's command does not, because it may rely on earlier ones.
        guard case .reset = error, resets < Self.mostResets else { throw error }
        if case .transceive = request.operation { throw error }
        resets += 1
        session?.isOutOfStep = true
      }
    }
  }

  // MARK: Selecting

  /// Makes the reported card ready for a command: connected, and in a known state.
  private func engage(_ found: CardSession.Found) throws(Setback) {
    guard let session else { throw .interrupted }
    if isConnected, session.channel != nil {
      if session.isOutOfStep { try selectAgain() }
      return
    }
    do throws(CallFailure) { try open(within: CardSession.transactionAllowance) } catch { throw Setback(error) }
    var link = try makeLink(session.handle)
    let systems = session.polled.systemCodes
    let identification = try asking(session.handle) { () throws(TagChannelError) in
      try systems.isEmpty ? link.identify(found.kind) : link.identify(found.kind, systems: systems)
    }
    if case .failure(let error) = identification { throw .failed(error.reason) }
    guard case .success(.tag(let tag)) = identification, tag.isSamePlacement(as: found.tag) else { throw .replaced }
    self.session?.channel = CardChannel(link, tag: tag)
    self.session?.applicationIsDue = true
    if session.isOutOfStep { try selectAgain() }
  }

  /// Takes the card's power for a moment, and selects it again.
  private func selectAgain() throws(Setback) {
    guard let session, var channel = session.channel else { throw .failed("the card is not connected") }
    self.session?.applicationIsDue = true
    defer { self.session?.channel = channel }
    let result = try asking(session.handle) { () throws(TagChannelError) in try channel.reselect() }
    if case .failure(let error) = result { throw .failed(error.reason) }
    self.session?.isOutOfStep = false
  }

  // MARK: NDEF

  private func operateOnMessage(
    _ request: DaemonConnection.Request, _ found: CardSession.Found
  ) throws(Setback) -> Outcome {
    guard let session, let card = session.channel else { throw .interrupted }
    let operation = request.operation
    let isReading = operation == .read || operation == .query
    let timed = TimedChannel(card, until: .now + ReaderTiming.operation)
    // A failed report is ignored, because the next exchange notices that the daemon is gone.
    var channel = ProgressChannel(timed, card.tag.type, counts: isReading ? .reading : .writing) { [daemon] bytes in
      try? daemon.report(.progress(request: request.number, bytes: bytes))
    }
    defer {
      self.session?.channel = channel.channel.channel
      self.session?.applicationIsDue = true
    }
    let result = try asking(session.handle) { () throws(TagChannelError) in
      operation == .read
        ? try ReaderOperation.read(over: &channel) { $0.channel.channel.tag }
        : try operation.perform(on: card.tag, over: &channel)
    }
    return try Self.outcome(result)
  }

  // MARK: Commands as they are

  private func transceive(
    _ command: [UInt8], _ timeout: Duration, _ found: CardSession.Found
  ) throws(Setback) -> Outcome {
    guard let session else { throw .interrupted }
    if session.applicationIsDue, let application = session.options.application(of: found.report) {
      switch try exchange(ApplicationSelection.command(application)) {
      case .failure(let error): return .silence(error.reason)
      case .success(let answer):
        guard ApplicationSelection.isAccepted(answer) else {
          return .result(.failed(.refused, reason: "the card no longer accepts the SELECT of its application"))
        }
      }
    }
    self.session?.applicationIsDue = false
    session.handle.limit = timeout + Self.transferAllowance
    defer { session.handle.limit = nil }
    let result = try exchange(command).map { ReaderOperationResult.answer(Array($0.prefix(ReaderLimits.answer))) }
    return try Self.outcome(result)
  }

  private static func outcome(
    _ result: Result<ReaderOperationResult, TagChannelError>
  ) throws(Setback) -> Outcome {
    switch result {
    case .success(let result): return .result(result)
    case .failure(let error) where error.code == .unsupported:
      return .result(.failed(.notSupported, reason: error.reason))
    case .failure(let error) where error.code == .aborted: throw .interrupted
    case .failure(let error): return .silence(error.reason)
    }
  }
}
