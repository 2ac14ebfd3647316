import Bus
import Names
import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// When readers scan, and when their fields are off.
@Suite struct DaemonStateTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  @Test mutating func `the daemon scans if there is a reader, a session and its agent`() {
    #expect(state.suspendReasons == ["no-reader", "no-agent", "no-session"])
    begin()
    #expect(state.suspendReasons == [])
    #expect(state.readers.isScanning)
    #expect(state.readers[0]?.properties.state == "scanning")
    tell(.agentGone(sender: ":1.7"), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["no-agent"])
  }

  @Test mutating func `a reader stops once its process has reached the goal that is not to scan`() {
    stopsAtOnce = false
    begin()
    #expect(state.readers.stopping.isEmpty)
    tell(.enabled(false), expecting: [.scan(0, false)])
    #expect(state.readers.stopping.count == 1)
    // The process reports an earlier goal.
    let epoch = state.readers[0]?.epoch ?? 0
    tell(.reader(0, .phase(Samples.ready, reached: epoch - 1)), expecting: [])
    #expect(state.readers.stopping.count == 1 && !state.readers.isScanning)
    #expect(reach() == [])
    #expect(state.readers.stopping.isEmpty && !state.readers.isScanning)
  }

  @Test mutating func `a user who inhibits in a loop does not fill the journal`() {
    begin()
    var lines = 0
    for round in 0..<1000 {
      for action in state.handle(.inhibited(by: round % 2 == 0 ? [Samples.alice.uid] : []), at: clock.now) {
        if case .log = action { lines += 1 }
      }
    }
    #expect(lines > 0 && lines <= 61, "\(lines) lines")
  }

  @Test mutating func `only the agent reports, and its last report outlives it`() {
    begin()
    #expect(report(["camera": true]) == [.scan(0, false)])
    // A condition that is missing from the report does not stop scanning.
    #expect(report(["camera": false]) == [.scan(0, true)])
    #expect(report(["locked": true], ":1.99") == nil)
    #expect(report(["locked": true]) == [.reportLock(session: "2", .yes), .scan(0, false)])
    tell(.agentGone(sender: ":1.7"), expecting: [.reporterGone(session: "2")])
    tell(.login(LoginState()), expecting: [])
    #expect(state.suspendReasons == ["no-agent", "no-session"])
  }

  @Test mutating func `each goal has a new epoch`() {
    begin()
    var epochs: [UInt64] = []
    for round in 0..<300 {
      for action in state.handle(.inhibited(by: round.isMultiple(of: 2) ? [0] : []), at: clock.now) {
        if case .pursue(0, let epoch, _) = action { epochs.append(epoch) }
      }
    }
    let first = epochs.first ?? 0
    #expect(epochs == (0..<300).map { first + $0 })
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  @Test mutating func `a change of the polling settings drops no tag`() {
    begin()
    let before = state.readers[0]?.epoch
    var policy = DaemonState.Policy()
    policy.polling.technologies = [.type2]
    tell(.policy(policy), expecting: [.pursue(0, epoch: 0, .scan(policy.polling))])
    #expect(Self.delivered(tap("a", epoch: before)) == ["a to :1.7"])
  }

  /// For example, a reader that is refused because it is the same device as another one.
  @Test mutating func `the field of a reader without a process is assumed off`() {
    begin()
    stopsAtOnce = false
    tell(.enabled(false), expecting: [.scan(0, false)])
    #expect(!state.readers.areFieldsOff)
    tell(.readerHasNoProcess(0), expecting: [])
    #expect(state.readers.areFieldsOff)
    tell(.enabled(true), expecting: [.scan(0, true)])
  }

  @Test mutating func `a field is assumed on from the goal to scan until the reader has stopped`() {
    begin()
    stopsAtOnce = false
    _ = tell(.enabled(false))
    #expect(!state.readers.areFieldsOff)
    _ = tell(.enabled(true))
    _ = tell(.enabled(false))
    #expect(!state.readers.areFieldsOff)
    _ = reach()
    #expect(state.readers.areFieldsOff)
  }

  @Test(arguments: [ReaderPhase.absent(reason: "unplugged"), Samples.ready])
  mutating func `the field of a failed device is assumed on until the device is open or absent`(end: ReaderPhase) {
    begin()
    stopsAtOnce = false
    _ = tell(.reader(0, .phase(.failed(reason: "it does not answer"), reached: nil)))
    _ = tell(.enabled(false))
    _ = reach()
    #expect(!state.readers.areFieldsOff)
    _ = tell(.reader(0, .phase(end, reached: state.readers[0]?.epoch)))
    #expect(state.readers.areFieldsOff)
  }

  @Test mutating func `without logind the registered agent receives the taps and its reports stop scanning`() {
    state = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .phase(Samples.ready, reached: 0)))
    #expect(state.suspendReasons == ["no-agent"])
    #expect(register(LoginSessionKey(id: nil, uid: 1000)) == [.scan(0, true)])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(report(["locked": true]) == [.scan(0, false)])
    #expect(report(["locked": false]) == [.scan(0, true)])
  }

  @Test mutating func `a failed reader keeps its goal and recovers`() {
    begin()
    let crash = ReaderCrash(reason: "killed by signal 11", suspect: nil, restart: .zero)
    tell(.reader(0, .crashed(crash)), expecting: [])
    // Its process keeps looking for the device, and scans as soon as the device is there.
    tell(.reader(0, .phase(.failed(reason: "it ended"), reached: nil)), expecting: [])
    #expect(state.readers[0]?.properties.state == "failed")
    #expect(state.readers[0]?.properties.counters.restarts == 1)
    #expect(state.suspendReasons == ["no-reader"])
    tell(.reader(0, .phase(Samples.ready, reached: nil)), expecting: [])
    #expect(state.readers[0]?.properties.state == "ready")
    #expect(state.suspendReasons == [])
    tell(.reader(0, .phase(.failed(reason: "it ended"), reached: nil)), expecting: [])
    tell(.inhibited(by: [Samples.alice.uid]), expecting: [.scan(0, false)])
    tell(.inhibited(by: []), expecting: [.scan(0, true)])
    tell(.readerRemoved(0), expecting: [])
    #expect(state.suspendReasons == ["no-reader"])
  }

  @Test mutating func `an inhibitor of a user takes effect only while the session of that user is active`() {
    begin()
    let (alice, bob) = (Samples.alice.uid, Samples.bob.uid)
    tell(.inhibited(by: [bob]), expecting: [])
    #expect(state.readers.isScanning)
    tell(.inhibited(by: [alice, bob]), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["inhibited"])
    #expect(register(Samples.bob, ":1.8") == [])
    let bobInFront = Self.login(
      .read(Self.session, Samples.properties(active: false)), .read("/bob", Samples.properties(Samples.bob)))
    tell(.login(bobInFront), expecting: [])
    tell(.inhibited(by: [alice]), expecting: [.scan(0, true)])
    tell(.inhibited(by: [0]), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["inhibited"])
    tell(.inhibited(by: [alice]), expecting: [.scan(0, true)])
    let aliceInFront = Self.login(
      .read(Self.session, Samples.properties()), .read("/bob", Samples.properties(Samples.bob, active: false)))
    tell(.login(aliceInFront), expecting: [.scan(0, false)])
    #expect(state.suspendReasons == ["inhibited"])
  }

  @Test mutating func `without logind the inhibitor of any user takes effect`() {
    begin()
    _ = tell(.policy(DaemonState.Policy(servesAnySession: true)))
    _ = register(LoginSessionKey(id: nil, uid: Samples.alice.uid))
    #expect(state.suspendReasons == [])
    _ = tell(.inhibited(by: [Samples.bob.uid]))
    #expect(state.suspendReasons == ["inhibited"])
  }
}

