import EventLoop
import Journal

/// When a reader process is started, told, ended and started again: the decisions, without a process or a clock.
///
/// A process is dead if it exits, breaks the protocol, is not heard of by the time it named itself, or has not
/// reached its goal in time. It is started again at once the first time, then ever later; after a while of good
/// conduct the count starts again.
struct ReaderSupervision {
  typealias Instant = SuspendingClock.Instant

  enum Event {
    case start
    /// What the reader should be doing from now on. Each goal has an epoch one higher than the one before.
    case pursue(UInt64, ReaderGoal)
    /// Something was plugged in or unplugged.
    case lookForDevice
    case restartPolling(session: UInt64)
    case perform(session: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
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

  /// The process of the reader.
  enum Life {
    /// None was started. Can transition to: `.running`, `.stopped`.
    case idle
    /// Can transition to: `.killed`, `.pausing`, `.running` (the next one), `.stopping`.
    case running
    /// Killed for this reason, and not yet reaped. Can transition to: `.pausing`, `.running`, `.dying`.
    case killed(String)
    /// Between two processes. Can transition to: `.running`, `.stopped`.
    case pausing
    /// Told to shut down. It has until then, as long as it says that it lives. Can transition to: `.dying`, `.stopped`.
    case stopping(until: Instant)
    /// Killed on the way to its end. Can transition to: `.stopped`.
    case dying
    case stopped
  }

  /// A goal and its epoch.
  struct Order: Hashable {
    var epoch: UInt64
    var goal: ReaderGoal
  }

  /// How often a process may report another state of its device in `changeWindow`: each is a signal on the bus.
  /// A device that fails whenever it is opened makes half as many.
  static let mostChanges = 200
  static let changeWindow = Duration.seconds(60)
  /// How long a process may live after it has closed its link.
  static let hangUpAllowance = Duration.milliseconds(500)
  let timing: ReaderTiming
  var life = Life.idle
  var phase = ReaderPhase.opening
  /// The device that was opened last.
  var opened = ReaderPhase.opening
  /// What the reader should be doing.
  var wanted = Order(epoch: 0, goal: .off)
  /// What the present process was told last.
  var sent = Order(epoch: 0, goal: .off)
  /// The epoch that the present process has reached.
  var reached: UInt64?
  /// Whether a scan was replaced by another goal that the process has not reached: it may have seen tags that it has
  /// not reported.
  var owesStop = false
  var restarts = RestartSchedule()
  var placements: PlacementLedger
  var sessions: SessionLedger
  /// Whether the present process has said anything. It does before it opens a device.
  var hasSpoken = false
  /// Whether the present process ends only so that the next one may open what it may not.
  var wantsSuccessor = false
  private var changes = WindowCount(within: changeWindow)
  private var reportedPhase: ReaderProcessEvent?
  private var reportedKnown: KnownTags

  /// When the process is dead unless it is heard of before, or it is time to start it.
  var lifeDeadline: Instant?
  /// When the process must have reached its goal. A sign of life is no answer.
  var goalDeadline: Instant?

  /// - Parameters:
  ///   - timing: how long the process may take for what it does.
  ///   - known: the tags that lie on the reader and were announced.
  init(_ timing: ReaderTiming, known: KnownTags = KnownTags()) {
    self.timing = timing
    sessions = SessionLedger(timing)
    placements = PlacementLedger(known)
    reportedKnown = placements.list
  }

  var isRunning: Bool { if case .running = life { true } else { false } }

  /// When `tick` is due. Nil: nothing is due.
  var deadline: Instant? {
    // Of one that ends nothing else is expected.
    guard isRunning else { return lifeDeadline }
    return [lifeDeadline, goalDeadline, sessions.deadline].compactMap { $0 }.min()
  }

  /// Whether the process has promised nothing, and nothing is expected of it.
  var isAsleep: Bool { isRunning && deadline == nil }

  mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    var actions = decide(event, at: now)
    placements.operate(on: sessions.operated)
    if !owesGoal {
      goalDeadline = nil
    } else if goalDeadline == nil {
      let beginning = phase == .opening ? ReaderTiming.start + timing.opening : .zero
      goalDeadline = now + beginning + timing.breakingOff
    }
    if placements.list != reportedKnown {
      reportedKnown = placements.list
      actions.append(.report(.known(reportedKnown)))
    }
    return actions
  }

