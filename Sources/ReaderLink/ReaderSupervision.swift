import Journal

/// When a reader process is started, told, ended and started again: the decisions, without a process or a clock.
///
/// A process is dead where it exits, breaks the protocol, or is not heard of by the time it named itself. It is started
/// again at once the first time, then ever later; after a while of good conduct the count starts anew.
struct ReaderSupervision {
  typealias Instant = SuspendingClock.Instant

  enum Event {
    case start
    case scan(Bool)
    /// Something was plugged in or unplugged.
    case lookForDevice
    case beginSession(ReaderSessionOptions)
    case endSession(UInt64)
    case restartPolling(UInt64)
    case perform(session: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
    case lend(Bool)
    case stop
    /// A message that the link has already checked for form.
    case received(ReaderMessage)
    /// The process does not speak the protocol.
    case violated(String)
    /// The process has closed its end of the link, as it does when it ends.
    case hungUp
    /// The process could not be started.
    case startFailed(String)
    /// The process has ended and is reaped.
    case exited(String)
    /// `deadline` has come, or nothing has.
    case tick
  }

  enum Action: Hashable {
    case spawn
    case send(ReaderCommand)
    case kill
    case report(ReaderProcessEvent)
    /// Stopped for good.
    case finish
    /// Stopped for good, and the process is still there: nothing ends it, since the kernel does not let go of it.
    case abandon
  }

  enum Phase {
    case idle
    case running
    /// Killed, and the reason is known; it is not yet reaped.
    case ending(String)
    case waiting(until: Instant)
    /// Told to shut down. It has until then, as long as it goes on saying that it lives.
    case stopping(until: Instant)
    /// Killed on the way to its end.
    case stoppingKilled
    case stopped
  }

  /// How often a process may report another state in `changeWindow` than it was told to have: each is a signal on the bus.
  /// A device that fails whenever it is opened makes half as many.
  static let mostChanges = 200
  static let changeWindow = Duration.seconds(60)
  /// How long a process may live after it has closed its link.
  static let hangUpAllowance = Duration.milliseconds(500)
  let timing: ReaderTiming
  var phase = Phase.idle
  var wantsScanning = false
  var reportsScanning = false
  /// By when the process, which was told to look for no tags, has to have answered that it has stopped; nil where it was not, or has.
  var stopDeadline: Instant?
  /// It is told to look again only then: two such answers on their way could not be told from each other.
  var isStopping: Bool { stopDeadline != nil }
  /// Whether it has begun to look since, as it may once: before it has read the order.
  var hasBegunSinceOrder = false
  /// A process has ended, or a session could not go on, while the field was on, and no device has been opened since.
  var isFieldInDoubt = false
  var restarts = RestartSchedule()
  var placements = PlacementLedger()
  var sessions: SessionLedger
  var loan = DeviceLoan()
  var reader: ReaderState?
  /// Whether the present process has said anything. It does before it opens a device.
  var hasSpoken = false
  private var changes = 0
  private var changeWindowEnd: Instant?

  /// When the process is dead unless it is heard of before, or it is time to start it.
  var lifeDeadline: Instant?
  /// When the process has to have done what it was told: a sign of life is no answer.
  var obedienceDeadline: Instant?

  /// - Parameter timing: how long the process may take for what it does.
  init(_ timing: ReaderTiming) {
    self.timing = timing
    sessions = SessionLedger(timing)
  }

  /// When `tick` is due. Nil: nothing is due.
  var deadline: Instant? {
    // Of one that ends nothing else is expected.
    guard case .running = phase else { return lifeDeadline }
    return [lifeDeadline, obedienceDeadline, stopDeadline, sessions.deadline, loan.deadline].compactMap { $0 }.min()
  }

  /// Whether the process has promised nothing, and nothing is expected of it.
  var isAsleep: Bool {
    guard case .running = phase else { return false }
    return deadline == nil
  }

  mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    let actions = decide(event, at: now)
    if !isDisobedient {
      obedienceDeadline = nil
    } else if obedienceDeadline == nil {
      obedienceDeadline = now + timing.obedience
    }
    return actions
  }

  /// Whether the process is to look for tags to announce: neither before it has stopped as it was told, nor in a session, nor while
  /// its device is lent.
  var isToScan: Bool { wantsScanning && !isStopping && !sessions.isBusy && !loan.isWanted }

  /// Whether the process does otherwise than it was told. Without a device it can only leave the field off.
  private var isDisobedient: Bool {
    guard case .running = phase, reportsScanning != isToScan, !sessions.isBusy, loan.isSettled else { return false }
    switch reader {
    case .ready: return true
    // The field of a device that does not answer is nobody's to switch off.
    case .failed: return false
    case .absent, nil: return reportsScanning
    }
  }