/// Each condition stops scanning. Tags that are read while the goal to stop is on its way to the reader are dropped.
@Suite struct GateChangeTests: DaemonStateSuite {
  /// A condition, by the reason that it gives.
  enum Change: String, CaseIterable {
    case lock = "session-locked"
    case reportedLock = "session-locked "
    case anotherSession = "session-inactive"
    case sleep = "sleeping"
    case inhibitor = "inhibited"
    case masterSwitch = "disabled"
    case displayOff = "display-off"
    case camera
    case airplaneMode = "airplane-mode"

    var reason: String { self == .reportedLock ? Change.lock.rawValue : rawValue }
  }

  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = false

  @Test(arguments: Change.allCases)
  mutating func `a change stops scanning, and a tag read before the reader has stopped is dropped`(change: Change) {
    begin()
    let read = state.readers[0]?.epoch
    #expect(make(change).contains(.scan(0, false)))
    #expect(state.suspendReasons == [change.reason])
    #expect(Self.delivered(tap("late", epoch: read)) == [])
    _ = reach()
    #expect(undo(change).contains(.scan(0, true)))
    #expect(state.suspendReasons == [])
    #expect(Self.delivered(tap("later", epoch: read)) == [])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  @Test(arguments: Change.allCases)
  mutating func `the tag is dropped also if the change ends before the reader stops`(change: Change) {
    begin()
    let read = state.readers[0]?.epoch
    _ = make(change)
    #expect(undo(change).contains(.scan(0, true)))
    #expect(Self.delivered(tap("late", epoch: read)) == [])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  private mutating func make(_ change: Change) -> [DaemonState.Action] {
    switch change {
    case .lock: tell(.login(Self.login(locked: true)))
    case .anotherSession: tell(.login(Self.login(.read(Self.session, Samples.properties(active: false)))))
    case .sleep: tell(.login(Self.login(.read(Self.session, Samples.properties()), .sleeping(true))))
    case .inhibitor: tell(.inhibited(by: [Samples.alice.uid]))
    case .masterSwitch: tell(.enabled(false))
    case .reportedLock: report(["locked": true]) ?? []
    case .displayOff, .camera, .airplaneMode: report([change.rawValue: true]) ?? []
    }
  }

  private mutating func undo(_ change: Change) -> [DaemonState.Action] {
    switch change {
    case .lock, .anotherSession, .sleep: tell(.login(Self.login(locked: false)))
    case .inhibitor: tell(.inhibited(by: []))
    case .masterSwitch: tell(.enabled(true))
    case .reportedLock, .displayOff, .camera, .airplaneMode: report([:]) ?? []
    }
  }
}
