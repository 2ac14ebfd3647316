import Bus
import Journal
import NDEF
import Names
import Presence
import ReaderProtocol

/// The readers: what their processes have reported, which of them scan, and what follows from the tags that they read.
///
/// Pure: events in, effects out.
struct ReadersState: Sendable {
  typealias Instant = TapQueue.Instant

  /// What follows from an event. The daemon's state passes it on.
  enum Effect: Sendable {
    case log(LogLevel, String)
    case pursue(Int, epoch: UInt64, ReaderGoal)
    case sessions(Int, ReaderSessions.Event)
    /// A tag has become a tap. It is held if the session is locked.
    case tap(DetectedTap, placement: UInt64, on: Int, isHeld: Bool)
    case removed(HeldRemovals.Removal)
  }

  private(set) var all: [Int: RosterReader] = [:]
  private(set) var heldRemovals = HeldRemovals()
  /// Of lines of a process that looks for any device and has found none.
  private var searchLines = LineBudget(most: 60)
  private let logThreshold: LogLevel

  init(logThreshold: LogLevel) { self.logThreshold = logThreshold }

  subscript(id: Int) -> RosterReader? {
    get { all[id] }
    set { all[id] = newValue }
  }

  var sorted: [(key: Int, value: RosterReader)] { all.sorted { $0.key < $1.key } }

  func number(at path: ObjectPath) -> Int? { all.first { $0.value.path == path }?.key }

  // MARK: Processes

  /// The reader has no process, or the daemon ignores its process.
  mutating func loseProcess(of id: Int, at now: Instant) -> [Effect] {
    all[id]?.hasNoProcess()
    return remove(heldRemovals.forget(reader: id), at: now)
  }

  mutating func remove(_ id: Int, at now: Instant) -> [Effect] {
    all[id] = nil
    return remove(heldRemovals.forget(reader: id), at: now)
  }

  mutating func crash(_ crash: ReaderCrash, of id: Int) -> [Effect] {
    all[id]?.properties.counters.restarts += 1
    let suspect = crash.suspect.map { " while it read a tag (\($0.technology), \($0.uid.count)-byte UID)" } ?? ""
    // No limit is needed: the pauses between two starts bound these lines.
    return [.log(.warning, "the process of \(name(of: id)) ended\(suspect): \(crash.reason)")]
  }

  /// The open reader waits for another program, or no longer waits if the reason is empty.
  mutating func wait(_ reason: String, of id: Int, at now: Instant) -> [Effect] {
    guard all[id]?.phase.isOpen == true else { return [] }
    all[id]?.wait(reason)
    return noteVerdict(of: id, at: now) { reason.isEmpty ? "\($0) no longer waits" : "\($0) waits: \(reason)" }
  }

  mutating func update(_ phase: ReaderPhase, reached: UInt64?, of id: Int, at now: Instant) -> [Effect] {
    let before = all[id]
    all[id]?.update(phase, reached: reached)
    var effects = noteChange(phase, from: before, of: id, at: now)
    guard let before, let reader = all[id] else { return effects }
    if !reader.isReady, reader.session != nil || reader.endingSession != nil {
      if reader.session != nil {
        let reason = reader.properties.stateReason
        effects += note(.notice, of: id, at: now) { "\($0) is no longer available to its reader session: \(reason)" }
      }
      all[id]?.session = nil
      all[id]?.endingSession = nil
      effects.append(.sessions(id, .lost))
    } else if reached == reader.epoch {
      if case .inSession(let number) = phase { effects.append(.sessions(id, .began(number))) }
      if let ended = reader.endingSession {
        all[id]?.endingSession = nil
        effects.append(.sessions(id, .ended(ended)))
      }
    }
    if (before.phase == .released) != (phase == .released) {
      let words = phase == .released ? "released to another program" : "given back"
      effects += noteVerdict(of: id, at: now) { "\($0) is \(words)" }
    }
    if before.phase == .released, phase != .released, !reader.isReleased {
      effects.append(.sessions(id, .lent(false)))
    }
    // A waiting session begins only if the reader is ready.
    return effects + [.sessions(id, .ready(phase.isOpen))]
  }

  mutating func release(_ id: Int, _ isReleased: Bool) -> [Effect] {
    guard let reader = all[id], reader.isReleased != isReleased else { return [] }
    all[id]?.isReleased = isReleased
    if isReleased { return [.sessions(id, .lent(true))] }
    // A process that has closed the device reports when it has opened it again. Otherwise there is no report.
    guard reader.phase != .released else { return [] }
    return [.sessions(id, .lent(false)), .sessions(id, .ready(reader.phase.isOpen))]
  }

