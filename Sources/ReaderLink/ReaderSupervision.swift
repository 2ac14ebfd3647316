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
    /// Told to shut down, or killed on the way to that.
    case stopping(isKilled: Bool)
    case stopped
  }

  /// How long a process may take from its start to its first word.
  static let startAllowance = Duration.seconds(5)
  /// How long a process may take to answer a command.
  static let answerAllowance = Duration.seconds(1)
  /// What is added to the time that a process names for its next word.
  static let grace = Duration.milliseconds(400)
  /// The longest time for its next word that a process is allowed to name.
  static let longestPromise = Duration.seconds(15)
  /// How long a process with a device may look for tags, or not, against what it was told. No exchange takes as long.
  static let obedienceAllowance = Duration.seconds(3)
  /// How often a process may report another state in `changeWindow` than it was told to have: each is a signal on the bus.
  /// A device that fails whenever it is opened makes half as many.
  static let mostChanges = 200
  static let changeWindow = Duration.seconds(60)
  /// How long a process may live after it has closed its link.
  static let hangUpAllowance = Duration.milliseconds(500)
  /// How long a process may take to shut down. An exchange that fails and the close after it may take longer; but the daemon
  /// ends within a second.
  static let shutDownAllowance = Duration.milliseconds(700)
  /// How long a killed process is waited for in the end. One that is inside of a driver that hangs dies only when that
  /// returns, which may be never.
  static let killAllowance = Duration.seconds(2)
  /// A process that lived this long starts the count of failures anew.
  static let goodConduct = Duration.seconds(30)
  /// The pause before each restart; the last one repeats.
  static let pauses: [Duration] = [
    .zero, .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30),
  ]
  /// Tags to be avoided that are remembered.
  static let mostAvoided = 8

  private var phase = Phase.idle
  private var wantsScanning = false
  private var reportsScanning = false
  private var startedAt: Instant?
  private var failures = 0
  /// Whether what was plugged in or unplugged may end the pause before the next start.
  private var mayHurry = true
  /// Placement numbers count from 1 in each process; this makes them unique over all of them.
  private var generation: UInt64 = 0
  private var examining: Placement?
  private var resting: [Placement] = []
  private var avoided: [[UInt8]] = []
  private var reader: ReaderState?
  private var changes = 0
  private var changeWindowEnd: Instant?

  /// When the process is dead unless it is heard of before, or it is time to start it.
  private var lifeDeadline: Instant?
  /// When the process has to have done what it was told: a sign of life is no answer.
  private var obedienceDeadline: Instant?

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
      obedienceDeadline = now + Self.obedienceAllowance
    }
    return actions
  }

  /// Whether the process does otherwise than it was told. Without a device it can only leave the field off.
  private var isDisobedient: Bool {
    guard case .running = phase, reportsScanning != wantsScanning else { return false }
    if case .ready = reader { return true }
    return reportsScanning
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
      guard case .running = phase else { return [] }
      return receive(message, at: now)
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
    startedAt = now
    lifeDeadline = now + Self.startAllowance
    generation += 1
    obedienceDeadline = nil
    changes = 0
    changeWindowEnd = nil
    var actions = [Action.spawn]
    actions += avoided.map { .send(.avoid(uid: $0)) }
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
      // A device that comes and goes as fast as its process dies would have one started without end.
      guard mayHurry else { return [] }
      mayHurry = false
      return spawn(at: now)
    case .idle, .ending, .stopping, .stopped: return []
    }
  }

  /// A process that is busy has said until when; one that sleeps has to answer now.
  private mutating func expectAnswer(at now: Instant) {
    lifeDeadline = max(lifeDeadline ?? now, now + Self.answerAllowance)
  }

  private mutating func stop(at now: Instant) -> [Action] {
    switch phase {
    case .running:
      phase = .stopping(isKilled: false)
      lifeDeadline = now + Self.shutDownAllowance
      return [.send(.shutDown)]
    case .ending:
      phase = .stopping(isKilled: true)
      lifeDeadline = now + Self.killAllowance
      return []
    case .idle, .waiting:
      phase = .stopped
      lifeDeadline = nil
      return [.finish]
    case .stopping, .stopped:
      return []
    }
  }

  private mutating func kill(_ reason: String) -> [Action] {
    guard case .running = phase else { return [] }
    phase = .ending(reason)
    lifeDeadline = nil
    reader = nil
    // It may be long until it is dead, and it is of no use from now on.
    return [.kill] + fieldIsOff() + [.report(Self.failed(reason))]
  }

  private mutating func fieldIsOff() -> [Action] {
    defer { reportsScanning = false }
    return reportsScanning ? [.report(.scanning(false))] : []
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
      mayHurry = true
      return spawn(at: now)
    case .stopping(isKilled: false):
      phase = .stopping(isKilled: true)
      lifeDeadline = now + Self.killAllowance
      return [.kill]
    case .stopping(isKilled: true):
      phase = .stopped
      lifeDeadline = nil
      return fieldIsOff() + [.abandon]
    case .idle, .ending, .stopped:
      lifeDeadline = nil
      return []
    }
  }

  private mutating func ended(_ reason: String, at now: Instant) -> [Action] {
    var actions = resting.map { Action.report(.removed(placement: $0.number)) }
    actions += fieldIsOff()
    switch phase {
    case .idle, .waiting, .stopped:
      return []
    case .stopping:
      phase = .stopped
      lifeDeadline = nil
      return actions + [.finish]
    case .running, .ending:
      if let startedAt, now - startedAt >= Self.goodConduct {
        failures = 0
        mayHurry = true
      }
    }
    for placement in resting + (examining.map { [$0] } ?? []) { avoid(placement.uid) }
    let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
    failures += 1
    let crash = ReaderCrash(reason: reason, suspect: examining, restart: pause)
    examining = nil
    resting = []
    reader = nil
    actions.append(.report(.crashed(crash)))
    actions.append(.report(Self.failed(reason)))
    guard pause > .zero else { return actions + spawn(at: now) }
    phase = .waiting(until: now + pause)
    lifeDeadline = now + pause
    return actions
  }

  private mutating func avoid(_ uid: [UInt8]) {
    guard !uid.isEmpty, !avoided.contains(uid) else { return }
    avoided.append(uid)
    if avoided.count > Self.mostAvoided { avoided.removeFirst() }
  }
}

