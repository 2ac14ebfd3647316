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

  private enum Phase {
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
  private let timing: ReaderTiming
  private var phase = Phase.idle
  private var wantsScanning = false
  private var reportsScanning = false
  /// A process has ended while the field was on, and no other has had the device open since.
  private var isFieldInDoubt = false
  private var restarts = RestartSchedule()
  private var placements = PlacementLedger()
  private var reader: ReaderState?
  /// Whether the present process has said anything. It does before it opens a device.
  private var hasSpoken = false
  private var changes = 0
  private var changeWindowEnd: Instant?

  /// When the process is dead unless it is heard of before, or it is time to start it.
  private var lifeDeadline: Instant?
  /// When the process has to have done what it was told: a sign of life is no answer.
  private var obedienceDeadline: Instant?

  /// - Parameter timing: how long the process may take for what it does.
  init(_ timing: ReaderTiming) { self.timing = timing }

  /// When `tick` is due. Nil: nothing is due.
  var deadline: Instant? {
    guard let lifeDeadline, let obedienceDeadline else { return lifeDeadline ?? obedienceDeadline }
    return min(lifeDeadline, obedienceDeadline)
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

  /// Whether the process does otherwise than it was told. Without a device it can only leave the field off.
  private var isDisobedient: Bool {
    guard case .running = phase, reportsScanning != wantsScanning else { return false }
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
    case .stop:
      return stop(at: now)
    case .received(let message):
      switch phase {
      case .running: return receive(message, at: now)
      case .stopping(let end): return receive(message, stoppingUntil: end, at: now)
      case .idle, .ending, .waiting, .stoppingKilled, .stopped: return []
      }
    case .violated(let what):
      return kill("it sent \(what)")
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

  private mutating func spawn(at now: Instant) -> [Action] {
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
    if wantsScanning { actions.append(.send(.scan(true))) }
    return actions
  }

  private mutating func scan(_ on: Bool, at now: Instant) -> [Action] {
    guard on != wantsScanning else { return [] }
    wantsScanning = on
    // Each order has its own time.
    obedienceDeadline = nil
    guard case .running = phase else { return [] }
    expectAnswer(at: now)
    return [.send(.scan(on))]
  }

  private mutating func lookForDevice(at now: Instant) -> [Action] {
    switch phase {
    case .running:
      expectAnswer(at: now)
      return [.send(.lookForDevice)]
    case .waiting:
      return restarts.hurry() ? spawn(at: now) : []
    case .idle, .ending, .stopping, .stoppingKilled, .stopped: return []
    }
  }

  /// A process that is busy has said until when; one that sleeps has to answer now.
  private mutating func expectAnswer(at now: Instant) {
    lifeDeadline = max(lifeDeadline ?? now, now + ReaderTiming.answer)
  }

  private mutating func stop(at now: Instant) -> [Action] {
    switch phase {
    case .running:
      let end = now + ReaderTiming.stop
      phase = .stopping(until: end)
      if !hasSpoken { lifeDeadline = nil }
      expectAnswer(at: now)
      lifeDeadline = lifeDeadline.map { min($0, end) }
      return [.send(.shutDown)]
    case .ending:
      phase = .stoppingKilled
      lifeDeadline = now + ReaderTiming.kill
      return []
    case .idle, .waiting:
      phase = .stopped
      lifeDeadline = nil
      return [.finish]
    case .stopping, .stoppingKilled, .stopped:
      return []
    }
  }

  private mutating func kill(_ reason: String) -> [Action] {
    guard case .running = phase else { return [] }
    phase = .ending(reason)
    lifeDeadline = nil
    reader = nil
    doubtField()
    // It may be long until it is dead, and it is of no use from now on.
    return [.kill, .report(Self.failed(reason))]
  }

  /// Whether the field is off is for the next process to say, which resets the device when it opens it.
  private mutating func doubtField() {
    isFieldInDoubt = isFieldInDoubt || reportsScanning
    reportsScanning = false
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
      if let lifeDeadline, now >= lifeDeadline { return kill("it was not heard of in time") }
      return kill(
        wantsScanning ? "it was told to look for tags and did not begin" : "it was told to look for no tags and went on"
      )
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
      return fieldIsOff() + [.abandon]
    case .idle, .ending, .stopped:
      lifeDeadline = nil
      return []
    }
  }

  private mutating func ended(_ reason: String, at now: Instant) -> [Action] {
    switch phase {
    case .idle, .waiting, .stopped:
      return []
    case .stopping, .stoppingKilled:
      phase = .stopped
      lifeDeadline = nil
      return placements.end(at: now, wasLooking: false).removed.map { .report(.removed(placement: $0)) } + fieldIsOff()
        + [.finish]
    case .running, .ending:
      break
    }
    doubtField()
    let left = placements.end(at: now, wasLooking: isFieldInDoubt)
    let pause = restarts.ended(at: now)
    reader = nil
    var actions = left.removed.map { Action.report(.removed(placement: $0)) }
    actions.append(.report(.crashed(ReaderCrash(reason: reason, suspect: left.suspect, restart: pause))))
    actions.append(.report(Self.failed(reason)))
    guard pause > .zero else { return actions + spawn(at: now) }
    phase = .waiting(until: now + pause)
    lifeDeadline = now + pause
    return actions
  }
}

extension ReaderSupervision {
  private mutating func receive(_ message: ReaderMessage, at now: Instant) -> [Action] {
    hasSpoken = true
    switch message {
    case .heartbeat(let milliseconds):
      lifeDeadline = milliseconds == 0 ? nil : Self.deadline(of: milliseconds, at: now)
      return []
    case .state(let state):
      guard state != reader else { return [] }
      guard mayChange(at: now) else { return kill("it changed its state without end") }
      reader = state
      if case .ready = state { placements.deviceIsOpen() }
      return [.report(.state(state))]
    case .scanning(let on):
      guard on != reportsScanning || isFieldInDoubt else { return [] }
      isFieldInDoubt = false
      guard on == wantsScanning || mayChange(at: now) else { return kill("it changed its state without end") }
      reportsScanning = on
      return [.report(.scanning(on))]
    case .examining, .tag, .removed, .forgotten:
      do throws(ReaderLinkError) {
        return try placements.handle(message).map { [.report($0)] } ?? []
      } catch {
        return kill("it \(error)")
      }
    case .counters(let counters):
      return [.report(.counters(counters))]
    case .log(let level, let text):
      return [.report(.log(level, text))]
    }
  }

  private mutating func mayChange(at now: Instant) -> Bool {
    if changeWindowEnd.map({ now >= $0 }) ?? true {
      changeWindowEnd = now + Self.changeWindow
      changes = 0
    }
    changes += 1
    return changes <= Self.mostChanges
  }

  /// What it says while it ends counts no more, but that it lives does.
  private mutating func receive(_ message: ReaderMessage, stoppingUntil end: Instant, at now: Instant) -> [Action] {
    if case .heartbeat(let milliseconds) = message, milliseconds > 0 {
      lifeDeadline = min(Self.deadline(of: milliseconds, at: now), end)
    }
    return []
  }

  private static func deadline(of milliseconds: UInt32, at now: Instant) -> Instant {
    now + min(.milliseconds(Int64(milliseconds)), ReaderTiming.longestPromise) + ReaderTiming.grace
  }
}
