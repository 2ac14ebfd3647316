extension ReaderSupervision {
  mutating func receive(_ message: ReaderMessage, at now: Instant) -> [Action] {
    hasSpoken = true
    if wantsSuccessor, message.isOfOpenDevice { return kill("it went on after it had asked for a successor", at: now) }
    if message.showsThatReaderWorks { placements.readerWorks() }
    switch message {
    case .heartbeat(let milliseconds):
      lifeDeadline = milliseconds == 0 ? nil : Self.deadline(of: milliseconds, at: now)
      return []
    case .state(let state):
      guard state != reader else { return [] }
      guard mayChange(at: now) else { return kill("it changed its state without end", at: now) }
      reader = state
      guard case .ready = state else {
        return tagThatFailsReaders(state, at: now) + [.report(.state(state))] + loseSession(to: state, at: now)
      }
      placements.deviceIsOpen()
      return [.report(.state(state))]
    case .scanning(let on):
      guard on != reportsScanning || isFieldInDoubt else { return [] }
      isFieldInDoubt = false
      // It may have begun before it has read the order to stop: once.
      let isLate = on && isStopping && !hasBegunSinceOrder
      guard on == isToScan || isLate || mayChange(at: now) else {
        return kill("it changed its state without end", at: now)
      }
      if isLate { hasBegunSinceOrder = true }
      if on { loan.looks() }
      reportsScanning = on
      return [.report(.scanning(on))]
    case .examining, .tag, .removed, .forgotten:
      do throws(ReaderLinkError) {
        return try placements.handle(message, at: now).map { [.report($0)] } ?? []
      } catch {
        return kill("it \(error)", at: now)
      }
    case .sessionBegan, .sessionEnded, .sessionTag, .sessionTagRemoved, .performed, .progress:
      do throws(ReaderLinkError) {
        return try receiveOfSession(message, at: now)
      } catch {
        return kill("it \(error)", at: now)
      }
    case .lent(let on):
      guard let actions = loan.handle(on) else { return kill("it closed its device unasked", at: now) }
      // What the device is like afterwards is news.
      if on { reader = nil }
      return actions
    case .stopped:
      return stopped(at: now)
    case .successorWanted:
      wantsSuccessor = true
      lifeDeadline = now + Self.hangUpAllowance
      return []
    case .counters(let counters):
      return [.report(.counters(counters))]
    case .log(let level, let text):
      return [.report(.log(level, text))]
    }
  }

  private mutating func tagThatFailsReaders(_ state: ReaderState, at now: Instant) -> [Action] {
    let reason: String
    switch state {
    case .absent(let why), .failed(let why): reason = why
    case .ready: return []
    }
    guard let placement = placements.readerFailed(at: now) else { return [] }
    let report = TagReport(
      placement: placement, content: .problem(reason: "the reader failed each time it was read: \(reason)"))
    // The present process may open the device again, and so may the next one.
    let avoided = placements.avoided(at: now).filter { $0.uid == placement.uid }.map { Action.send(.avoid($0)) }
    return [.report(.tag(report)), .report(.removed(placement: placement.number))] + avoided
  }

  private mutating func receiveOfSession(
    _ message: ReaderMessage, at now: Instant
  ) throws(ReaderLinkError) -> [Action] {
    let event = try placements.handle(message, at: now)
    let actions = try sessions.handle(message, as: event, at: now)
    placements.operate(on: sessions.operated)
    if case .sessionEnded = message { placements.endSession(at: now) }
    return actions
  }

  /// Without its device no session goes on. The field was on, and whether it is off now is known when the device is opened again.
  private mutating func loseSession(to state: ReaderState, at now: Instant) -> [Action] {
    let reason: String
    switch state {
    case .absent(let why), .failed(let why): reason = why
    case .ready: return []
    }
    guard sessions.isBusy else { return [] }
    isFieldInDoubt = true
    return sessions.lose(reason, isProcessGone: false, at: now)
  }

  /// What it says while it ends counts no more, but that it lives does.
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
  /// Whether only a process says it that has the device open.
  fileprivate var isOfOpenDevice: Bool {
    switch self {
    case .examining, .tag, .state(.ready), .scanning(true), .sessionBegan, .sessionTag, .performed: true
    default: false
    }
  }

  /// Whether it means that the reader has done what it was told after a tag was left unread.
  fileprivate var showsThatReaderWorks: Bool {
    switch self {
    case .state(.ready), .scanning, .stopped, .counters: true
    default: false
    }
  }
}
