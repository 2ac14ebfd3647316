import Bus
import Journal
import ReaderLink
import ScanGate
import Session
import Testing

@testable import Daemon

@Suite struct DaemonStateTests {
  private var state = DaemonState(policy: .init(), isEnabled: true)
  private var clock = ManualClock()

  private static let session: ObjectPath = "/org/freedesktop/login1/session/_32"

  private static func properties(
    _ key: SessionKey = Samples.alice, active: Bool = true, locked: Bool = false
  ) -> [String: Value] {
    [
      "Id": .string(key.id ?? ""), "User": .structure([.uint32(key.uid), .objectPath("/u")]),
      "Seat": .structure([.string("seat0"), .objectPath("/s")]), "Type": .string("wayland"), "Class": .string("user"),
      "Remote": .boolean(false), "Active": .boolean(active), "State": .string("active"),
      "LockedHint": .boolean(locked),
    ]
  }

  private static func login(_ events: LoginState.Event...) -> LoginState {
    var login = LoginState()
    for event in events + [.synchronized] { login.handle(event) }
    return login
  }

  private static func isAct(_ action: DaemonState.Action) -> Bool {
    if case .log = action { false } else { true }
  }

  /// What is to be done, the log put aside.
  private mutating func tell(_ event: DaemonState.Event) -> [DaemonState.Action] {
    state.handle(event, at: clock.now).filter(Self.isAct)
  }

  private mutating func register(_ session: SessionKey, _ sender: String = ":1.7") -> [DaemonState.Action] {
    state.register(sender, at: "/agent", for: [session], at: clock.now).actions.filter(Self.isAct)
  }

  private mutating func report(_ conditions: [String: Bool], _ sender: String = ":1.7") -> [DaemonState.Action]? {
    state.report(sender, conditions, at: clock.now)?.filter(Self.isAct)
  }

  private mutating func tap(_ id: String, _ bytes: [UInt8] = Samples.message) -> [DaemonState.Action] {
    state.handle(.tag(0, Samples.report(.message(bytes)), id: id, time: 7), at: clock.now)
  }

  private static func delivered(_ actions: [DaemonState.Action]) -> [String] {
    actions.compactMap { if case .deliver(let tap, let agent) = $0 { "\(tap.id) to \(agent.sender)" } else { nil } }
  }