  private mutating func decide(_ event: Event, at now: Instant) -> [Action] {
    switch event {
    case .start:
      guard case .idle = phase else { return [] }
      return spawn(at: now)
    case .scan(let on):
      return scan(on, at: now)
    case .lookForDevice:
      return lookForDevice(at: now)
    case .beginSession(let options):
      return told(sessions.begin(options, unless: obstacleToSession, at: now), at: now)
    case .endSession(let number):
      return told(sessions.end(number, at: now), at: now)
    case .restartPolling(let number):
      return told(sessions.restartPolling(number), at: now)
    case .perform(let session, let request, let placement, let operation):
      let own = placements.own(placement)
      defer { placements.operate(on: sessions.operated) }
      let actions = sessions.perform(
        operation, request: request, placement: placement, own: own, session: session, at: now)
      return told(actions, at: now)
    case .lend(let on):
      return lend(on, at: now)
    case .stop:
      return stop(at: now)
    case .received(let message):
      switch phase {
      case .running: return receive(message, at: now)
      case .stopping(let end): return receive(message, stoppingUntil: end, at: now)
      case .idle, .ending, .waiting, .stoppingKilled, .stopped: return []
      }
    case .violated(let what):
      return kill("it sent \(what)", at: now)
    case .hungUp:
      // It is ending, and its exit will say how; or it only wants to be left alone, and is not.
      if case .running = phase { lifeDeadline = now + Self.hangUpAllowance }
      return []
    case .startFailed(let reason):
      return ended(reason, at: now)
    case .exited(let reason):
      if case .ending(let cause) = phase { return ended(cause, at: now) }
      return ended(reason, at: now)
    case .tick:
      guard let deadline, now >= deadline else { return [] }
      return due(at: now)
    }
  }

  mutating func spawn(at now: Instant) -> [Action] {
    phase = .running
    hasSpoken = false
    restarts.started(at: now)
    placements.begin()
    lifeDeadline = now + ReaderTiming.start
    obedienceDeadline = nil
    changes = 0
    changeWindowEnd = nil
    var actions = [Action.spawn]
    actions += placements.avoided(at: now).map { .send(.avoid($0)) }
    if let isLent = loan.begin(at: now, within: ReaderTiming.start + timing.opening) {
      actions.append(.send(.lend(isLent)))
    }
    if wantsScanning { actions.append(.send(.scan(true))) }
    return actions
  }

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
  private mutating func loseSession(to reason: String, at now: Instant) -> [Action] {
    // Whoever comes next does not announce what was laid down for the session.
    if sessions.isBusy { loan.quieten() }
    return sessions.lose("the reader process ended: \(reason)", isProcessGone: true, at: now)
  }

  /// The last word on the field: nobody will know more.
  private mutating func fieldIsOff() -> [Action] {
    defer { (reportsScanning, isFieldInDoubt) = (false, false) }
    return reportsScanning || isFieldInDoubt ? [.report(.scanning(false))] : []
  }

  private static func failed(_ reason: String) -> ReaderProcessEvent {
    .state(.failed(reason: "the reader process ended: \(reason)"))
  }

  private mutating func due(at now: Instant) -> [Action] {
    switch phase {
    case .running:
      if let lifeDeadline, now >= lifeDeadline { return kill("it was not heard of in time", at: now) }
      if let deadline = sessions.deadline, now >= deadline { return kill(sessions.omission, at: now) }
      if let deadline = loan.deadline, now >= deadline { return kill(loan.omission, at: now) }
      if let stopDeadline, now >= stopDeadline {
        return kill("it was told to look for no tags and did not say that it has stopped", at: now)
      }
      return kill(
        isToScan ? "it was told to look for tags and did not begin" : "it was told to look for no tags and went on",
        at: now)
    case .waiting:
      restarts.paused()
      return spawn(at: now)
    case .stopping:
      phase = .stoppingKilled
      lifeDeadline = now + ReaderTiming.kill
      return [.kill]
    case .stoppingKilled:
      phase = .stopped
      lifeDeadline = nil
      return loseSession(to: "it was stopped", at: now) + fieldIsOff() + [.abandon]
    case .idle, .ending, .stopped:
      lifeDeadline = nil
      return []
    }
  }

  mutating func mayChange(at now: Instant) -> Bool {
    if changeWindowEnd.map({ now >= $0 }) ?? true {
      changeWindowEnd = now + Self.changeWindow
      changes = 0
    }
    changes += 1
    return changes <= Self.mostChanges
  }

  private mutating func ended(_ reason: String, at now: Instant) -> [Action] {
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
}
