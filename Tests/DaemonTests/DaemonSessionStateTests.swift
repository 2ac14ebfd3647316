import Bus
import Names
import ReaderLink
import Testing

@testable import Daemon

/// Reader sessions, loans and the gate together, without a bus.
@Suite struct DaemonSessionStateTests {
  private static let now = SuspendingClock.now
  private static let path = "/org/tagroute/Tagroute1/readers/0" as ObjectPath
  private var state: DaemonState

  init() {
    var policy = DaemonState.Policy()
    policy.servesAnySession = true
    state = DaemonState(policy: policy, isEnabled: true)
    _ = state.handle(.readerAdded(0, path: Self.path, device: "pn532_uart:/dev/x", seat: "seat0"), at: Self.now)
    _ = state.handle(.reader(0, .phase(Self.ready, reached: 0)), at: Self.now)
    _ = state.register(":1.7", at: "/agent", for: [SessionKey(id: nil, uid: 1000)], at: Self.now)
    _ = reach(.scanning)
  }

  private static let ready = ReaderPhase.ready(name: "X", device: "pn532_uart:/dev/x")

  private static func acts(_ actions: [DaemonState.Action]) -> [DaemonState.Action] {
    actions.filter { if case .log = $0 { false } else { true } }.map(\.withoutEpoch)
  }

  private mutating func tell(_ event: DaemonState.Event) -> [DaemonState.Action] {
    Self.acts(state.handle(event, at: Self.now))
  }

  /// The reader process reports that it has reached its goal.
  private mutating func reach(_ phase: ReaderPhase) -> [DaemonState.Action] {
    tell(.reader(0, .phase(phase, reached: state.readers[0]?.epoch)))
  }

  private mutating func start() throws -> [DaemonState.Action] {
    let (_, actions) = try state.sessions.add(
      ReaderSessionRequest(), client: ":1.9", uid: 1000, pid: 1, reader: 0, readerPath: Self.path, at: Self.now)
    return Self.acts(state.perform(actions) + state.evaluate(at: Self.now))
  }

  private static func goal(_ goal: ReaderGoal) -> DaemonState.Action { .pursue(0, epoch: 0, goal) }
  private static let begin = goal(.session(ReaderSessionOptions(number: 1)))

  @Test mutating func `scanning stops for a session and resumes once the reader process has ended it`() throws {
    #expect(try start() == [Self.begin])
    #expect(reach(.inSession(1)) == [.session(.activated(1))])
    #expect(state.readers[0]?.properties.state == "in-session")
    // The session is over for its client, but the reader is not free yet.
    #expect(tell(.invalidate(1, message: "")).count == 2)
    #expect(state.suspendReasons == ["reader-session"])
    #expect(reach(Self.ready) == [.scan(0, true)])
  }

  @Test mutating func `a lock ends the reader session of the user`() throws {
    _ = try start()
    _ = reach(.inSession(1))
    let actions = state.report(":1.7", ["locked": true], at: Self.now) ?? []
    #expect(Self.acts(actions).contains(.scan(0, false)))
    #expect(state.sessions[1]?.end == .sessionInactive)
  }

  @Test mutating func `a session whose device fails is lost, and the next goal is to scan`() throws {
    _ = try start()
    _ = reach(.inSession(1))
    let actions = tell(.reader(0, .phase(.failed(reason: "x"), reached: nil)))
    #expect(actions.last == .scan(0, true))
    #expect(state.sessions[1]?.end == .readerLost)
  }

  @Test mutating func `a session waits until a lent reader is back and open`() throws {
    #expect(tell(.release(0, true)) == [Self.goal(.lent)])
    #expect(reach(.released) == [])
    #expect(state.readers[0]?.properties.state == "released")
    #expect(try start() == [])
    #expect(tell(.release(0, false)) == [.scan(0, false)])
    #expect(reach(.released) == [])
    #expect(reach(Self.ready) == [Self.begin])
  }

  @Test mutating func `a second loan begins only once the device is closed again`() {
    _ = tell(.release(0, true))
    _ = reach(.released)
    #expect(state.readers[0]?.isLent == true)
    _ = tell(.release(0, false))
    #expect(tell(.release(0, true)) == [Self.goal(.lent)])
    #expect(state.readers[0]?.isLent == false)
    _ = reach(.released)
    #expect(state.readers[0]?.isLent == true)
  }

  @Test mutating func `the machine sleeps only once the device of a requested loan is closed`() throws {
    _ = try start()
    _ = reach(.inSession(1))
    _ = tell(.release(0, true))
    // The reader process may still be in the middle of an operation.
    #expect(!state.areFieldsOff)
    _ = reach(.released)
    #expect(state.areFieldsOff)
  }

  @Test mutating func `a loan that ends before it begins does not block the reader`() throws {
    _ = tell(.release(0, true))
    #expect(tell(.release(0, false)) == [.scan(0, true)])
    #expect(try start() == [Self.begin])
  }
}
