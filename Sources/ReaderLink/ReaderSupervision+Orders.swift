/// What the daemon orders, and how long a process may take to do it.
extension ReaderSupervision {
  mutating func scan(_ on: Bool, at now: Instant) -> [Action] {
    guard on != wantsScanning else { return [] }
    wantsScanning = on
    // Nothing more is heard of a process that ends.
    guard case .running = phase else { return on ? [] : stoppedWithoutWord() }
    guard !isStopping else { return [] }
    // Whatever is being done with a tag has to be broken off.
    stopDeadline = on ? nil : now + timing.breakingOff
    return tellToScan(on, at: now)
  }

  /// The process says that it has stopped as it was told.
  mutating func stopped(at now: Instant) -> [Action] {
    guard isStopping else { return kill("it stopped unasked", at: now) }
    stopDeadline = nil
    return [.report(.stopped)] + (wantsScanning ? tellToScan(true, at: now) : [])
  }

  private mutating func tellToScan(_ on: Bool, at now: Instant) -> [Action] {
    // Each order has its own time.
    obedienceDeadline = nil
    hasBegunSinceOrder = false
    expectAnswer(at: now)
    return [.send(.scan(on))]
  }

  mutating func lookForDevice(at now: Instant) -> [Action] {
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

  /// Why no session can begin now.
  var obstacleToSession: String? {
    guard case .running = phase else { return "the reader is being started again" }
    if loan.isWanted { return "the reader is lent to another program" }
    switch reader {
    case .ready: return nil
    case .absent(let reason), .failed(let reason): return reason
    case nil: return "the reader is being opened"
    }
  }

  mutating func lend(_ on: Bool, at now: Instant) -> [Action] {
    guard on != loan.isWanted else { return [] }
    switch phase {
    case .running:
      let ending = on ? sessions.end(at: now) : []
      loan.want(on, by: now + timing.breakingOff)
      expectAnswer(at: now)
      return ending + [.send(.lend(on))]
    case .ending:
      // The next process is told, and this one is not dead yet.
      loan.want(on, by: nil)
      return []
    case .idle, .waiting:
      loan.want(on, by: nil)
      return loan.processEnded()
    case .stopping, .stoppingKilled, .stopped:
      return []
    }
  }

  /// Where the process is told something of a session, it has to answer.
  mutating func told(_ actions: [Action], at now: Instant) -> [Action] {
    if actions.contains(where: { if case .send = $0 { true } else { false } }) { expectAnswer(at: now) }
    return actions
  }

  mutating func stop(at now: Instant) -> [Action] {
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
}
