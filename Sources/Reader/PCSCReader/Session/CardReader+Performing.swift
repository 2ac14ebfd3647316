import ReaderKit
import ReaderProtocol
import Tags

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