  /// Whether the process has to reach its goal. Without a device it cannot look for tags.
  private var owesGoal: Bool {
    guard isRunning, reached != sent.epoch else { return false }
    switch phase {
    case .absent, .failed: return !sent.goal.usesField
    default: return true
    }
  }

  private mutating func decide(_ event: Event, at now: Instant) -> [Action] {
    switch event {
    case .start:
      guard case .idle = life else { return [] }
      return spawn(at: now)
    case .pursue(let epoch, let goal): return pursue(Order(epoch: epoch, goal: goal), at: now)
    case .lookForDevice: return lookForDevice(at: now)
    case .restartPolling(let number):
      guard phase == .inSession(number), reached == sent.epoch else { return [] }
      sessions.restarts()
      return tell(.restartPolling(epoch: sent.epoch), at: now)
    case .perform(let session, let request, let placement, let operation):
      return perform(operation, request, placement, session: session, at: now)
    case .stop: return stop(at: now)
    case .received(let message):
      switch life {
      case .running: return receive(message, at: now)
      case .stopping(let end): return receive(message, stoppingUntil: end, at: now)
      case .idle, .killed, .pausing, .dying, .stopped: return []
      }
    case .violated(let what): return kill("it sent \(what)", at: now)
    case .isOtherVersion(let what):
      restarts.isHopeless()
      return kill("it sent \(what): tagroute-reader is of another version than this daemon: restart tagrouted", at: now)
    case .hungUp:
      // It is ending, and its exit will say how; or it only wants to be left alone, and is not.
      if isRunning { lifeDeadline = now + Self.hangUpAllowance }
      return []
    case .startFailed(let reason): return ended(reason, at: now)
    case .exited(let reason):
      if case .killed(let cause) = life { return ended(cause, at: now) }
      return ended(reason, at: now)
    case .tick:
      guard let deadline, now >= deadline else { return [] }
      return due(at: now)
    }
  }

  // MARK: The goal

  private mutating func pursue(_ order: Order, at now: Instant) -> [Action] {
    let isStop = wanted.goal.isScan && !order.goal.isScan
    wanted = order
    switch life {
    case .running: return sendGoal(at: now)
    case .killed, .pausing:
      // The process may have seen tags that it has not reported, and the next scan may be for somebody else.
      if isStop || order.goal == .lent { placements.noOneKnows() }
      if case .pausing = life, order.goal == .lent { return [released()].compactMap { $0 } }
      return [endGoal(phase == .released ? .failed(reason: "the reader is being opened") : phase)].compactMap { $0 }
    case .idle, .stopping, .dying, .stopped: return []
    }
  }

  /// Tells the process of the goal if it is another one. One that ends the use of the field is sent at once; the
  /// process has to reach that one before the next is sent, so that it has named all tags that it has seen for the
  /// former.
  mutating func sendGoal(at now: Instant) -> [Action] {
    guard sent != wanted, sent.goal.usesField || reached == sent.epoch else { return [] }
    if sent.goal.isScan && !wanted.goal.isScan { owesStop = true }
    let answers = sent.goal.session == nil ? [] : sessions.end(.sessionEnded, "the reader session has ended")
    placements.endSession()
    if wanted.goal == .lent || wanted.goal.session != nil { placements.noOneKnows() }
    (sent, reached, goalDeadline) = (wanted, nil, nil)
    return answers + tell(.goal(epoch: sent.epoch, sent.goal, known: placements.known(at: now)), at: now)
  }

