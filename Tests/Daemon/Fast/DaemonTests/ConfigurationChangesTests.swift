import Bus
import Journal
import Names
import Presence
import ReaderProtocol
import Rig
import Settings
import Testing

@testable import Daemon

@Suite struct ConfigurationChangesTests {
  struct Change: Sendable, CustomTestStringConvertible {
    let key: String
    let group: String
    let value: String
    var isPolicy = true

    var testDescription: String { key }
  }

  static let changes = [
    Change(key: "Devices", group: "Reader", value: "pn53x_usb", isPolicy: false),
    Change(key: "Backend", group: "Reader", value: "pcsc", isPolicy: false),
    Change(key: "PollInterval", group: "Reader", value: "10"),
    Change(key: "IdlePollInterval", group: "Reader", value: "10"),
    Change(key: "SessionLimit", group: "Reader", value: "1"),
    Change(key: "Technologies", group: "Reader", value: "type-2"),
    Change(key: "Feedback", group: "Reader", value: "yes"),
    Change(key: "Sessions", group: "Scan", value: "any"),
    Change(key: "StationUser", group: "Scan", value: "root"),
    Change(key: "RemovalDelay", group: "Scan", value: "0"),
    Change(key: "WhenLocked", group: "Scan", value: "hold"),
    Change(key: "LockDetection", group: "Scan", value: "strict"),
    Change(key: "SmartPosters", group: "Tags", value: "no"),
  ]

  private static func configuration(_ changes: [Change]) throws -> DaemonConfiguration {
    let directory = try TemporaryDirectory()
    let lines = changes.map { "[\($0.group)]\n\($0.key)=\($0.value)\n" }
    return try DaemonConfiguration.load(only: directory.write(lines.joined(), to: "tagroute.conf"))
  }

  @Test func `the table of this suite has every configuration key`() {
    let keys = DaemonConfiguration.schema.keys.flatMap(\.value)
    #expect(Set(Self.changes.map(\.key)) == Set(keys))
  }

  @Test(arguments: changes) func `a changed key changes only what it is about`(change: Change) throws {
    let (before, after) = (DaemonConfiguration(), try Self.configuration([change]))
    for changes in [
      ConfigurationChanges(from: before, to: after), ConfigurationChanges(from: after, to: before),
    ] { #expect(changes.keys == [change.key]) }
    let changes = ConfigurationChanges(from: before, to: after)
    #expect(changes.hasNewPolicy == change.isPolicy)
    #expect(changes.sessions == (change.key == "Sessions" ? .any : nil))
    #expect(ConfigurationChanges(from: after, to: before).sessions == (change.key == "Sessions" ? .logind : nil))
  }

  @Test func `an equal configuration changes nothing`() throws {
    let configuration = try Self.configuration(Self.changes)
    let changes = ConfigurationChanges(from: configuration, to: try Self.configuration(Self.changes))
    #expect(changes.keys == [] && changes.sessions == nil && !changes.hasNewPolicy)
  }
}

@Suite struct PolicyChangeTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  @Test mutating func `a new lock policy takes effect at once`() {
    begin()
    // Only the LockedHint of the session says that it is unlocked, which `strict` does not accept.
    tell(.policy(.init(scan: ScanPolicy(lockDetection: .strict))), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["lock-unknown"])
    tell(.policy(.init()), expecting: [.scan(0, true)])
    tell(.login(Self.login(locked: false, true)), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["session-locked"])
    tell(.policy(.init(scan: ScanPolicy(whenLocked: .hold))), expecting: [.scan(0, true)])
    #expect(Self.delivered(tap("a")) == [])
    // The held tap stays held, and the reader stops.
    tell(.policy(.init()), expecting: [.scan(0, false)])
    #expect(Self.delivered(tell(.login(Self.login(locked: false, true, false)))) == ["a to :1.7"])
  }

  @Test mutating func `clients see new technologies, and a new Smart Poster setting takes effect`() {
    begin()
    // The readers are libnfc's, which reads no Type 5.
    let all = ReaderPolling(technologies: TagType.readable.filter { $0 != .type5 })
    let limited = ReaderPolling(technologies: [.type2])
    tell(.policy(.init(smartPosters: false, polling: limited)), expecting: [.pursue(0, epoch: 0, .scan(limited))])
    #expect(state.readers[0]?.properties.technologies == [.type2])
    #expect(Self.delivered(tap("a", .message(Samples.smartPoster))) == [])
    tell(.policy(.init()), expecting: [.pursue(0, epoch: 0, .scan(all))])
    #expect(Self.delivered(tap("b", .message(Samples.smartPoster))) == ["b to :1.7"])
    _ = tell(.readerAdded(1, path: "/1", device: "x", seat: "seat0"))
    #expect(state.readers[1]?.properties.technologies == all.technologies)
  }

