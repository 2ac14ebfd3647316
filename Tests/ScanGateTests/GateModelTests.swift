import ScanGate
import Testing

/// What is true, kept beside the gate and without it, and what follows from it in the words of the design.
private struct World: Hashable {
  var isEnabled = true
  var isReady = false
  var session: ScanConditions.Session?
  var hasAgent = false
  var sleeping = Fact.unknown
  var isTaken = false
  var isInhibited = false
  var airplane = Fact.unknown
  var camera = Fact.unknown
  var displayOff = Fact.unknown

  mutating func take(_ event: ScanGate.Event) {
    switch event {
    // What is decided is no part of what is true.
    case .policy: break
    case .enabled(let value): isEnabled = value
    case .readerReady(let value): isReady = value
    case .session(let value): session = value
    case .agent(let value): hasAgent = value
    case .sleeping(let value): sleeping = value
    case .readerSession(let value): isTaken = value
    case .inhibited(let value): isInhibited = value
    case .airplaneMode(let value): airplane = value
    case .camera(let value): camera = value
    case .displayOff(let value): displayOff = value
    }
  }

  private func isLocked(_ policy: ScanPolicy) -> Bool {
    session?.isLocked == .yes || (session?.isLocked == .unknown && policy.lockDetection == .strict)
  }

  /// Tags are read behind a lock, and kept.
  func holds(_ policy: ScanPolicy) -> Bool {
    guard isLocked(policy), policy.whenLocked == .hold, let session else { return false }
    switch policy.lockDetection {
    case .hint: return session.hasBeenUnlocked
    case .strict: return session.hasBeenSaidUnlocked
    }
  }

  /// Everything that says no, and nothing else.
  func noes(_ policy: ScanPolicy) -> [String] {
    let isShut = isLocked(policy) && !holds(policy)
    return [
      (!isEnabled, "disabled"), (!isReady, "no-reader"), (!hasAgent, "no-agent"), (session == nil, "no-session"),
      (session?.isActive == .no, "session-inactive"), (session?.isLocal == .no, "session-remote"),
      (session?.isGraphical == .no, "session-not-graphical"), (session?.isUserSession == .no, "session-class"),
      (isShut && session?.isLocked == .yes, "session-locked"),
      (isShut && session?.isLocked == .unknown, "lock-unknown"),
      (sleeping == .yes, "sleeping"), (isTaken, "reader-session"), (isInhibited, "inhibited"),
      (airplane == .yes, "airplane-mode"), (camera == .yes, "camera"), (displayOff == .yes, "display-off"),
    ].filter(\.0).map(\.1)
  }
}

/// A gate and the truth beside it.
private struct Place: Hashable {
  let gate: ScanConditions
  let world: World
}

/// Every sequence of events, of whatever length: two sequences that end in the same gate and the same truth go on alike, so
/// each such place is left once by each event.
@Suite struct GateModelTests {
  private static func session(
    active: Fact = .yes, local: Fact = .yes, graphical: Fact = .yes, user: Fact = .yes, locked: Fact = .no,
    unlocked: Bool = true, said: Bool? = nil
  ) -> ScanConditions.Session {
    .init(
      isActive: active, isLocal: local, isGraphical: graphical, isUserSession: user, isLocked: locked,
      hasBeenUnlocked: unlocked, hasBeenSaidUnlocked: said)
  }

  private static let sessions: [ScanConditions.Session?] = [
    nil, session(), session(locked: .yes), session(locked: .yes, unlocked: false), session(locked: .unknown),
    session(locked: .unknown, said: false),
    session(active: .no, graphical: .no), session(local: .no, user: .no, locked: .unknown, unlocked: false),
  ]

  /// What bears on the lock, and a few that do not.
  private static let eventsOfLocks: [ScanGate.Event] =
    [.enabled(true), .enabled(false), .readerReady(true), .readerReady(false), .agent(true), .agent(false)]
    + sessions.map { .session($0) } + Fact.allCases.map { .sleeping($0) }

