import Bus
import Journal
import ReaderLink
import ScanGate
import Session
import Testing

@testable import Daemon

/// What another policy changes at once.
@Suite struct PolicyChangeTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  @Test mutating func whatCountsAsLockedIsDecidedAnew() {
    begin()
    // Nobody has said that it is unlocked, but for the session's own word.
    #expect(tell(.policy(.init(scan: ScanPolicy(lockDetection: .strict)))) == [.scan(0, false)])
    #expect(state.suspendReasons == ["lock-unknown"])
    #expect(tell(.policy(.init())) == [.scan(0, true)])
    var login = Self.login(.read(Self.session, Self.properties()))
    login.handle(.changed(Self.session, ["LockedHint": .boolean(true)]))
    #expect(tell(.login(login)) == [.scan(0, false)])
    #expect(state.suspendReasons == ["session-locked"])
    #expect(tell(.policy(.init(scan: ScanPolicy(whenLocked: .hold)))) == [.scan(0, true)])
    #expect(Self.delivered(tap("a")) == [])
    // What is held stays held; nothing more is read.
    #expect(tell(.policy(.init())) == [.scan(0, false)])
    login.handle(.changed(Self.session, ["LockedHint": .boolean(false)]))
    #expect(Self.delivered(tell(.login(login))) == ["a to :1.7"])
  }

  @Test mutating func clientsSeeOtherTechnologiesAndSmartPostersAreTheirs() {
    begin()
    #expect(tell(.policy(.init(smartPosters: false, technologies: ["type-2"]))) == [])
    #expect(state.readers[0]?.properties.technologies == ["type-2"])
    #expect(Self.delivered(tap("a", Samples.smartPoster)) == [])
    #expect(tell(.policy(.init())) == [])
    #expect(Self.delivered(tap("b", Samples.smartPoster)) == ["b to :1.7"])
    _ = tell(.readerAdded(1, path: "/1", device: "x", seat: "seat0"))
    #expect(state.readers[1]?.properties.technologies == state.policy.technologies)
  }

  @Test mutating func anOpenSessionKeepsItsTimeAndTheNextHasTheNew() throws {
    begin()
    func start() throws -> UInt64 {
      let (session, actions) = try state.sessions.add(
        ReaderSessionRequest(), client: ":1.9", uid: Samples.alice.uid, pid: 1, reader: 0, readerPath: Samples.reader,
        at: clock.now)
      _ = state.perform(actions) + state.evaluate(at: clock.now)
      return session.id
    }
    let first = try start()
    _ = reach()
    #expect(tell(.policy(.init(sessionLimit: .seconds(5)))) == [])
    #expect(state.sessions[first]?.deadline == clock.now + .seconds(60))
    _ = tell(.invalidate(first, message: ""))
    _ = reach()
    let second = try start()
    _ = reach()
    #expect(state.sessions[second]?.deadline == clock.now + .seconds(5))
  }

  @Test mutating func withoutLogindTheAgentIsItsUsersAndWithItItsSessions() {
    begin()
    // What logind says no more does not keep the reader.
    #expect(tell(.policy(.init(servesAnySession: true))).contains(.scan(0, true)))
    #expect(state.registry.agents.map(\.session) == [SessionKey(id: nil, uid: Samples.alice.uid)])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    // One that is not answered would go along.
    #expect(tell(.delivery(id: "a", sender: ":1.7", .stored)) == [])
    // Until logind has been heard nobody sits anywhere.
    #expect(tell(.policy(.init())) == [.scan(0, false)])
    #expect(state.suspendReasons == ["no-agent", "no-session"])
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties())))) == [.scan(0, true)])
    #expect(state.registry.agents.map(\.session) == [Samples.alice])
    #expect(Self.delivered(tap("b")) == ["b to :1.7"])
  }

  @Test mutating func logindMayHaveBeenHeardBefore() {
    begin(policy: .init())
    state = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .phase(Samples.ready, reached: 0)))
    _ = register(SessionKey(id: nil, uid: Samples.alice.uid))
    _ = tell(.login(Self.login(.read(Self.session, Self.properties()))))
    _ = tell(.policy(.init()))
    #expect(state.registry.agents.map(\.session) == [Samples.alice])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  @Test mutating func tapsThatWaitGoAlong() {
    begin()
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(Self.delivered(tap("b")) == [])
    #expect(tell(.agentGone(sender: ":1.7")) == [.scan(0, false)])
    let changed = state.handle(.policy(.init(servesAnySession: true)), at: clock.now)
    #expect(!changed.contains { if case .log(.warning, _) = $0 { true } else { false } })
    #expect(Self.delivered(register(SessionKey(id: nil, uid: Samples.alice.uid))) == ["a to :1.7"])
    _ = tell(.agentGone(sender: ":1.7"))
    #expect(Self.delivered(tell(.policy(.init()))) == [])
    #expect(Self.delivered(tell(.login(Self.login(.read(Self.session, Self.properties()))))) == [])
    #expect(Self.delivered(register(Samples.alice, ":1.8")) == ["a to :1.8"])
    #expect(Self.delivered(tell(.delivery(id: "a", sender: ":1.8", .stored))) == ["b to :1.8"])
  }

  @Test mutating func tapsThatAnAgentIsBeingGivenGoAlongWithIt() {
    begin()
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(Self.delivered(tell(.policy(.init(servesAnySession: true)))) == ["a to :1.7"])
    _ = tell(.policy(.init()))
    #expect(Self.delivered(tell(.login(Self.login(.read(Self.session, Self.properties()))))) == ["a to :1.7"])
    // What it says of the first time it was given counts.
    #expect(Self.delivered(tell(.delivery(id: "a", sender: ":1.7", .stored))) == [])
    #expect(Self.delivered(tap("b")) == ["b to :1.7"])
  }

  @Test mutating func tapsThatGoAlongStayBehindTheLockOfTheirSession() {
    begin()
    _ = tell(.policy(.init(servesAnySession: true)))
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    _ = tell(.policy(.init()))
    #expect(Self.delivered(tell(.login(Self.login(.read(Self.session, Self.properties(locked: true)))))) == [])
    #expect(Self.delivered(tell(.login(Self.login(.read(Self.session, Self.properties()))))) == ["a to :1.7"])
  }

  @Test mutating func ofTwoAgentsOfAUserOneIsLeftWithoutLogind() {
    begin()
    let other = SessionKey(id: "9", uid: Samples.alice.uid)
    _ = register(other, ":1.8")
    _ = tell(.policy(.init(servesAnySession: true)))
    #expect(state.registry.agents.map(\.sender) == [":1.7"])
  }
}
