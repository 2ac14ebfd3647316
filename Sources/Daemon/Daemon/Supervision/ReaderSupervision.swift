import EventLoop
import Journal
import ReaderProtocol

/// Decides when to start a reader process, what to send to it, and when to end and restart it. Pure: it has no process
/// and no clock.
///
/// A process is dead if it exits, breaks the protocol, or does not reach its goal in time, or if the time that it has
/// promised passes without a message. The first restart is immediate, and the pause before each further one is longer.
/// A process that lives for `RestartSchedule.goodConduct` resets the count.
struct ReaderSupervision {
  typealias Instant = SuspendingClock.Instant

  enum Event {
    case start
    /// Its epoch is one higher than that of the previous goal.
    case pursue(UInt64, ReaderGoal)
    case lookForDevice
    /// A person looks for the reader.
    case identify
    case restartPolling(TagSessionOptions)
    case perform(session: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
    /// Another process with another configuration takes over.
    case restart
    case stop
    /// The link has already checked its form.
    case received(ReaderMessage)
    case violated(String)
    /// The process uses another version of the protocol: an update replaced the program, but the daemon was not
    /// restarted.
    case isOtherVersion(String)
    /// The process closed its end of the link, as it does when it exits.
    case hungUp
    case startFailed(String)
    /// The process ended and was reaped.
    case exited(String)
    /// A timer fired. `deadline` may not have passed yet.
    case tick
  }

  enum Action: Hashable {
    case spawn
    case send(ReaderCommand)
    case kill
    case report(ReaderProcessEvent)
    /// The reader is stopped for good.
    case finish
    /// The reader is stopped for good, but the process still exists, because the kernel does not release it.
    case abandon
  }

  enum Life {
    /// No process was started yet. Can transition to: `.running`, `.stopped`.
    case idle
    /// A process was started. Can transition to: `.killed`, `.pausing`, `.running` (the next one), `.stopping`.
    case running
    /// Killed for this reason, and not yet reaped. Can transition to: `.pausing`, `.running`, `.dying`.
    case killed(String)
    /// Waiting to start the next process. Can transition to: `.running`, `.stopped`.
    case pausing
    /// Asked to shut down. Its time ends at `until` if its heartbeats continue. Can transition to: `.dying`,
    /// `.stopped`.
    case stopping(until: Instant)
    /// Killed, and not to be restarted. Can transition to: `.stopped`.
    case dying
    /// Stopped for good. The last state.
    case stopped
  }

  enum Succession {
    /// The process has asked for it: a device was plugged in that only a new process may open.
    case pluggedIn
    /// The daemon has asked for it.
    case restart
  }

  struct Order: Hashable {
    var epoch: UInt64
    var goal: ReaderGoal
  }

  /// The most changes of the device's state that a process may report in `changeWindow`: each is a signal on the bus. A
  /// device that fails whenever it is opened causes half as many.
  static let mostChanges = 200
  static let changeWindow = Duration.seconds(60)
  /// How long a process may live after it closed its link.
  static let hangUpAllowance = Duration.milliseconds(500)
  let timing: ReaderTiming
  var life = Life.idle
  var phase = ReaderPhase.opening
  /// The phase of the device that was opened last.
  var opened = ReaderPhase.opening
  var wanted = Order(epoch: 0, goal: .off)
  /// To the present process.
  var sent = Order(epoch: 0, goal: .off)
  /// Of the goal in force; nil if none is.
  var reached: UInt64?
  /// Whether another goal replaced a scan, and the process has not reached it yet. The process may have seen tags that
  /// it has not reported.
  var owesStop = false
  var restarts = RestartSchedule()
  var placements: PlacementLedger
  var sessions: SessionLedger
  /// Whether the present process has sent a message. It sends one before it opens a device.
  var hasSpoken = false
  /// Why another process is to follow the present one; nil if none is.
  var succession: Succession?
  /// The last reported reason why the process waits for another program; empty if it does not wait.
  var waiting = ""
  private var changes = WindowCount(within: changeWindow)
  private var reportedPhase: ReaderProcessEvent?
  private var reportedKnown: KnownTags

  /// When a process is dead unless it sends a message first. While pausing: when to start the next process.
  var lifeDeadline: Instant?
  /// When the process must have reached its goal. A heartbeat does not extend this.
  var goalDeadline: Instant?

  /// `known` lists the tags that lie on the reader and were announced.
  init(_ timing: ReaderTiming, known: KnownTags = KnownTags()) {
    self.timing = timing
    sessions = SessionLedger(timing)
    placements = PlacementLedger(known)
    reportedKnown = placements.list
  }

  var isRunning: Bool { if case .running = life { true } else { false } }

  /// When `tick` is due; nil for never.
  var deadline: Instant? {
    // A process that is ending has no other deadline.
    guard isRunning else { return lifeDeadline }
    return [lifeDeadline, goalDeadline, sessions.deadline].compactMap { $0 }.min()
  }

