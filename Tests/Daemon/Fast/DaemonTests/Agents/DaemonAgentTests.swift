import Bus
import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// Which session an agent serves, and which effect its reports have.
@Suite struct DaemonAgentTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  @Test mutating func `each report that the user unlocked the session is passed on`() {
    begin()
    #expect(report(["locked": false]) == [.reportLock(session: "2", .no)])
    let word = ["locked": false, "unlocked-by-user": true]
    for _ in 0..<2 { #expect(report(word) == [.reportLock(session: "2", .no), .userUnlocked(session: "2")]) }
    #expect(report(["locked": false, "unlocked-by-user": false]) == [.reportLock(session: "2", .no)])
    _ = tell(.agentGone(sender: ":1.7"))
    #expect(register(Samples.alice, ":1.8", reporting: word).contains(.userUnlocked(session: "2")))
  }

  @Test(arguments: [("State", "closing"), ("Type", "tty")])
  mutating func `an agent of a closing session or a text console moves to the next desktop`(
    property: String, value: String
  ) {
    begin()
    var previous = Samples.properties(active: false)
    previous[property] = .string(value)
    // The agent stays until there is another session.
    _ = tell(.login(Self.login(.read(Self.session, previous))))
    #expect(state.seats.registry.agent(named: ":1.7")?.session == Samples.alice)
    let next = LoginSessionKey(id: "5", uid: Samples.alice.uid)
    let both = Self.login(.read(Self.session, previous), .read("/next", Samples.properties(next)))
    tell(.login(both), expecting: [.scan(0, true)])
    #expect(state.seats.registry.agent(named: ":1.7")?.session == next)
    #expect(state.suspendReasons == [])
  }

  @Test mutating func `an agent that registers from a locked session does not start scanning`() {
    begin()
    tell(.agentGone(sender: ":1.7"), expecting: [.scan(0, false)])
    #expect(register(Samples.alice, reporting: ["locked": true]) == [.reportLock(session: "2", .yes)])
    #expect(state.suspendReasons == ["session-locked"])
    #expect(Self.delivered(tap("a")) == [])
    // It registers again without conditions, so its previous report stays in effect.
    #expect(register(Samples.alice) == [.reportLock(session: "2", .yes)])
    #expect(state.suspendReasons == ["session-locked"])
    let actions = register(Samples.alice, reporting: ["locked": false])
    #expect(actions == [.reportLock(session: "2", .no), .scan(0, true)])
  }

  @Test mutating func `an agent that outlives its session serves the next session of its user`() {
    begin()
    tell(.login(Self.login()), expecting: [.scan(0, false)])
    let next = LoginSessionKey(id: "9", uid: 1000)
    tell(.login(Self.login(.read("/next", Samples.properties(next)))), expecting: [.scan(0, true)])
    #expect(state.seats.registry.agent(named: ":1.7")?.session == next)
  }

  @Test mutating func `an agent that moves leaves the taps of its previous session behind`() {
    begin()
    let second = LoginSessionKey(id: "3", uid: 1000)
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    _ = tell(.delivery(id: "a", sender: ":1.7", .failed(reason: "NoReply")))
    #expect(report(["locked": false]) == [.reportLock(session: "2", .no)])
    let moved = register(second)
    #expect(moved.contains(.reporterGone(session: "2")))
    #expect(moved.contains(.reportLock(session: "3", .no)))
    clock.advance(.seconds(30))
    #expect(Self.delivered(state.handle(.tick, at: clock.now)) == [])
    #expect(Self.delivered(register(Samples.alice, ":1.8")) == ["a to :1.8"])
  }

  @Test mutating func `an agent that outlives its session does not move to a text console beside a desktop`() {
    begin()
    let desktop = LoginSessionKey(id: "9", uid: 1000)
    var console = Samples.properties(LoginSessionKey(id: "4", uid: 1000), active: false)
    console["Type"] = .string("tty")
    let login = Self.login(.read("/desktop", Samples.properties(desktop)), .read("/console", console))
    _ = state.register(":1.8", at: "/agent", for: [desktop], at: clock.now)
    _ = tell(.login(login))
    #expect(state.seats.registry.agent(named: ":1.7")?.session == Samples.alice)
    #expect(state.seats.sessions(of: 1000, login) == [desktop])
  }