  mutating func limitTechnologies(to wanted: [TagType]) {
    for (id, reader) in all { all[id]?.properties.technologies = reader.technologies(among: wanted) }
  }

  // MARK: Tags

  /// The tap that the tag may become gets the id `tapID`.
  mutating func read(
    _ report: TagReport, on id: Int, epoch: UInt64, tapID: String, time: UInt64, for seats: Seats, at now: Instant
  ) -> [Effect] {
    guard let reader = all[id] else { return [] }
    guard !heldRemovals.read(report, on: id, at: now) else {
      return noteTag(.debug, "reader \(reader.label): its tag had only dropped out", of: id, at: now)
    }
    all[id]?.properties.counters.placements += 1
    let bytes: [UInt8]
    var finding = ""
    var damage = ""
    switch report.content {
    case .damaged(let reason, let contents):
      all[id]?.properties.counters.problems += 1
      (bytes, finding, damage) = (contents, ": \(reason)", reason)
    case .problem(let reason):
      all[id]?.properties.counters.problems += 1
      return noteTag(.info, "\(report.placement.technology) tag on reader \(reader.label): \(reason)", of: id, at: now)
    case .bare(let reason): (bytes, finding) = ([], ": \(reason)")
    case .message(let message):
      bytes = message
      all[id]?.properties.counters.messages += 1
    }
    // A tag that was read for an earlier goal belongs to no session. It is a known tag from here, so it is not
    // announced later either. Example:
    //   1. The session is locked. Another person may put a tag on the reader.
    //   2. The user unlocks the session. That tag must not open; to use a tag, the user taps again.
    guard reader.accepts(epoch), let agent = seats.seat(reader.properties.seat).agent else {
      let names = reader.verdict.reasons.names
      let reasons = names.isEmpty ? "the reader was still stopping" : names.joined(separator: ", ")
      return noteTag(.info, "ignored a late tag on reader \(reader.label): \(reasons)", of: id, at: now)
    }
    let read = TagRead(
      id: tapID, time: time, reader: reader.path.string, technology: report.placement.technology.rawValue,
      uid: report.placement.uid, bytes: bytes, damage: damage)
    guard seats.policy.smartPosters || read.message?.hasOnlySmartPosters != true else {
      return noteTag(
        .info, "ignored a tag on reader \(reader.label): its only links are in Smart Posters, and SmartPosters=no",
        of: id, at: now)
    }
    let tap = DetectedTap(read: read, session: agent.session)
    let isHeld = reader.verdict.holdsTaps
    let wait = isHeld ? ", held until the session is unlocked" : ""
    return noteTag(
      .info, "\(tap.summary) on reader \(reader.label) for \(tap.session)\(wait)\(finding)", of: id, at: now)
      + [.tap(tap, placement: report.placement.number, on: id, isHeld: isHeld)]
  }

  /// The removal is held back, because the tag may only drop out for a moment.
  mutating func remove(placement: UInt64, from id: Int, delay: Duration, at now: Instant) -> [Effect] {
    if let removal = heldRemovals.removed(placement, from: id, at: now, delay: delay) {
      return remove([removal], at: now)
    }
    guard let label = all[id]?.label else { return [] }
    return noteTag(.debug, "reader \(label): its tag may have dropped out", of: id, at: now)
  }

  /// The time of `heldRemovals.deadline` has come.
  mutating func tick(at now: Instant) -> [Effect] { remove(heldRemovals.due(at: now), at: now) }

  private mutating func remove(_ removals: [HeldRemovals.Removal], at now: Instant) -> [Effect] {
    removals.flatMap { removal -> [Effect] in
      let label = all[removal.reader]?.label
      let line = label.map { noteTag(.debug, "reader \($0): its tag was removed", of: removal.reader, at: now) } ?? []
      return line + [.removed(removal)]
    }
  }

  // MARK: The gate

  /// Call this after any change.
  mutating func evaluate(for seats: Seats, _ sessions: ReaderSessions, at now: Instant) -> [Effect] {
    var effects: [Effect] = []
    for (id, reader) in sorted {
      var conditions = seats.conditions(reader.properties.seat)
      conditions.isReaderReady = reader.isReady
      conditions.isInReaderSession = sessions.isOccupied(id)
      let verdict = ScanVerdict(conditions, policy: seats.policy.scan)
      all[id]?.verdict = verdict
      // A failed reader gets the goal too: its process tries again, and scans as soon as it can. If udev will report
      // the device, retries are useless, so the goal is `off` and the process sleeps.
      let wantsTags = verdict.wantsReader && (reader.isReady || !reader.isAway)
      var goal = wantsTags ? scan(with: reader, seats.policy.polling) : .off
      if let session = reader.session { goal = .session(session) }
      if reader.isReleased { goal = .lent }
      let owner = seats.seat(reader.properties.seat).agent?.session
      let orders = all[id]?.pursue(goal, for: owner) ?? []
      effects += orders.map { .pursue(id, epoch: $0.epoch, $0.goal) }
      guard verdict != reader.verdict else { continue }
      let names = verdict.reasons.names.joined(separator: ", ")
      let held = verdict.holdsTaps ? ", and taps are held" : ""
      effects += noteVerdict(of: id, at: now) {
        "\($0): " + (verdict.scans ? "scanning\(held)" : "not scanning: \(names)")
      }
    }
    return effects
  }

