import Bus
import Names
import Presence
import ReaderProtocol
import Settings
import Testing

@testable import Daemon

/// Which user gets the taps of a station, without a bus.
@Suite struct StationStateTests: DaemonStateSuite {
  private static let station = LoginSessionKey(id: nil, uid: 998)
  private static let sender = ":1.9"

  var state = DaemonState(policy: .init(station: StationStateTests.station.uid), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  /// A ready reader, no user at the machine, and the station's agent.
  init() {
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .phase(Samples.ready, reached: 0)))
    _ = tell(.login(Self.login()))
    _ = register(Self.station, Self.sender)
    _ = reach()
  }

  private static func properties(_ key: LoginSessionKey, class name: String, seat: String = "seat0") -> [String: Value]
  {
    Samples.properties(key, seat: seat).merging(["Class": .string(name)]) { $1 }
  }

  private static let bobInFront = login(.read("/bob", Samples.properties(Samples.bob)))

  /// Reads a tag, which its agent stores. Returns the agents that received it.
  private mutating func stored(_ id: String, by sender: String) -> [String] {
    let delivered = Self.delivered(tap(id))
    _ = tell(.delivery(id: id, sender: sender, .stored))
    return delivered
  }

  @Test mutating func `the station's agent needs no session and no unlock`() {
    state = DaemonState(
      policy: .init(station: Self.station.uid, scan: .init(lockDetection: .strict)), isEnabled: true)
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .phase(Samples.ready, reached: 0)))
    // Before logind has answered, another user may be at the machine.
    #expect(state.suspendReasons == ["no-agent", "no-session"])
    _ = tell(.login(Self.login()))
    #expect(state.suspendReasons == ["no-agent"])
    #expect(state.seats.sessions(of: Self.station.uid, state.seats.login) == [Self.station])
    #expect(register(Self.station, Self.sender) == [.scan(0, true)])
    #expect(state.suspendReasons == [])
    #expect(stored("a", by: Self.sender) == ["a to :1.9"])
    #expect(state.seats.obstacle(to: Self.station.uid, on: "seat0") == nil)
  }

  @Test mutating func `a user who logs in takes the taps, and a logout returns them`() {
    #expect(stored("a", by: Self.sender) == ["a to :1.9"])
    let epoch = state.readers[0]?.epoch
    tell(.login(Self.bobInFront), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["no-agent"])
    #expect(state.seats.stationInFront(of: "seat0") == nil)
    #expect(state.seats.obstacle(to: Self.station.uid, on: "seat0") == .sessionInactive)
    #expect(register(Samples.bob, ":1.8") == [.scan(0, true)])
    // A tag that was read for the station is not bob's.
    #expect(Self.delivered(tap("late", epoch: epoch)) == [])
    #expect(stored("b", by: ":1.8") == ["b to :1.8"])
    #expect(tell(.login(Self.login())).contains(.scan(0, true)))
    #expect(stored("c", by: Self.sender) == ["c to :1.9"])
  }

  @Test mutating func `a locked session of another user keeps its taps from the station`() {
    _ = tell(.login(Self.bobInFront))
    _ = register(Samples.bob, ":1.8")
    let locked = Self.login(.read("/bob", Samples.properties(Samples.bob, locked: true)))
    tell(.login(locked), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["session-locked"])
    #expect(Self.delivered(tap("a")) == [])
  }

  @Test mutating func `while logind switches from one user to another the station gets nothing`() {
    let (bob, alice) = (Samples.properties(Samples.bob), Samples.properties(Samples.alice))
    let inactive: [String: Value] = ["Active": .boolean(false), "State": .string("online")]
    _ = tell(.login(Self.login(.read("/bob", bob), .read("/alice", alice), .changed("/alice", inactive))))
    #expect(state.seats.stationInFront(of: "seat0") == nil)
    _ = tell(
      .login(
        Self.login(
          .read("/bob", bob), .read("/alice", alice), .changed("/alice", inactive), .changed("/bob", inactive))))
    #expect(state.seats.stationInFront(of: "seat0") == nil)
    #expect(Self.delivered(tap("a")) == [])
  }

  @Test mutating func `a session that logind has announced keeps the taps until it is read`() {
    var login = Self.login()
    login.handle(.announced("/bob"))
    tell(.login(login), expecting: [.scan(0, false)])
    #expect(Self.delivered(tap("a")) == [])
    // Over ssh, without a seat.
    login.handle(.read("/bob", Samples.properties(Samples.bob, seat: "")))
    tell(.login(login), expecting: [.scan(0, true)])
  }

  @Test mutating func `a locked session of the station's own user locks the station`() {
    let own = LoginSessionKey(id: "c1", uid: Self.station.uid)
    _ = tell(.login(Self.login(.read("/c1", Samples.properties(own, locked: true)))))
    #expect(state.suspendReasons == ["session-locked"])
  }

  @Test(arguments: [
    ("greeter", 110, true), ("user", 998, true), ("user", 110, false), ("lock-screen", 110, false),
    ("user-incomplete", 110, false),
  ])
  mutating func `a greeter is no user, and the station's own session is the station`(
    sessionClass: String, uid: UInt32, isStations: Bool
  ) {
    let session = Self.properties(LoginSessionKey(id: "c1", uid: uid), class: sessionClass)
    _ = tell(.login(Self.login(.read("/c1", session))))
    _ = reach()
    #expect((state.seats.stationInFront(of: "seat0") != nil) == isStations)
    #expect(Self.delivered(tap("a")) == (isStations ? ["a to :1.9"] : []))
  }

  @Test mutating func `root may use the reader while no other user is logged in`() {
    #expect(state.seats.obstacle(to: 0, on: "seat0") == nil)
    #expect(state.reader(for: 0) == 0)
    _ = tell(.login(Self.bobInFront))
    #expect(state.seats.obstacle(to: 0, on: "seat0") == .sessionInactive)
    var gone = Self.login()
    gone.handle(.logindGone)
    _ = tell(.login(gone))
    #expect(state.seats.obstacle(to: 0, on: "seat0") == .sessionInactive)
    var asleep = Self.login()
    asleep.handle(.sleeping(true))
    _ = tell(.login(asleep))
    #expect(state.seats.obstacle(to: 0, on: "seat0") == .sleeping)
  }

  @Test mutating func `without a station root may use a reader while no user is logged in`() {
    state = DaemonState(policy: .init(), isEnabled: true)
    #expect(state.seats.obstacle(to: 0, on: "seat0") == .sessionInactive)
    _ = tell(.login(Self.login()))
    #expect(state.seats.obstacle(to: 0, on: "seat0") == nil)
    #expect(state.seats.obstacle(to: 1001, on: "seat0") == .sessionInactive)
    let root = LoginSessionKey(id: "1", uid: 0)
    _ = tell(.login(Self.login(.read("/1", Samples.properties(root, locked: true)))))
    #expect(state.seats.obstacle(to: 0, on: "seat0") == .sessionInactive)
  }

  @Test mutating func `other seats, a missing logind and other users get nothing`() {
    #expect(state.seats.stationInFront(of: "seat1") == nil)
    #expect(state.seats.sessions(of: 1001, state.seats.login) == [])
    #expect(state.seats.obstacle(to: 1001, on: "seat0") == .sessionInactive)
    var gone = Self.login()
    gone.handle(.logindGone)
    tell(.login(gone), expecting: [.scan(0, false)])
    #expect(Self.delivered(tap("a")) == [])
  }

  @Test mutating func `only the station's and root's inhibitors stop a station`() {
    tell(.inhibited(by: [1001]), expecting: [])
    tell(.inhibited(by: [Self.station.uid]), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["inhibited"])
    tell(.inhibited(by: []), expecting: [.scan(0, true)])
    tell(.inhibited(by: [0]), expecting: [.scan(0, false)])
  }

  @Test mutating func `a new policy moves the agent of the user`() {
    // No longer a station: the agent has no session.
    tell(.policy(.init()), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["no-agent", "no-session"])
    tell(.policy(.init(station: Self.station.uid)), expecting: [.scan(0, true)])
    #expect(stored("a", by: Self.sender) == ["a to :1.9"])
    // Another user is the station now.
    tell(.policy(.init(station: Samples.bob.uid)), expecting: [.scan(0, false)])
    #expect(Self.delivered(tap("b")) == [])
    // The agent of a session becomes that of the station.
    _ = tell(.login(Self.bobInFront))
    _ = tell(.policy(.init()))
    #expect(register(Samples.bob, ":1.8") == [.scan(0, true)])
    _ = tell(.policy(.init(station: Samples.bob.uid)))
    #expect(state.seats.registry.agent(named: ":1.8")?.session == LoginSessionKey(id: nil, uid: Samples.bob.uid))
    _ = reach()
    #expect(stored("c", by: ":1.8") == ["c to :1.8"])
  }

  @Test mutating func `with Sessions=any the setting has no effect`() {
    _ = tell(.policy(.init(servesAnySession: true, station: Self.station.uid)))
    #expect(state.seats.station == nil && state.seats.stationInFront(of: "seat0") == nil)
    #expect(state.seats.sessions(of: 1001, nil) == [LoginSessionKey(id: nil, uid: 1001)])
  }
}