  @Test func `users have no session before logind replies, unless any session is served`() {
    let state = DaemonState(policy: .init(), isEnabled: true)
    #expect(state.seats.sessions(of: 1000, nil) == [])
    let login = Self.login(locked: false)
    #expect(state.seats.sessions(of: 1000, login) == [Samples.alice])
    let open = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
    #expect(open.seats.sessions(of: 1000, nil) == [LoginSessionKey(id: nil, uid: 1000)])
  }

  /// Class, type, whether it is remote, and seat.
  @Test(arguments: [
    ("greeter", "wayland", false, "seat0"), ("user", "wayland", true, ""), ("user", "tty", false, "seat0"),
    ("background", "unspecified", false, ""), ("lock-screen", "x11", false, "seat0"),
  ])
  mutating func `a session that is not a local desktop has no agent, and its user gets no taps while it is active`(
    sessionClass: String, type: String, isRemote: Bool, seat: String
  ) {
    begin()
    let other = Samples.properties(LoginSessionKey(id: "9", uid: Samples.alice.uid), seat: seat).merging([
      "Class": .string(sessionClass), "Type": .string(type), "Remote": .boolean(isRemote),
    ]) { $1 }
    let login = Self.login(.read(Self.session, Samples.properties(active: false)), .read("/other", other))
    let late = state.readers[0]?.epoch
    tell(.login(login), expecting: [.scan(0, false)])
    #expect(state.seats.sessions(of: Samples.alice.uid, login) == [Samples.alice])
    #expect(Self.delivered(tap("a", epoch: late)) == [])
    tell(.login(Self.login(locked: false)), expecting: [.scan(0, true)])
    #expect(Self.delivered(tap("b")) == ["b to :1.7"])
  }
}

@Suite struct AgentRegistryTests {
  private var registry = AgentRegistry()

  @Test mutating func `each session has one agent`() {
    #expect(registry.register(":1.1", at: "/a", for: [Samples.alice])?.session == Samples.alice)
    #expect(registry.register(":1.2", at: "/a", for: [Samples.alice]) == nil)
    #expect(registry.register(":1.2", at: "/a", for: [Samples.bob])?.session == Samples.bob)
    #expect(registry.agent(of: Samples.alice)?.sender == ":1.1")
  }

  @Test mutating func `the second agent of a user serves the second session`() {
    let second = LoginSessionKey(id: "3", uid: 1000)
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice, second])
    #expect(registry.register(":1.2", at: "/a", for: [Samples.alice, second])?.session == second)
  }

  @Test mutating func `an agent that registers again keeps its session and its report`() {
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    _ = registry.replaceReport(of: ":1.1", with: ["locked": true, "unknown-key": true])
    let again = registry.register(":1.1", at: "/b", for: [Samples.alice])
    #expect(again?.path == "/b")
    #expect(again?.report.locked == .yes)
    #expect(registry.agents.count == 1)
  }

  @Test mutating func `an agent that moves to another session keeps its report`() {
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    _ = registry.replaceReport(of: ":1.1", with: ["display-off": true])
    let moved = registry.register(":1.1", at: "/a", for: [LoginSessionKey(id: "9", uid: 1000)])
    #expect(moved?.report.displayOff == .yes)
    #expect(registry.agent(of: Samples.alice) == nil)
  }

  @Test mutating func `a session is free once its agent is gone`() {
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    #expect(registry.unregister(":1.1")?.session == Samples.alice)
    #expect(registry.unregister(":1.1") == nil)
    #expect(registry.register(":1.2", at: "/a", for: [Samples.alice]) != nil)
  }

  @Test mutating func `only a registered agent can report, and a report replaces the previous one completely`() {
    #expect(registry.replaceReport(of: ":1.1", with: ["locked": true]) == nil)
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    _ = registry.replaceReport(of: ":1.1", with: ["locked": true, "airplane-mode": true])
    #expect(registry.agent(named: ":1.1")?.report.airplaneMode == .yes)
    let report = registry.replaceReport(of: ":1.1", with: ["camera": false])?.report
    #expect(report?.locked == .unknown)
    #expect(report?.airplaneMode == .unknown)
    #expect(report?.displayOff == .unknown)
    #expect(report?.camera == .no)
  }
}
