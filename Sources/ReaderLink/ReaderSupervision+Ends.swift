/// The end of a process, wanted or not: what it leaves of its field, its session and its tags, and what comes after it.
extension ReaderSupervision {
  mutating func kill(_ reason: String, at now: Instant) -> [Action] {
    guard case .running = phase else { return [] }
    phase = .ending(reason)
    lifeDeadline = nil
    reader = nil
    doubtField()
    // It may be long until it is dead, and it is of no use from now on.
    return [.kill] + loseSession(to: reason, at: now) + [.report(Self.failed(reason))] + stopIsOver()
  }

  /// Whoever waits to hear that the process has stopped waits no longer.
  private mutating func stopIsOver() -> [Action] {
    guard isStopping else { return [] }
    stopDeadline = nil
    return stoppedWithoutWord()
  }

  /// Nobody says that what was seen before the order to stop is nobody's, and whoever is at the machine when tags are wanted again may be
  /// somebody else: the next process announces nothing that lies there.
  mutating func stoppedWithoutWord() -> [Action] {
    loan.quieten()
    return [.report(.stopped)]
  }

  /// Whether the field is off is for the next process to say, which resets the device when it opens it.
  private mutating func doubtField() {
    isFieldInDoubt = isFieldInDoubt || reportsScanning || sessions.isBusy
    reportsScanning = false
  }

  /// The process is gone, or as good as that.
  mutating func loseSession(to reason: String, at now: Instant) -> [Action] {
    // Whoever comes next does not announce what was laid down for the session.
    if sessions.isBusy { loan.quieten() }
    return sessions.lose("the reader process ended: \(reason)", isProcessGone: true, at: now)
  }

  /// The last word on the field: nobody will know more.
  mutating func fieldIsOff() -> [Action] {
    defer { (reportsScanning, isFieldInDoubt) = (false, false) }
    return reportsScanning || isFieldInDoubt ? [.report(.scanning(false))] : []
  }

  private static func failed(_ reason: String) -> ReaderProcessEvent {
    .state(.failed(reason: "the reader process ended: \(reason)"))
  }

  /// The process is reaped, or was never started.
  mutating func ended(_ reason: String, at now: Instant) -> [Action] {
    switch phase {
    case .idle, .waiting, .stopped:
      return []
    case .stopping, .stoppingKilled:
      phase = .stopped
      lifeDeadline = nil
      loan.stop()
      return loseSession(to: "it was stopped", at: now)
        + placements.end(at: now, wasLooking: false).removed.map { .report(.removed(placement: $0)) } + fieldIsOff()
        + [.finish]
    case .running, .ending:
      break
    }
    // A crash is one, whatever was said before it.
    if case .running = phase, wantsSuccessor, reason == ReaderChild.success, restarts.maySucceed(at: now) {
      return succeed(to: reason, at: now)
    }
    doubtField()
    let lost = loseSession(to: reason, at: now)
    let left = placements.end(at: now, wasLooking: isFieldInDoubt)
    let pause = restarts.ended(at: now)
    reader = nil
    // What is dead has nothing open.
    var actions = lost + loan.processEnded() + left.removed.map { Action.report(.removed(placement: $0)) }
    actions.append(.report(.crashed(ReaderCrash(reason: reason, suspect: left.suspect, restart: pause))))
    actions.append(.report(Self.failed(reason)))
    actions += stopIsOver()
    guard pause > .zero else { return actions + spawn(at: now) }
    phase = .waiting(until: now + pause)
    lifeDeadline = now + pause
    return actions
  }

  /// The process has ended as it should, for one that may open the device, which it has said is away: nothing has failed.
  private mutating func succeed(to reason: String, at now: Instant) -> [Action] {
    doubtField()
    let lost = loseSession(to: reason, at: now)
    let left = placements.end(at: now, wasLooking: false)
    let actions = lost + loan.processEnded() + left.removed.map { .report(.removed(placement: $0)) }
    loan.deviceWasAway()
    return actions + stopIsOver() + spawn(at: now)
  }
}
