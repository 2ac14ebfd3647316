import EventLoop
import Journal

/// When a reader process is started, told, ended and started again: the decisions, without a process or a clock.
///
/// A process is dead where it exits, breaks the protocol, or is not heard of by the time it named itself. It is started
/// again at once the first time, then ever later; after a while of good conduct the count starts anew.
struct ReaderSupervision {
  typealias Instant = SuspendingClock.Instant

  enum Event {
    case start
    /// What lies on the reader was announced by somebody who is gone.
    case quieten
    case scan(Bool)
    /// Something was plugged in or unplugged.
    case lookForDevice
    case beginSession(ReaderSessionOptions)
    case endSession(UInt64)
    case restartPolling(UInt64)
    case perform(session: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
    case lend(Bool)
    /// Look for something else from here on, or at other intervals.
    case configure(ReaderPolling)
    case stop
    /// A message that the link has already checked for form.
    case received(ReaderMessage)
    /// The process does not speak the protocol.
    case violated(String)
    /// The process speaks another version of the protocol: the program was replaced by an update, and the daemon was not restarted.
    case isOtherVersion(String)
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
  /// Whether the present process ends only so that the next one may open what it may not.
  var wantsSuccessor = false
  private var changes = WindowCount(within: changeWindow)

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
    case .quieten:
      loan.quieten()
      return []
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
    case .configure(let polling):
      // A process that is started later is started with it.
      guard case .running = phase else { return [] }
      return told([.send(.configure(polling))], at: now)
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
    case .isOtherVersion(let what):
      restarts.isHopeless()
      return kill("it sent \(what): tagroute-reader is of another version than this daemon: restart tagrouted", at: now)
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
    wantsSuccessor = false
    restarts.started(at: now)
    placements.begin()
    lifeDeadline = now + ReaderTiming.start
    obedienceDeadline = nil
    changes = WindowCount(within: Self.changeWindow)
    var actions = [Action.spawn]
    actions += placements.avoided(at: now).map { .send(.avoid($0)) }
    if let isLent = loan.begin(at: now, within: ReaderTiming.start + timing.opening) {
      actions.append(.send(.lend(isLent)))
    }
    if wantsScanning { actions.append(.send(.scan(true))) }
    return actions
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

  mutating func mayChange(at now: Instant) -> Bool { changes.next(at: now) <= Self.mostChanges }
}
