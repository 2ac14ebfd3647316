import Journal
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

  func events(for seat: (session: ScanConditions.Session?, agent: Agent?)) -> [ScanGate.Event] {
    [
      .enabled(isEnabled), .session(seat.session), .agent(seat.agent != nil),
      .sleeping(policy.servesAnySession ? .no : login.isSleeping),
      .camera(seat.agent?.report.camera ?? .unknown), .displayOff(seat.agent?.report.displayOff ?? .unknown),
      .airplaneMode(airplaneMode.or(seat.agent?.report.airplaneMode ?? .unknown)),
    ]
  }

  /// What follows of all that is known, whatever has changed: whose session is over, and which readers scan.
  mutating func evaluate(at now: TapQueue.Instant) -> [Action] {
    var actions = endForbiddenSessions(at: now)
    for (id, reader) in readers.sorted(by: { $0.key < $1.key }) {
      readers[id]?.update(isInSession: sessions.isActive(at: id))
      var gate = reader.gate
      let before = gate.verdict
      let seat = seat(reader.properties.seat)
      let own: [ScanGate.Event] = [
        .policy(policy.scan), .readerReady(reader.isReady), .readerSession(sessions.isOccupied(id)),
        .inhibited(isInhibited(on: reader.properties.seat)),
      ]
      for event in own + events(for: seat) {
        _ = gate.handle(event)
      }
      readers[id]?.gate = gate
      // A process whose reader has failed is told as well: it tries again, and scans once it can. Where udev tells when the
      // device comes there is nothing to try, and the process sleeps.
      let wants = gate.verdict.wantsReader && (reader.isReady || !reader.isAway)
      let owner = seat.agent?.session
      if reader.isToScan, !wants || reader.scansFor != owner {
        readers[id]?.stop()
        actions.append(.scan(id, false))
      } else if wants, !reader.isToScan, !reader.isStopping {
        readers[id]?.begin(for: owner)
        actions.append(.scan(id, true))
      }
      guard gate.verdict != before else { continue }
      let names = gate.verdict.reasons.names.joined(separator: ", ")
      let held = gate.verdict.holdsTaps ? ", and taps are held" : ""
      actions += noteVerdict(of: id, at: now) {
        "\($0): " + (gate.verdict.scans ? "scanning\(held)" : "not scanning: \(names)")
      }
    }
    return actions
  }

  // MARK: What clients see

  /// Whether a reader looks for tags now.
  var isScanning: Bool { readers.values.contains(where: \.isFieldOn) }

  /// Whether every field is off: those that were to be on have confirmed that they were switched off. The machine does not go
  /// to sleep before. One that another program was lent is that program's business, once its process has let go of it.
  var areFieldsOff: Bool {
    !readers.contains { $0.value.mayFieldBeOn || (sessions.mayHaveField($0.key) && !$0.value.isLent) }
  }

  /// Why no reader may scan; empty where one may.
  var suspendReasons: [String] {
    guard !readers.isEmpty else {
      var gate = ScanGate(policy: policy.scan)
      _ = gate.handle(.inhibited(isInhibited(on: DaemonState.defaultSeat)))
      for event in events(for: seat(DaemonState.defaultSeat)) { _ = gate.handle(event) }
      return gate.verdict.reasons.names
    }
    let verdicts = readers.values.map(\.gate.verdict)
    if verdicts.contains(where: \.scans) { return [] }
    return verdicts.reduce(into: SuspendReasons()) { $0.formUnion($1.reasons) }.names
  }

  /// The seat of every device that udev does not give another one.
  static let defaultSeat = "seat0"
}
