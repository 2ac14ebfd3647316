import ReaderProtocol

/// The end of a process, expected or not, and the next step.
extension ReaderSupervision {
  mutating func kill(_ reason: String, at now: Instant) -> [Action] {
    guard isRunning else { return [] }
    life = .killed(reason)
    lifeDeadline = nil
    // The kill may take a while. Ignore the process from here.
    return [.kill] + sessions.end(.deviceLost, Self.words(reason))
      + [endGoal(.failed(reason: Self.words(reason)))]
      .compactMap { $0 }
  }

  private static func words(_ reason: String) -> String { "the reader process ended: \(reason)" }

  /// The process was reaped, or could not be started.
  mutating func ended(_ reason: String, at now: Instant) -> [Action] {
    switch life {
    case .idle, .pausing, .stopped: return []
    case .stopping, .dying:
      life = .stopped
      lifeDeadline = nil
      return sessions.end(.deviceLost, Self.words("it was stopped")) + [.finish]
    case .running, .killed: break
    }
    let answers = sessions.end(.deviceLost, Self.words(reason))
    sessions.forgetAbandoned()
    if owesStop { placements.noOneKnows() }
    // Only a successful exit makes way for a successor. Any other exit is a crash.
    if isRunning, wantsSuccessor, reason == ReaderChild.success, restarts.maySucceed(at: now) {
      _ = placements.end(at: now, wasLooking: false)
      if !owesStop, !phase.hasFailed { placements.deviceWasAway(isLent: wanted.goal == .lent) }
      let word =
        wanted.goal == .lent ? released() : endGoal(phase.isOpen ? .absent(reason: "it was plugged in again") : phase)
      return answers + [word].compactMap { $0 } + spawn(at: now)
    }
    let suspect = placements.end(at: now, wasLooking: sent.goal.usesField)
    let pause = restarts.ended(at: now)
    // A process that has ended has no device open.
    let word = wanted.goal == .lent ? released() : endGoal(.failed(reason: Self.words(reason)))
    let crash = ReaderCrash(reason: reason, suspect: suspect, restart: pause)
    let actions = answers + [word, .report(.crashed(crash))].compactMap { $0 }
    guard pause > .zero else { return actions + spawn(at: now) }
    life = .pausing
    lifeDeadline = now + pause
    return actions
  }

  mutating func stop(at now: Instant) -> [Action] {
    switch life {
    case .running:
      let end = now + ReaderTiming.stop
      life = .stopping(until: end)
      if !hasSpoken { lifeDeadline = nil }
      let order = tell(.shutDown, at: now)
      lifeDeadline = lifeDeadline.map { min($0, end) }
      return order
    case .killed:
      life = .dying
      lifeDeadline = now + ReaderTiming.kill
      return []
    case .idle, .pausing:
      life = .stopped
      lifeDeadline = nil
      return [.finish]
    case .stopping, .dying, .stopped:
      return []
    }
  }
}

extension ReaderPhase {
  /// Whether the device is present and cannot be used. Its tags may still lie on it: pcscd has ended, for example.
  var hasFailed: Bool { if case .failed = self { true } else { false } }
}