  /// Whether the process sleeps: it has promised no message, and owes no reply.
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
      // First of all, because a daemon that announced a tag and dies before it has stored the list announces it again.
      actions.insert(.report(.known(reportedKnown)), at: 0)
    }
    return actions
  }

  /// Whether the process still has to reach its goal. Without a device, it can only reach a goal that uses no field.
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
    case .identify: return isRunning ? tell(.identify, at: now) : []
    case .restartPolling(let options):
      guard phase == .inSession(options.number), reached == sent.epoch else { return [] }
      sessions.restarts()
      return tell(.restartPolling(epoch: sent.epoch, options), at: now)
    case .perform(let session, let request, let placement, let operation):
      return perform(operation, request, placement, session: session, at: now)
    case .restart:
      // Otherwise the next process has the new configuration anyway.
      guard isRunning else { return [] }
      succession = .restart
      let order = tell(.shutDown, at: now)
      lifeDeadline = now + ReaderTiming.stop
      return order
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
      // The process is exiting, and its exit will say how. If it only closed the link, it is killed.
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
      // The process may have seen tags that it has not reported, and the next scan may be for another user.
      if isStop || order.goal == .lent { placements.includeFirst() }
      if case .pausing = life, order.goal == .lent { return [released()].compactMap { $0 } }
      return [endGoal(phase == .released ? .failed(reason: "the reader is being opened") : phase)].compactMap { $0 }
    case .idle, .stopping, .dying, .stopped: return []
    }
  }

  /// Only if the goal is new. A goal that uses the field is replaced at once. Another goal is replaced only after the
  /// process has reached it: by then, the process has named all tags that it saw before.
  mutating func sendGoal(at now: Instant) -> [Action] {
    guard sent != wanted, sent.goal.usesField || reached == sent.epoch else { return [] }
    // A process with a failed device reads no tag, so it owes no stop.
    if sent.goal.isScan, !wanted.goal.isScan, !phase.hasFailed { owesStop = true }
    let answers = sent.goal.session == nil ? [] : sessions.end(.sessionEnded, "the reader session has ended")
    placements.endSession()
    if wanted.goal == .lent || wanted.goal.session != nil { placements.includeFirst() }
    (sent, reached, goalDeadline) = (wanted, nil, nil)
    return answers + tell(.goal(epoch: sent.epoch, sent.goal, known: placements.known(at: now)), at: now)
  }

  /// For a command that needs a reply. A busy process has promised when to send its next message; a sleeping process
  /// must reply within `ReaderTiming.answer`.
  mutating func tell(_ command: ReaderCommand, at now: Instant) -> [Action] {
    lifeDeadline = max(lifeDeadline ?? now, now + ReaderTiming.answer)
    return [.send(command)]
  }

  /// Nil if neither the phase nor the epoch in force has changed.
  mutating func note(_ new: ReaderPhase) -> Action? {
    phase = new
    let event = ReaderProcessEvent.phase(new, reached: reached)
    guard new != .opening, event != reportedPhase else { return nil }
    reportedPhase = event
    return .report(event)
  }

  /// There is no usable process. A reader session does not continue in the next process, and `off` is in force without
  /// one.
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
    case .pausing: return restarts.retryAtOnce() ? spawn(at: now) : []
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
      refusal = .failed(.tagLost, reason: "the tag was removed")
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
    succession = nil
    restarts.started(at: now)
    placements.begin(at: now)
    waiting = ""
    changes = WindowCount(within: Self.changeWindow)
    if phase != .released { phase = .opening }
    lifeDeadline = now + ReaderTiming.start
    if wanted.goal == .lent { placements.includeFirst() }
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
  /// For the log.
  fileprivate var words: String {
    switch self {
    case .off: "stop looking for tags"
    case .scan: "look for tags"
    case .session: "begin a reader session"
    case .lent: "close its device"
    }
  }
}

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
    if owesStop { placements.includeFirst() }
    // Only a successful exit makes way for a successor. Any other exit is a crash.
    if isRunning, let succession, reason == ReaderChild.success, restarts.maySucceed(at: now) {
      let isPluggedIn = succession == .pluggedIn
      // The tags on a device that was plugged in again may be others.
      _ = placements.end(at: now, wasLooking: !isPluggedIn && sent.goal.usesField)
      if isPluggedIn, !owesStop, !phase.hasFailed { placements.deviceWasAway(isLent: wanted.goal == .lent) }
      let absence = isPluggedIn ? "it was plugged in again" : "its process starts again"
      let word = wanted.goal == .lent ? released() : endGoal(phase.isOpen ? .absent(reason: absence) : phase)
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

/// When to restart a reader process that ended: at once the first time, then after longer and longer pauses. A process
/// that lives for `goodConduct` resets the count.
struct RestartSchedule {
  typealias Instant = SuspendingClock.Instant

  /// A process that lives this long resets the count of failures.
  static let goodConduct = Duration.seconds(30)
  /// The pause before each restart; the last one repeats.
  static let pauses: [Duration] = [
    .zero, .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30),
  ]

  /// The most successions in `successionWindow` that are not failures: far more than a person causes by plugging in and
  /// out.
  static let mostSuccessions = 200
  static let successionWindow = Duration.seconds(60)

  private var startedAt: Instant?
  private var failures = 0
  /// Whether plugging in or unplugging a device may end the pause before the next start.
  private var mayRestartAtOnce = true
  private var successions = WindowCount(within: successionWindow)

  mutating func started(at now: Instant) { startedAt = now }

  /// Returns the pause before the restart.
  mutating func ended(at now: Instant) -> Duration {
    if let startedAt, now - startedAt >= Self.goodConduct {
      failures = 0
      mayRestartAtOnce = true
    }
    defer { failures += 1 }
    return Self.pauses[min(failures, Self.pauses.count - 1)]
  }

  /// Another process of the same program would fail as well, so the longest pause comes next.
  mutating func isHopeless() { failures = Self.pauses.count - 1 }

  /// A process ended only to make way for a successor, because its device was plugged in again. Returns true if this is
  /// not a failure; false after too many successions, which are one.
  mutating func maySucceed(at now: Instant) -> Bool {
    successions.next(at: now) <= Self.mostSuccessions
  }

  /// A pause has passed.
  mutating func paused() { mayRestartAtOnce = true }

  /// A device was plugged in or unplugged during a pause. Returns whether this ends the pause. It does so once: a
  /// device that appears and disappears as fast as its process dies would otherwise cause endless restarts.
  mutating func retryAtOnce() -> Bool {
    defer { mayRestartAtOnce = false }
    return mayRestartAtOnce
  }
}
