import Journal
import Presence
import ReaderProtocol

/// Which readers scan, and why the others do not.
extension DaemonState {
  /// The conditions of the session that gets a seat's taps, and its agent.
  func seat(_ seat: String) -> (session: ScanConditions.Session?, agent: Agent?) {
    if policy.servesAnySession {
      guard let agent = registry.agents.last else { return (.assumed, nil) }
      var session = ScanConditions.Session.assumed
      session.isLocked = lock(of: agent.session) ?? .no
      return (session, agent)
    }
    if let station = stationInFront(of: seat) {
      var session = ScanConditions.Session.assumed
      session.isLocked = lock(ofStation: station, on: seat)
      return (session, registry.agent(of: station))
    }
    if let active = login.activeSession(on: seat) {
      let agent = registry.agent(of: SessionKey(id: active.id, uid: active.uid))
      return (conditions(of: active, agent), agent)
    }
    // No session of the seat is active. The session of a background agent gives the verdict the reason `inactive`;
    // without one it is `noSession`.
    guard login.isAvailable else { return (nil, nil) }
    for agent in registry.agents.reversed() {
      guard let id = agent.session.id, let session = login.session(id), session.seat == seat else { continue }
      return (session.conditions, agent)
    }
    return (nil, nil)
  }

  /// The conditions of a seat. The caller adds those of the reader.
  private func conditions(_ name: String) -> ScanConditions {
    let (session, agent) = seat(name)
    var conditions = ScanConditions()
    conditions.isEnabled = isEnabled
    conditions.session = session
    conditions.hasAgent = agent != nil
    conditions.isSleeping = policy.servesAnySession ? .no : login.isSleeping
    conditions.isInhibited = isInhibited(on: name)
    conditions.isInAirplaneMode = airplaneMode.or(agent?.report.airplaneMode ?? .unknown)
    conditions.isCameraInUse = agent?.report.camera ?? .unknown
    conditions.isDisplayOff = agent?.report.displayOff ?? .unknown
    return conditions
  }

  /// Recomputes the decisions after any change: which reader sessions must end, and what each reader should do.
  mutating func evaluate(at now: TapQueue.Instant) -> [Action] {
    var actions = endForbiddenSessions(at: now) + freeReaders(at: now)
    for (id, reader) in readers.sorted(by: { $0.key < $1.key }) {
      var conditions = conditions(reader.properties.seat)
      conditions.isReaderReady = reader.isReady
      conditions.isInReaderSession = sessions.isOccupied(id)
      let verdict = ScanVerdict(conditions, policy: policy.scan)
      readers[id]?.verdict = verdict
      // A failed reader gets the goal too: its process tries again, and scans as soon as it can. If udev will report
      // the device, retries are useless, so the goal is `off` and the process sleeps.
      let wantsTags = verdict.wantsReader && (reader.isReady || !reader.isAway)
      var goal = wantsTags ? scan(with: reader) : .off
      if let session = reader.session { goal = .session(session) }
      if reader.isReleased { goal = .lent }
      let owner = seat(reader.properties.seat).agent?.session
      let orders = readers[id]?.pursue(goal, for: owner) ?? []
      actions += orders.map { .pursue(id, epoch: $0.epoch, $0.goal) }
      guard verdict != reader.verdict else { continue }
      let names = verdict.reasons.names.joined(separator: ", ")
      let held = verdict.holdsTaps ? ", and taps are held" : ""
      actions += noteVerdict(of: id, at: now) {
        "\($0): " + (verdict.scans ? "scanning\(held)" : "not scanning: \(names)")
      }
    }
    return actions
  }

  /// The goal of a reader that should scan. It is `off` if the reader can read none of the configured technologies.
  private func scan(with reader: RosterReader) -> ReaderGoal {
    var polling = policy.polling
    polling.technologies = reader.properties.technologies
    return polling.technologies.isEmpty ? .off : .scan(polling)
  }

  // MARK: What clients see

  /// Whether a reader is polling now.
  var isScanning: Bool { readers.values.contains { $0.phase == .scanning } }

  /// Whether each process has confirmed that its field is off. The daemon delays sleep while this is false. A lent
  /// device is not included: the other program controls its field.
  var areFieldsOff: Bool { !readers.values.contains(where: \.mayFieldBeOn) }

  /// Why no reader may scan; empty if one may.
  var suspendReasons: [String] {
    guard !readers.isEmpty else {
      return ScanVerdict(conditions(DaemonState.defaultSeat), policy: policy.scan).reasons.names
    }
    let verdicts = readers.values.map(\.verdict)
    if verdicts.contains(where: \.scans) { return [] }
    return verdicts.reduce(into: SuspendReasons()) { $0.formUnion($1.reasons) }.names
  }

  /// The seat of every device that udev assigns to no other seat.
  static let defaultSeat = "seat0"
}