extension ReaderSupervision {
  private mutating func receive(_ message: ReaderMessage, at now: Instant) -> [Action] {
    switch message {
    case .heartbeat(within: 0):
      lifeDeadline = nil
      return []
    case .heartbeat(let milliseconds):
      lifeDeadline = now + min(.milliseconds(Int64(milliseconds)), Self.longestPromise) + Self.grace
      return []
    case .state(let state):
      guard state != reader else { return [] }
      guard mayChange(at: now) else { return kill("it changed its state without end") }
      reader = state
      return [.report(.state(state))]
    case .scanning(let on):
      guard on != reportsScanning else { return [] }
      guard on == wantsScanning || mayChange(at: now) else { return kill("it changed its state without end") }
      reportsScanning = on
      return [.report(.scanning(on))]
    case .examining(let placement):
      guard let placement = unique(placement) else { return kill("it sent a placement out of range") }
      examining = placement
      return []
    case .tag(let report):
      guard let placement = unique(report.placement) else { return kill("it sent a placement out of range") }
      guard examining?.number == placement.number else { return kill("it reported a tag that it had not named") }
      examining = nil
      resting.append(placement)
      guard resting.count <= Self.mostAvoided else { return kill("it reported tags without end") }
      return [.report(.tag(TagReport(placement: placement, content: report.content)))]
    case .removed(let number):
      guard let number = unique(number) else { return kill("it sent a placement out of range") }
      if examining?.number == number { examining = nil }
      guard let index = resting.firstIndex(where: { $0.number == number }) else { return [] }
      resting.remove(at: index)
      return [.report(.removed(placement: number))]
    case .forgotten(let uid):
      avoided.removeAll { $0 == uid }
      return []
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

  private func unique(_ number: UInt64) -> UInt64? {
    number <= UInt64(UInt32.max) ? generation << 32 | number : nil
  }

  private func unique(_ placement: Placement) -> Placement? {
    unique(placement.number).map { Placement(number: $0, technology: placement.technology, uid: placement.uid) }
  }
}