  /// What is sent has to be answered: a process that is busy has said until when; one that sleeps has to answer now.
  mutating func tell(_ command: ReaderCommand, at now: Instant) -> [Action] {
    lifeDeadline = max(lifeDeadline ?? now, now + ReaderTiming.answer)
    return [.send(command)]
  }

  /// Another phase, or another epoch that is in force.
  ///
  /// - Returns: what is to be reported; nil if that is nothing new.
  mutating func note(_ new: ReaderPhase) -> Action? {
    phase = new
    let event = ReaderProcessEvent.phase(new, reached: reached)
    guard new != .opening, event != reportedPhase else { return nil }
    reportedPhase = event
    return .report(event)
  }

  /// There is no process, or none that is of use: a reader session does not go on in another one, and `off` is as
  /// good as reached.
  mutating func endGoal(_ new: ReaderPhase) -> Action? {
    if wanted.goal.session != nil { wanted.goal = .off }
    reached = wanted.goal == .off ? wanted.epoch : nil
    return note(new)
  }

  /// There is no process, so the device is closed.
  mutating func released() -> Action? {
    reached = wanted.epoch
    return note(.released)
  }

  private mutating func lookForDevice(at now: Instant) -> [Action] {
    switch life {
    case .running: return tell(.lookForDevice, at: now)
    case .pausing: return restarts.hurry() ? spawn(at: now) : []
    case .idle, .killed, .stopping, .dying, .stopped: return []
    }
  }

  private mutating func perform(
    _ operation: ReaderOperation, _ request: UInt64, _ placement: UInt64, session: UInt64, at now: Instant
  ) -> [Action] {
    var refusal: ReaderOperationResult?
    if phase != .inSession(session) || reached != sent.epoch || !isRunning {
      refusal = .failed(.sessionEnded, reason: "the reader session has ended")
    } else if placements.own(placement) == nil {
      refusal = .failed(.tagLost, reason: "the tag is away")
    } else {
      refusal = sessions.add(operation, request: request, placement: placement, at: now)
    }
    guard refusal == nil, let own = placements.own(placement) else {
      return refusal.map { [.report(.performed(request: request, $0))] } ?? []
    }
    return tell(.perform(epoch: sent.epoch, request: request, placement: own, operation), at: now)
  }

  // MARK: The process

  mutating func spawn(at now: Instant) -> [Action] {
    life = .running
    hasSpoken = false
    wantsSuccessor = false
    restarts.started(at: now)
    placements.begin(at: now)
    changes = WindowCount(within: Self.changeWindow)
    if phase != .released { phase = .opening }
    lifeDeadline = now + ReaderTiming.start
    if wanted.goal == .lent { placements.noOneKnows() }
    (sent, reached, goalDeadline, owesStop) = (wanted, nil, nil, false)
    return [.spawn, .send(.goal(epoch: sent.epoch, sent.goal, known: placements.known(at: now)))]
  }

  private mutating func due(at now: Instant) -> [Action] {
    switch life {
    case .running:
      if let lifeDeadline, now >= lifeDeadline { return kill("it was not heard of in time", at: now) }
      if let deadline = sessions.deadline, now >= deadline {
        return kill("an operation on a tag took too long", at: now)
      }
      return kill("it was told to \(sent.goal.words) and has not done so", at: now)
    case .pausing:
      restarts.paused()
      return spawn(at: now)
    case .stopping:
      life = .dying
      lifeDeadline = now + ReaderTiming.kill
      return [.kill]
    case .dying:
      life = .stopped
      lifeDeadline = nil
      return sessions.end(.deviceLost, "the reader process ended: it was stopped") + [.abandon]
    case .idle, .killed, .stopped:
      lifeDeadline = nil
      return []
    }
  }

  mutating func mayChange(at now: Instant) -> Bool { changes.next(at: now) <= Self.mostChanges }
}

extension ReaderGoal {
  /// What a process is told, in words for the log.
  fileprivate var words: String {
    switch self {
    case .off: "stop looking for tags"
    case .scan: "look for tags"
    case .session: "begin a reader session"
    case .lent: "close its device"
    }
  }
}