  /// `off` if the reader can read no configured technology.
  private func scan(with reader: RosterReader, _ polling: ReaderPolling) -> ReaderGoal {
    var polling = polling
    polling.technologies = reader.properties.technologies
    return polling.technologies.isEmpty ? .off : .scan(polling)
  }

  var isScanning: Bool { all.values.contains { $0.phase == .scanning } }

  /// Those that scan although their goal is another one, or may still begin to.
  var stopping: [RosterReader] { sorted.map(\.value).filter(\.isStopping) }

  /// Whether each process has confirmed that its field is off. The daemon delays sleep while this is false. A lent
  /// device is not included: the other program controls its field.
  var areFieldsOff: Bool { !all.values.contains(where: \.mayFieldBeOn) }

  func suspendReasons(for seats: Seats) -> [String] {
    guard !all.isEmpty else {
      return ScanVerdict(seats.conditions(Seats.defaultSeat), policy: seats.policy.scan).reasons.names
    }
    let verdicts = all.values.map(\.verdict)
    if verdicts.contains(where: \.scans) { return [] }
    return verdicts.reduce(into: SuspendReasons()) { $0.formUnion($1.reasons) }.names
  }

  // MARK: Log lines, each kind within a limit

  /// `text` gets the reader's name.
  mutating func note(_ level: LogLevel, of id: Int, at now: Instant, _ text: (String) -> String) -> [Effect] {
    write(level, of: id, by: \.processLines, at: now, text)
  }

  private mutating func noteChange(
    _ phase: ReaderPhase, from before: RosterReader?, of id: Int, at now: Instant
  ) -> [Effect] {
    // A restarted process reports its state again. Log only a change.
    if let before, before.properties.state == all[id]?.properties.state,
      before.properties.stateReason == all[id]?.properties.stateReason
    {
      return []
    }
    // The limit is separate, so that a verbose process cannot suppress these lines.
    switch phase {
    case .ready where before?.isReady != true:
      return write(.notice, of: id, by: \.changeLines, at: now) { "\($0) is ready" }
    case .absent(let reason):
      return write(.notice, of: id, by: \.changeLines, at: now) { "\($0) is absent: \(reason)" }
    case .failed(let reason):
      return write(.warning, of: id, by: \.changeLines, at: now) { "\($0) has failed: \(reason)" }
    case .opening, .ready, .scanning, .inSession, .released: return []
    }
  }

  /// For a change of a reader that users can cause.
  private mutating func noteVerdict(of id: Int, at now: Instant, _ text: (String) -> String) -> [Effect] {
    write(.info, of: id, by: \.verdictLines, at: now, text)
  }

  private mutating func noteTag(_ level: LogLevel, _ text: String, of id: Int, at now: Instant) -> [Effect] {
    guard all[id] != nil else { return [] }
    return write(level, of: id, by: \.tagLines, at: now) { _ in text }
  }

  private mutating func write(
    _ level: LogLevel, of id: Int, by budget: WritableKeyPath<RosterReader, LineBudget>, at now: Instant,
    _ text: (String) -> String
  ) -> [Effect] {
    // A line below the log threshold must not use up the limit.
    guard level <= logThreshold else { return [] }
    let name = name(of: id)
    let verdict = all[id]?[keyPath: budget].line(at: now) ?? searchLines.line(at: now)
    return verdict.limit(level, text(name), about: name).map { .log($0, $1) }
  }

  private func name(of id: Int) -> String {
    all[id].map { "reader \($0.label)" } ?? "the reader being searched for"
  }
}

extension NDEFMessage {
  /// Whether the only links are in Smart Posters (NFC Forum Smart Poster RTD, section 3). URI and absolute-URI records
  /// are links, too.
  fileprivate var hasOnlySmartPosters: Bool {
    let types = records.filter { $0.typeNameFormat == .wellKnown }.map(\.type)
    let hasLink = types.contains(Array("U".utf8)) || records.contains { $0.typeNameFormat == .absoluteURI }
    return !hasLink && types.contains(Array("Sp".utf8))
  }
}
