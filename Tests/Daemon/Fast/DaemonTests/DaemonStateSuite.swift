import Bus
import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// A daemon state without a real clock, bus or reader, and helpers that send it events.
protocol DaemonStateSuite {
  var state: DaemonState { get set }
  var clock: ManualClock { get set }
  /// Whether a reader reaches the goal `off` at once.
  var stopsAtOnce: Bool { get set }
}

extension DaemonStateSuite {
  static var session: ObjectPath { "/org/freedesktop/login1/session/_32" }

  static func login(_ events: LoginState.Event...) -> LoginState {
    var login = LoginState()
    for event in events + [.synchronized] { login.handle(event) }
    return login
  }

  /// logind's sessions if alice's is the only one, and active. Its lock had the first value when it was read, and then
  /// changed to the others.
  static func login(locked first: Bool, _ changes: Bool...) -> LoginState {
    var login = login(.read(session, Samples.properties(locked: first)))
    for value in changes { login.handle(.changed(session, ["LockedHint": .boolean(value)])) }
    return login
  }

  static func isAct(_ action: DaemonState.Action) -> Bool {
    if case .log = action { false } else { true }
  }

  /// The actions without log lines and epochs. If `stopsAtOnce` is true, a reader with the goal `off` reaches it before
  /// the next event.
  mutating func acts(_ actions: [DaemonState.Action]) -> [DaemonState.Action] {
    var answer: [DaemonState.Action] = []
    for case .pursue(0, _, .off) in actions where stopsAtOnce { answer = reach() }
    return (actions + answer).filter(Self.isAct).map(\.withoutEpoch)
  }

  /// The reader process reports that it has reached its goal.
  mutating func reach() -> [DaemonState.Action] {
    guard let reader = state.readers[0] else { return [] }
    var phase = reader.phase
    switch reader.goal {
    case .off: if phase.isOpen { phase = Samples.ready }
    case .scan: phase = .scanning
    case .session(let options): phase = .inSession(options.number)
    case .lent: phase = .released
    }
    let actions = state.handle(.reader(0, .phase(phase, reached: reader.epoch)), at: clock.now)
    return actions.filter(Self.isAct).map(\.withoutEpoch)
  }

  mutating func tell(_ event: DaemonState.Event) -> [DaemonState.Action] {
    acts(state.handle(event, at: clock.now))
  }

  mutating func tell(
    _ event: DaemonState.Event, expecting expected: [DaemonState.Action],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let actions = tell(event)
    #expect(actions == expected, sourceLocation: sourceLocation)
  }

  mutating func register(
    _ session: LoginSessionKey, _ sender: String = ":1.7", reporting conditions: [String: Bool]? = nil
  ) -> [DaemonState.Action] {
    acts(state.register(sender, at: "/agent", for: [session], reporting: conditions, at: clock.now).actions)
  }

  mutating func report(_ conditions: [String: Bool], _ sender: String = ":1.7") -> [DaemonState.Action]? {
    state.replaceReport(of: sender, with: conditions, at: clock.now).map { acts($0) }
  }

  /// A reader reports a tag that it read for the goal of this epoch; nil is the current epoch.
  mutating func tap(
    _ id: String, _ content: TagReport.Content = .message(Samples.message), on reader: Int = 0, epoch: UInt64? = nil
  ) -> [DaemonState.Action] {
    let epoch = epoch ?? state.readers[reader]?.epoch ?? 0
    return state.handle(.tag(reader, Samples.report(content), epoch: epoch, id: id, time: 7), at: clock.now)
  }

  static func delivered(_ actions: [DaemonState.Action]) -> [String] {
    actions.compactMap { if case .deliver(let tap, let agent) = $0 { "\(tap.id) to \(agent.sender)" } else { nil } }
  }

  /// Sets up a ready reader, alice's session and her agent, so that the daemon scans.
  mutating func begin(policy: DaemonState.Policy = .init()) {
    state = DaemonState(policy: policy, isEnabled: true)
    tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"), expecting: [])
    tell(.reader(0, .phase(Samples.ready, reached: 0)), expecting: [])
    tell(.login(Self.login(locked: false)), expecting: [])
    #expect(register(Samples.alice) == [.scan(0, true)])
    #expect(reach() == [])
  }
}

extension DaemonState.Action {
  /// The goal to scan, or the goal `off`.
  static func scan(_ reader: Int, _ isOn: Bool) -> Self {
    .pursue(reader, epoch: 0, isOn ? .scan(ReaderPolling(technologies: Samples.libnfcTechnologies)) : .off)
  }

  /// The same action with epoch 0. Another test checks the epochs.
  var withoutEpoch: Self {
    if case .pursue(let reader, _, let goal) = self { .pursue(reader, epoch: 0, goal) } else { self }
  }
}
