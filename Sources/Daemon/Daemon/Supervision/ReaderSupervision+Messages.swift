import ReaderProtocol

extension ReaderSupervision {
  mutating func receive(_ message: ReaderMessage, at now: Instant) -> [Action] {
    hasSpoken = true
    if succession == .pluggedIn, message.isOfOpenDevice {
      return kill("it went on after it had asked for a successor", at: now)
    }
    do throws(ReaderLinkError) {
      return try take(message, at: now)
    } catch {
      return kill("it \(error)", at: now)
    }
  }

  private mutating func take(_ message: ReaderMessage, at now: Instant) throws(ReaderLinkError) -> [Action] {
    switch message {
    case .heartbeat(let milliseconds):
      lifeDeadline = milliseconds == 0 ? nil : Self.deadline(of: milliseconds, at: now)
      return []
    case .state(let state): return try take(state, at: now)
    case .reached(let epoch): return try hasReached(epoch, at: now)
    case .examining, .tag, .known, .removed:
      if case .tag(let epoch, _) = message { try check(epoch) }
      return try placements.handle(message, at: now).map { [.report($0)] } ?? []
    case .sessionTag(let epoch, let tag):
      guard let number = try session(of: epoch) else { return [] }
      try sessions.countTag()
      return [.report(.sessionTag(number, try placements.found(tag)))]
    case .sessionTagRemoved(let epoch, let placement):
      guard let number = try session(of: epoch) else { return [] }
      return [.report(.sessionTagRemoved(number, placement: try placements.lost(placement)))]
    case .sessionRoundEnded(let epoch):
      guard let number = try session(of: epoch) else { return [] }
      try sessions.endRound()
      return [.report(.sessionRoundEnded(number))]
    case .sessionPollingRestarted(let epoch):
      guard let number = try session(of: epoch) else { return [] }
      try sessions.restarted()
      return [.report(.sessionPollingRestarted(number))]
    case .performed(let request, let result):
      let counts = try sessions.performed(request, result, at: now)
      return counts ? [.report(.performed(request: request, result))] : []
    case .progress(let request, let bytes):
      return try sessions.progresses(request) ? [.report(.progress(request: request, bytes: bytes))] : []
    case .successorWanted:
      succession = .pluggedIn
      lifeDeadline = now + Self.hangUpAllowance
      return []
    case .log(let level, let text): return [.report(.log(level, text))]
    case .waiting(let reason): return try wait(reason, at: now)
    }
  }

  /// Without an open device the process cannot wait for a program, so the reason of an earlier state is dropped.
  private mutating func wait(_ reason: String, at now: Instant) throws(ReaderLinkError) -> [Action] {
    guard phase.isOpen, reason != waiting else { return [] }
    guard mayChange(at: now) else { throw ReaderLinkError("changed what it waits for without end") }
    waiting = reason
    return [.report(.waiting(reason: reason))]
  }

  /// The device was opened again, or is no longer open.
  private mutating func stopWaiting() -> [Action] {
    guard !waiting.isEmpty else { return [] }
    waiting = ""
    return [.report(.waiting(reason: ""))]
  }

  private func check(_ epoch: UInt64) throws(ReaderLinkError) {
    guard epoch <= sent.epoch else { throw ReaderLinkError("spoke of a goal that it was not given") }
  }

  /// Nil if the session that a report belongs to is over.
  private func session(of epoch: UInt64) throws(ReaderLinkError) -> UInt64? {
    try check(epoch)
    guard epoch == sent.epoch else { return nil }
    guard case .inSession(let number) = phase, reached == epoch else {
      // A failed device ends the session. Ignore reports that the process sends afterwards.
      if sent.goal.session != nil, !phase.isOpen { return nil }
      throw ReaderLinkError("spoke of a tag before the reader session began")
    }
    return number
  }

  private mutating func take(_ state: ReaderDeviceState, at now: Instant) throws(ReaderLinkError) -> [Action] {
    let new = ReaderPhase(state)
    guard new != phase else { return [] }
    guard mayChange(at: now) else { throw ReaderLinkError("changed its state without end") }
    if sent.goal.usesField { reached = nil }
    let wait = stopWaiting()
    switch state {
    case .ready:
      opened = new
      placements.deviceIsOpen()
      placements.readerWorks()
      return wait + [note(new)].compactMap { $0 }
    case .absent(let reason), .failed(let reason):
      if case .absent = state { placements.deviceWasAway(isLent: sent.goal == .lent) }
      let tag = tagThatFailsReaders(reason, at: now)
      return wait + tag + [note(new)].compactMap { $0 } + sessions.end(.deviceLost, reason)
    }
  }

  private mutating func hasReached(_ epoch: UInt64, at now: Instant) throws(ReaderLinkError) -> [Action] {
    try check(epoch)
    guard epoch == sent.epoch, reached != epoch else { return [] }
    var new = phase
    switch sent.goal {
    case .off: if phase.isOpen { new = opened }
    case .lent:
      new = .released
      waiting = ""
    case .scan, .session:
      // The device is not open, as far as the daemon knows. The process sends `reached` again after it opens the
      // device.
      guard phase.isOpen else { return [] }
      if let session = sent.goal.session { new = .inSession(session.number) } else { new = .scanning }
    }
    placements.goalReached(isScan: sent.goal.isScan)
    placements.readerWorks()
    reached = epoch
    owesStop = false
    sessions.forgetAbandoned()
    return [note(new)].compactMap { $0 } + sendGoal(at: now)
  }

  private mutating func tagThatFailsReaders(_ reason: String, at now: Instant) -> [Action] {
    guard let placement = placements.readerFailed(at: now) else { return [] }
    let report = TagReport(
      placement: placement, content: .problem(reason: "the reader failed at each attempt to read the tag: \(reason)"))
    // The present process may open the device again, so it has to know the suspect.
    return [
      .report(.tag(report, epoch: sent.epoch)),
      .send(.goal(epoch: sent.epoch, sent.goal, known: placements.known(at: now))),
    ]
  }

  /// Only the heartbeats of a stopping process matter, because they show that it is alive.
  mutating func receive(_ message: ReaderMessage, stoppingUntil end: Instant, at now: Instant) -> [Action] {
    if case .heartbeat(let milliseconds) = message, milliseconds > 0 {
      lifeDeadline = min(Self.deadline(of: milliseconds, at: now), end)
    }
    return []
  }

  private static func deadline(of milliseconds: UInt32, at now: Instant) -> Instant {
    now + min(.milliseconds(Int64(milliseconds)), ReaderTiming.longestPromise) + ReaderTiming.grace
  }
}

extension ReaderMessage {
  /// Whether only a process with an open device sends this message.
  fileprivate var isOfOpenDevice: Bool {
    switch self {
    case .examining, .tag, .state(.ready), .sessionTag, .sessionRoundEnded, .sessionPollingRestarted, .performed,
      .waiting:
      true
    default: false
    }
  }
}