  /// A ready reader, alice's session and her agent: it scans.
  private mutating func begin(policy: DaemonState.Policy = .init()) {
    state = DaemonState(policy: policy, isEnabled: true)
    #expect(tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0")) == [])
    #expect(tell(.reader(0, .state(.ready(name: "PN532", device: "pn532_uart:/dev/x")))) == [])
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties())))) == [])
    #expect(register(Samples.alice) == [.scan(0, true)])
    #expect(tell(.reader(0, .scanning(true))) == [])
  }

  @Test mutating func itScansWhenAReaderASessionAndItsAgentAreThere() {
    #expect(state.suspendReasons == ["no-reader", "no-agent", "no-session"])
    begin()
    #expect(state.suspendReasons == [])
    #expect(state.isScanning)
    #expect(state.readers[0]?.properties.state == "scanning")
    #expect(tell(.agentGone(sender: ":1.7")) == [.scan(0, false)])
    #expect(state.suspendReasons == ["no-agent"])
  }

  @Test mutating func everyConditionClosesAndOpensTheGate() {
    begin()
    #expect(tell(.enabled(false)) == [.scan(0, false)])
    #expect(state.suspendReasons == ["disabled"])
    #expect(tell(.enabled(true)) == [.scan(0, true)])
    #expect(tell(.inhibited(true)) == [.scan(0, false)])
    #expect(tell(.inhibited(false)) == [.scan(0, true)])
    let sleeping = Self.login(.read(Self.session, Self.properties()), .sleeping(true))
    #expect(tell(.login(sleeping)) == [.scan(0, false)])
    #expect(state.suspendReasons == ["sleeping"])
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties())))) == [.scan(0, true)])
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties(locked: true))))) == [.scan(0, false)])
    #expect(state.suspendReasons == ["session-locked"])
    #expect(tell(.login(LoginState())) == [])
    #expect(state.suspendReasons == ["no-agent", "no-session"])
  }

  @Test mutating func whatTheAgentReportsCounts() {
    begin()
    for name in ["display-off", "camera"] {
      #expect(report([name: true]) == [.scan(0, false)])
      #expect(state.suspendReasons == [name])
      #expect(report([name: false]) == [.scan(0, true)])
    }
    #expect(report(["locked": true]) == [.reportLock(session: "2", .yes)])
    #expect(report(["locked": true], ":1.99") == nil)
    #expect(tell(.agentGone(sender: ":1.7")) == [.reportLock(session: "2", .unknown), .scan(0, false)])
  }

  @Test mutating func aTapGoesToTheActiveSessionsAgent() throws {
    begin()
    let actions = tap("a")
    guard case .deliver(let tap, let agent) = try #require(actions.first(where: Self.isAct)) else {
      Issue.record("it was not delivered: \(actions)")
      return
    }
    #expect(agent.sender == ":1.7")
    #expect(tap.session == Samples.alice)
    let argument = try #require(tap.argument.asDictionary)
    #expect(Set(argument.keys) == ["id", "message", "technology", "uid", "reader", "time"])
    #expect(argument["message"]?.asBytes == Samples.message)
    #expect(argument["uid"]?.asBytes == [4, 1, 2, 3])
    #expect(argument["reader"]?.asObjectPath == Samples.reader)
    #expect(argument["time"]?.asUInt64 == 7)
    #expect(state.readers[0]?.properties.counters.messages == 1)
  }

  @Test mutating func aTapOfOneUserNeverReachesAnother() {
    begin()
    _ = tell(.agentGone(sender: ":1.7"))
    // Read while the order to stop was on its way: nobody's.
    #expect(Self.delivered(tap("late")) == [])
    #expect(register(Samples.alice) == [.scan(0, true)])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    _ = tell(.delivery(id: "a", sender: ":1.7", .failed(reason: "NoReply")))
    _ = tell(.agentGone(sender: ":1.7"))
    let switched = Self.login(
      .read(Self.session, Self.properties(active: false)), .read("/bob", Self.properties(Samples.bob)))
    _ = tell(.login(switched))
    #expect(register(Samples.bob, ":1.8") == [.scan(0, true)])
    #expect(Self.delivered(tap("b")) == ["b to :1.8"])
    clock.advance(.seconds(30))
    #expect(Self.delivered(state.handle(.tick, at: clock.now)) == [])
    #expect(Self.delivered(register(Samples.alice, ":1.9")) == ["a to :1.9"])
  }

  @Test mutating func aSessionInTheBackgroundIsNamed() {
    begin()
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties(active: false))))) == [.scan(0, false)])
    #expect(state.suspendReasons == ["session-inactive"])
  }

  @Test mutating func withHoldATapWaitsForTheUnlocking() {
    begin(policy: .init(scan: ScanPolicy(whenLocked: .hold)))
    var login = Self.login(.read(Self.session, Self.properties()))
    login.handle(.changed(Self.session, ["LockedHint": .boolean(true)]))
    #expect(tell(.login(login)) == [])
    #expect(Self.delivered(tap("a")) == [])
    clock.advance(.seconds(600))
    #expect(tell(.tick) == [])
    login.handle(.changed(Self.session, ["LockedHint": .boolean(false)]))
    #expect(Self.delivered(tell(.login(login))) == ["a to :1.7"])
  }

  @Test mutating func whatWasReadTooLateIsNobodysAfterTheUnlockingEither() {
    begin()
    _ = tell(.login(Self.login(.read(Self.session, Self.properties(locked: true)))))
    #expect(Self.delivered(tap("a")) == [])
    // The reader does not say again what it has said: nothing comes but what is tapped from here on.
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties())))) == [.scan(0, true)])
    #expect(state.queue.deadline == nil)
    #expect(Self.delivered(tap("b")).count == 1)
  }

  @Test mutating func aTagThatCannotBeReadIsOneLineAndNoTap() {
    begin()
    let report = Samples.report(.problem(reason: "the NDEF file is shorter than its length says"))
    let line = "type-2 tag on reader PN532 (pn532_uart:/dev/x): the NDEF file is shorter than its length says"
    #expect(state.handle(.tag(0, report, id: "a", time: 7), at: clock.now) == [.log(.info, line)])
    #expect(state.readers[0]?.properties.counters.problems == 1)
  }

  @Test mutating func aTapsContentIsInNoLogLine() {
    begin()
    let lines = tap("a").compactMap { if case .log(_, let line) = $0 { line } else { nil } }
    #expect(!lines.isEmpty)
    for line in lines { #expect(!line.contains("example") && !line.contains("4123")) }
  }

  @Test mutating func smartPostersMayBeSwitchedOff() {
    begin()
    #expect(Self.delivered(tap("a", Samples.smartPoster)) == ["a to :1.7"])
    begin(policy: .init(smartPosters: false))
    #expect(Self.delivered(tap("b", Samples.smartPoster)) == [])
    #expect(Self.delivered(tap("c")) == ["c to :1.7"])
  }

  @Test mutating func withoutLogindTheLastAgentIsTheOneAtTheMachine() {
    state = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .state(.ready(name: "PN532", device: "pn532_uart:/dev/x"))))
    #expect(state.suspendReasons == ["no-agent"])
    #expect(register(SessionKey(id: nil, uid: 1000)) == [.scan(0, true)])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(report(["locked": true]) == [.scan(0, false)])
    #expect(report(["locked": false]) == [.scan(0, true)])
  }

  @Test mutating func anAgentThatOutlivesItsSessionServesTheNextOne() {
    begin()
    #expect(tell(.login(Self.login())) == [.scan(0, false)])
    let next = SessionKey(id: "9", uid: 1000)
    #expect(tell(.login(Self.login(.read("/next", Self.properties(next))))) == [.scan(0, true)])
    #expect(state.registry.agent(named: ":1.7")?.session == next)
  }

  @Test mutating func anAgentThatMovesLeavesTheTapsOfItsOldSession() {
    begin()
    let second = SessionKey(id: "3", uid: 1000)
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    _ = tell(.delivery(id: "a", sender: ":1.7", .failed(reason: "NoReply")))
    #expect(report(["locked": false]) == [.reportLock(session: "2", .no)])
    let moved = register(second)
    #expect(moved.contains(.reportLock(session: "2", .unknown)))
    #expect(moved.contains(.reportLock(session: "3", .no)))
    clock.advance(.seconds(30))
    #expect(Self.delivered(state.handle(.tick, at: clock.now)) == [])
    #expect(Self.delivered(register(Samples.alice, ":1.8")) == ["a to :1.8"])
  }

  @Test mutating func anAgentThatOutlivesItsSessionDoesNotMoveToATextConsoleBesideADesktop() {
    begin()
    let desktop = SessionKey(id: "9", uid: 1000)
    var console = Self.properties(SessionKey(id: "4", uid: 1000), active: false)
    console["Type"] = .string("tty")
    let login = Self.login(.read("/desktop", Self.properties(desktop)), .read("/console", console))
    _ = state.register(":1.8", at: "/agent", for: [desktop], at: clock.now)
    _ = tell(.login(login))
    #expect(state.registry.agent(named: ":1.7")?.session == Samples.alice)
    #expect(state.sessions(of: 1000, login) == [desktop])
  }

  @Test func untilLogindWasAskedNobodyHasASession() {
    let state = DaemonState(policy: .init(), isEnabled: true)
    #expect(state.sessions(of: 1000, nil) == [])
    #expect(!state.mayInhibit(1000, nil))
    #expect(state.mayInhibit(0, nil))
    let login = Self.login(.read(Self.session, Self.properties()))
    #expect(state.sessions(of: 1000, login) == [Samples.alice])
    #expect(state.mayInhibit(1000, login))
    let open = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
    #expect(open.sessions(of: 1000, nil) == [SessionKey(id: nil, uid: 1000)])
    #expect(open.mayInhibit(1000, nil))
  }

  @Test mutating func aReaderThatFailsIsNotScannedAndComesBack() {
    begin()
    let crash = ReaderCrash(reason: "killed by signal 11", suspect: nil, restart: .zero)
    #expect(tell(.reader(0, .scanning(false))) == [])
    #expect(state.readers[0]?.properties.state == "ready")
    #expect(tell(.reader(0, .crashed(crash))) == [])
    // Its process goes on looking for it, and scans as soon as it is there.
    #expect(tell(.reader(0, .state(.failed(reason: "it ended")))) == [])
    #expect(state.readers[0]?.properties.state == "failed")
    #expect(state.readers[0]?.properties.counters.restarts == 1)
    #expect(state.suspendReasons == ["no-reader"])
    #expect(tell(.reader(0, .state(.ready(name: "PN532", device: "pn532_uart:/dev/x")))) == [])
    #expect(state.suspendReasons == [])
    #expect(tell(.reader(0, .state(.failed(reason: "it ended")))) == [])
    #expect(tell(.inhibited(true)) == [.scan(0, false)])
    #expect(tell(.inhibited(false)) == [.scan(0, true)])
    #expect(tell(.readerRemoved(0)) == [])
    #expect(state.suspendReasons == ["no-reader"])
  }
}
