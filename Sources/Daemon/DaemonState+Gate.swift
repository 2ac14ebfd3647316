import Journal
import ReaderLink
import ScanGate
import Session

/// Which readers scan, and why the others do not.
extension DaemonState {
  /// The session that a seat's taps would go to, as the gate wants it, and the agent in it.
  func seat(_ seat: String) -> (session: ScanConditions.Session?, agent: Agent?) {
    if policy.servesAnySession {
      guard let agent = registry.agents.last else { return (.assumed, nil) }
      var session = ScanConditions.Session.assumed
      session.isLocked = lock(of: agent.session) ?? .no
      return (session, agent)
    }
    if let active = login.activeSession(on: seat) {
      let agent = registry.agent(of: SessionKey(id: active.id, uid: active.uid))
      return (heard(active, agent), agent)
    }
    // None is active. An agent in the background tells "somebody else is at the seat" from "nobody is there".
    guard login.isAvailable else { return (nil, nil) }
    for agent in registry.agents.reversed() {
      guard let id = agent.session.id, let session = login.session(id), session.seat == seat else { continue }
      return (session.conditions, agent)
    }
    return (nil, nil)
  }

  /// What the verdict on a reader of a seat depends on, but for the reader itself.
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

  /// What follows of all that is known, whatever has changed: whose session is over, and what each reader should be
  /// doing.
  mutating func evaluate(at now: TapQueue.Instant) -> [Action] {
    var actions = endForbiddenSessions(at: now)
    for (id, reader) in readers.sorted(by: { $0.key < $1.key }) {
      var conditions = conditions(reader.properties.seat)
      conditions.isReaderReady = reader.isReady
      conditions.isInReaderSession = sessions.isOccupied(id)
      let verdict = ScanVerdict(conditions, policy: policy.scan)
      readers[id]?.verdict = verdict
      // A process whose reader has failed is told as well: it tries again, and scans once it can. If udev tells when
      // the device comes there is nothing to try, and the process sleeps.
      let wantsTags = verdict.wantsReader && (reader.isReady || !reader.isAway)
      var goal = wantsTags ? ReaderGoal.scan(policy.polling) : .off
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

  // MARK: What clients see

  /// Whether a reader looks for tags now.
  var isScanning: Bool { readers.values.contains { $0.phase == .scanning } }

  /// Whether every field is off, as each process has confirmed. The machine does not go to sleep before. The field of
  /// a device that another program was lent is that program's business.
  var areFieldsOff: Bool { !readers.values.contains(where: \.mayFieldBeOn) }

  /// Why no reader may scan; empty where one may.
  var suspendReasons: [String] {
    guard !readers.isEmpty else {
      return ScanVerdict(conditions(DaemonState.defaultSeat), policy: policy.scan).reasons.names
    }
    let verdicts = readers.values.map(\.verdict)
    if verdicts.contains(where: \.scans) { return [] }
    return verdicts.reduce(into: SuspendReasons()) { $0.formUnion($1.reasons) }.names
  }

  /// The seat of every device that udev does not give another one.
  static let defaultSeat = "seat0"
}