  /// Each condition's every value. Those that may be unknown do not touch one another, so two of them are enough to have that in
  /// every order; the others say yes and no.
  private static let allEvents: [ScanGate.Event] =
    eventsOfLocks + [.readerSession(true), .readerSession(false), .inhibited(true), .inhibited(false)]
    + Fact.allCases.map { .displayOff($0) } + [.airplaneMode(.yes), .airplaneMode(.no), .camera(.yes), .camera(.no)]

  /// Every condition at its yes.
  private static let everythingIsWell: [ScanGate.Event] = [
    .enabled(true), .readerReady(true), .session(session()), .agent(true), .sleeping(.no), .readerSession(false),
    .inhibited(false), .airplaneMode(.no), .camera(.no), .displayOff(.no),
  ]

  @Test func itScansExactlyWhereNothingSaysNoAndNamesWhatDoes() async {
    // 8 sessions, 5 switches, 2 facts of three values, 2 that only begin unknown.
    await walk(Self.allEvents, ScanPolicy(), places: 8 * 32 * 9 * 9)
  }

  @Test(arguments: ScanPolicy.WhenLocked.allCases, ScanPolicy.LockDetection.allCases)
  func withEveryPolicyTheLockCountsAsItSays(
    whenLocked: ScanPolicy.WhenLocked, lockDetection: ScanPolicy.LockDetection
  ) async {
    let policy = ScanPolicy(whenLocked: whenLocked, lockDetection: lockDetection)
    await walk(Self.eventsOfLocks, policy, places: 8 * 8 * 3)
  }

  @Test func aGateGoesByAnotherPolicyAsIfItHadBegunWithIt() {
    let policies = ScanPolicy.WhenLocked.allCases.flatMap { whenLocked in
      ScanPolicy.LockDetection.allCases.map { ScanPolicy(whenLocked: whenLocked, lockDetection: $0) }
    }
    for session in Self.sessions {
      for (before, after) in policies.flatMap({ before in policies.map { (before, $0) } }) {
        var gate = ScanGate(policy: before)
        for event in Self.everythingIsWell + [.session(session)] { _ = gate.handle(event) }
        let fresh = ScanGate(policy: after, conditions: gate.conditions).verdict
        let told = gate.handle(.policy(after))
        #expect(gate.verdict == fresh && gate.policy == after)
        #expect(told == (ScanGate(policy: before, conditions: gate.conditions).verdict == fresh ? nil : fresh))
      }
    }
  }

  private func walk(_ events: [ScanGate.Event], _ policy: ScanPolicy, places: Int) async {
    let beginning = Place(gate: ScanConditions(), world: World())
    var seen: Set = [beginning]
    var frontier = [beginning]
    var wrong: [(Place, ScanGate.Event)] = []
    while let place = frontier.popLast(), wrong.count < 10 {
      // Other tests are waiting for a thread.
      if frontier.count.isMultiple(of: 64) { await Task.yield() }
      let gate = ScanGate(policy: policy, conditions: place.gate)
      if !Self.opens(gate) { wrong.append((place, .enabled(true))) }
      for event in events {
        var (next, world) = (gate, place.world)
        let told = next.handle(event)
        world.take(event)
        if !Self.isTrue(next, world, policy) || told != (next.verdict == gate.verdict ? nil : next.verdict) {
          wrong.append((place, event))
        }
        let reached = Place(gate: next.conditions, world: world)
        if seen.insert(reached).inserted { frontier.append(reached) }
      }
    }
    let (count, found) = (wrong.count, seen.count)
    #expect(count == 0, "first \(String(describing: wrong.first))")
    #expect(found == places)
  }

  private static func isTrue(_ gate: ScanGate, _ world: World, _ policy: ScanPolicy) -> Bool {
    let noes = world.noes(policy)
    return gate.verdict.reasons.names == noes && gate.verdict.scans == noes.isEmpty
      && gate.verdict.holdsTaps == world.holds(policy)
  }

  /// Whether a gate scans once everything is well, whatever came before.
  private static func opens(_ gate: ScanGate) -> Bool {
    var gate = gate
    for event in everythingIsWell { _ = gate.handle(event) }
    return gate.verdict.scans
  }
}