  @Test mutating func `an open session keeps its time limit, and the next session has the new limit`() throws {
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
    tell(.policy(.init(sessionLimit: .seconds(5))), expecting: [])
    #expect(state.sessions[first]?.deadline == clock.now + .seconds(60))
    _ = tell(.invalidate(first, message: ""))
    _ = reach()
    let second = try start()
    _ = reach()
    #expect(state.sessions[second]?.deadline == clock.now + .seconds(5))
  }

  @Test mutating func `without logind an agent belongs to its user, and with logind to its session`() {
    begin()
    // The reader scans, because logind does not decide any more.
    #expect(tell(.policy(.init(servesAnySession: true))).contains(.scan(0, true)))
    #expect(state.seats.registry.agents.map(\.session) == [LoginSessionKey(id: nil, uid: Samples.alice.uid)])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    tell(.delivery(id: "a", sender: ":1.7", .stored), expecting: [])
    // Until logind has replied, there is no session.
    tell(.policy(.init()), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["no-agent", "no-session"])
    tell(.login(Self.login(locked: false)), expecting: [.scan(0, true)])
    #expect(state.seats.registry.agents.map(\.session) == [Samples.alice])
    #expect(Self.delivered(tap("b")) == ["b to :1.7"])
  }

  @Test mutating func `a login state from before the policy change is used`() {
    begin(policy: .init())
    state = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .phase(Samples.ready, reached: 0)))
    _ = register(LoginSessionKey(id: nil, uid: Samples.alice.uid))
    _ = tell(.login(Self.login(locked: false)))
    _ = tell(.policy(.init()))
    #expect(state.seats.registry.agents.map(\.session) == [Samples.alice])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  @Test mutating func `taps that wait are discarded if agents no longer serve sessions, or serve them again`() {
    func discarded(_ actions: [DaemonState.Action]) -> Int {
      actions.count { if case .log(.warning, _) = $0 { true } else { false } }
    }
    begin()
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(Self.delivered(tap("b")) == [])
    let forUsers = state.handle(.policy(.init(servesAnySession: true)), at: clock.now)
    #expect(discarded(forUsers) == 2 && state.agents.queue.count == 0)
    // The agent replies late.
    tell(.delivery(id: "a", sender: ":1.7", .stored), expecting: [])
    #expect(Self.delivered(tap("c")) == ["c to :1.7"])
    #expect(discarded(state.handle(.policy(.init()), at: clock.now)) == 1)
    _ = tell(.login(Self.login(locked: false)))
    #expect(Self.delivered(tap("d")) == ["d to :1.7"])
  }

  @Test mutating func `without logind a user keeps one of two agents`() {
    begin()
    let other = LoginSessionKey(id: "9", uid: Samples.alice.uid)
    _ = register(other, ":1.8")
    _ = tell(.policy(.init(servesAnySession: true)))
    #expect(state.seats.registry.agents.map(\.sender) == [":1.7"])
  }
}

@Suite struct DaemonOptionsTests {
  @Test func `the options name a configuration file and a mode`() throws {
    #expect(try DaemonOptions([]).configuration == nil)
    #expect(try DaemonOptions(["--config", "/a"]).configuration == "/a")
    #expect(try DaemonOptions(["--config=/a"]).configuration == "/a")
    #expect(try DaemonOptions(["--check", "--config", "/a"]).mode == .check)
    #expect(try DaemonOptions(["--help"]).mode == .showHelp)
    #expect(try DaemonOptions(["--version"]).mode == .showVersion)
  }

  @Test(arguments: [
    (["--config"], "--config needs a file"),
    (["--config="], "unknown argument --config="),
    (["-x"], "unknown argument -x"),
    (["run"], "unknown argument run"),
  ])
  func `a wrong option is reported with a hint`(arguments: [String], expected: String) {
    let mistake = #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(arguments) }
    #expect(mistake?.description == expected)
  }
}
