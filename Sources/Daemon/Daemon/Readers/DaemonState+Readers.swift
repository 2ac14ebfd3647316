import Journal
import NDEF
import Presence
import ReaderProtocol

/// Events of reader processes, and which session gets a tag.
extension DaemonState {
  mutating func handle(_ event: ReaderProcessEvent, of id: Int, at now: TapQueue.Instant) -> [Action] {
    switch event {
    case .phase(let phase, let reached): return handle(phase, reached, of: id, at: now)
    case .crashed(let crash):
      readers[id]?.properties.counters.restarts += 1
      let suspect = crash.suspect.map { " while it read a tag (\($0.technology), \($0.uid.count)-byte UID)" } ?? ""
      // No limit is needed: the pauses between two starts bound these lines.
      return [.log(.warning, "the process of \(name(of: id)) ended\(suspect): \(crash.reason)")]
    case .log(let level, let text): return note(level, of: id, at: now) { "\($0): \(text)" }
    case .removed(let placement):
      if let removal = heldRemovals.removed(placement, from: id, at: now, delay: policy.removalDelay) {
        return carryOut([removal], at: now)
      }
      guard let label = readers[id]?.label else { return [] }
      return noteTag(.debug, "reader \(label): its tag may have dropped out", of: id, at: now)
    case .waiting(let reason):
      guard readers[id]?.phase.isOpen == true else { return [] }
      readers[id]?.wait(reason)
      return noteVerdict(of: id, at: now) { reason.isEmpty ? "\($0) no longer waits" : "\($0) waits: \(reason)" }
    case .sessionTag(let number, let tag): return perform(sessions.found(tag, by: number))
    case .sessionTagRemoved(let number, let placement): return perform(sessions.removed(placement, from: number))
    case .sessionRoundEnded(let number): return perform(sessions.endedRound(of: number))
    case .sessionPollingRestarted(let number): return perform(sessions.restartedPolling(of: number))
    case .tag, .known, .performed, .progress: return []
    }
  }

  private mutating func handle(
    _ phase: ReaderPhase, _ reached: UInt64?, of id: Int, at now: TapQueue.Instant
  ) -> [Action] {
    let before = readers[id]
    readers[id]?.update(phase, reached: reached)
    var actions = noteChange(phase, from: before, of: id, at: now)
    guard let before, let reader = readers[id] else { return actions }
    let isReached = reached == reader.epoch
    if !reader.isReady, reader.session != nil || reader.endingSession != nil {
      if reader.session != nil {
        let reason = reader.properties.stateReason
        actions += note(.notice, of: id, at: now) { "\($0) is no longer available to its reader session: \(reason)" }
      }
      readers[id]?.session = nil
      readers[id]?.endingSession = nil
      actions += perform(sessions.handle(.lost, at: id, now))
    } else if isReached {
      if case .inSession(let number) = phase { actions += perform(sessions.handle(.began(number), at: id, now)) }
      if let ended = reader.endingSession {
        readers[id]?.endingSession = nil
        actions += perform(sessions.handle(.ended(ended), at: id, now))
      }
    }
    if (before.phase == .released) != (phase == .released) {
      let words = phase == .released ? "released to another program" : "given back"
      actions += noteVerdict(of: id, at: now) { "\($0) is \(words)" }
    }
    if before.phase == .released, phase != .released, !reader.isReleased {
      actions += perform(sessions.handle(.lent(false), at: id, now))
    }
    // A waiting session begins only if the reader is ready.
    return actions + perform(sessions.handle(.ready(phase.isOpen), at: id, now))
  }

  private mutating func noteChange(
    _ phase: ReaderPhase, from before: RosterReader?, of id: Int, at now: TapQueue.Instant
  ) -> [Action] {
    // A restarted process reports its state again. Log only a change.
    if let before, before.properties.state == readers[id]?.properties.state,
      before.properties.stateReason == readers[id]?.properties.stateReason
    {
      return []
    }
    switch phase {
    case .ready where before?.isReady != true: return noteChange(.notice, of: id, at: now) { "\($0) is ready" }
    case .absent(let reason): return noteChange(.notice, of: id, at: now) { "\($0) is absent: \(reason)" }
    case .failed(let reason): return noteChange(.warning, of: id, at: now) { "\($0) has failed: \(reason)" }
    case .opening, .ready, .scanning, .inSession, .released: return []
    }
  }

  mutating func carryOut(_ removals: [HeldRemovals.Removal], at now: TapQueue.Instant) -> [Action] {
    removals.flatMap { removal -> [Action] in
      let label = readers[removal.reader]?.label
      let line = label.map { noteTag(.debug, "reader \($0): its tag was removed", of: removal.reader, at: now) } ?? []
      return line + (placedTaps.removed(removal.placement, from: removal.reader).map { report($0, at: now) } ?? [])
    }
  }

  mutating func handle(
    _ report: TagReport, of id: Int, epoch: UInt64, tapID: String, time: UInt64, at now: TapQueue.Instant
  ) -> [Action] {
    guard let reader = readers[id] else { return [] }
    guard !heldRemovals.read(report, on: id, at: now) else {
      return noteTag(.debug, "reader \(reader.label): its tag had only dropped out", of: id, at: now)
    }
    readers[id]?.properties.counters.placements += 1
    let bytes: [UInt8]
    var finding = ""
    var damage: String?
    switch report.content {
    case .damaged(let reason, let contents):
      readers[id]?.properties.counters.problems += 1
      (bytes, finding, damage) = (contents, ": \(reason)", reason)
    case .problem(let reason):
      readers[id]?.properties.counters.problems += 1
      return noteTag(.info, "\(report.placement.technology) tag on reader \(reader.label): \(reason)", of: id, at: now)
    case .bare(let reason): (bytes, finding) = ([], ": \(reason)")
    case .message(let message):
      bytes = message
      readers[id]?.properties.counters.messages += 1
    }
    // A tag that was read for an earlier goal belongs to no session. It is a known tag from here, so it is not
    // announced later either. Example:
    //   1. The session is locked. Another person may put a tag on the reader.
    //   2. The user unlocks the session. That tag must not open; to use a tag, the user taps again.
    guard reader.accepts(epoch), let agent = seat(reader.properties.seat).agent else {
      let names = reader.verdict.reasons.names
      let reasons = names.isEmpty ? "the reader was still stopping" : names.joined(separator: ", ")
      return noteTag(.info, "ignored a late tag on reader \(reader.label): \(reasons)", of: id, at: now)
    }
    guard policy.smartPosters || !Self.hasOnlySmartPosters(bytes) else {
      return noteTag(
        .info, "ignored a tag on reader \(reader.label): its only links are in Smart Posters, and SmartPosters=no",
        of: id, at: now)
    }
    var tap = DetectedTap(
      id: tapID, session: agent.session, message: bytes, technology: report.placement.technology,
      uid: report.placement.uid, reader: reader.path, time: time)
    tap.damage = damage
    let isHeld = reader.verdict.holdsTaps
    let wait = isHeld ? ", held until the session is unlocked" : ""
    var actions = noteTag(
      .info, "\(tap.summary) on reader \(reader.label) for \(tap.session)\(wait)\(finding)", of: id, at: now)
    placedTaps.add(tapID, placement: report.placement.number, on: id)
    actions += open(tap.session, at: now)
    return actions + perform(queue.handle(.read(tap, held: isHeld), at: now), at: now)
  }

  /// Whether the only links of a message are in Smart Posters (NFC Forum Smart Poster RTD, section 3). URI and
  /// absolute-URI records are links, too.
  static func hasOnlySmartPosters(_ bytes: [UInt8]) -> Bool {
    guard let records = try? NDEFMessage(decoding: bytes).records else { return false }
    let types = records.filter { $0.typeNameFormat == .wellKnown }.map(\.type)
    let hasLink = types.contains(Array("U".utf8)) || records.contains { $0.typeNameFormat == .absoluteURI }
    return !hasLink && types.contains(Array("Sp".utf8))
  }

  private mutating func forget(_ tap: DetectedTap) -> [Action] {
    placedTaps.forget(tap.id)
    return []
  }

  /// Tells the agent that has stored a tap that its tag was removed. Not behind a lock: what follows a removal is the
  /// same kind of thing as what follows a tap.
  mutating func report(_ removal: PlacedTaps.Removal, at now: TapQueue.Instant) -> [Action] {
    guard let agent = registry.agent(named: removal.agent) else { return [] }
    guard let lock = lock(of: agent.session), !policy.scan.treatsAsLocked(lock) else {
      let line = "the agent is not told that the tag of tap \(removal.tap) was removed: the session is locked"
      return note(.debug, ofUser: agent.session.uid, at: now, line)
    }
    return [.reportRemoval(tap: removal.tap, to: agent)]
  }

  mutating func perform(_ actions: [TapQueue.Action], at now: TapQueue.Instant) -> [Action] {
    actions.flatMap { action -> [Action] in
      switch action {
      case .deliver(let tap, let agent): [.deliver(tap, to: agent)]
      case .done(let tap): [.log(.debug, "\(tap.summary) is stored by its agent")]
      case .drop(let tap, let reason):
        forget(tap) + note(.warning, ofUser: tap.session.uid, at: now, "\(tap.summary) is discarded: \(reason)")
      case .postpone(let tap, let reason):
        note(.warning, ofUser: tap.session.uid, at: now, "\(tap.summary) will be sent again: \(reason)")
      }
    }
  }
}
