import Bus
import Names
import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// Reader sessions, loans and the gate together, without a bus.
@Suite struct DaemonSessionStateTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(servesAnySession: true), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = false

  init() {
    _ = tell(.readerAdded(0, path: Samples.reader, device: "pn532_uart:/dev/x", seat: "seat0"))
    _ = tell(.reader(0, .phase(Samples.ready, reached: 0)))
    _ = register(LoginSessionKey(id: nil, uid: 1000))
    _ = reach(.scanning)
  }

  /// The reader process reports that it has reached this phase.
  private mutating func reach(_ phase: ReaderPhase) -> [DaemonState.Action] {
    tell(.reader(0, .phase(phase, reached: state.readers[0]?.epoch)))
  }

  private mutating func start() throws -> [DaemonState.Action] {
    let (_, actions) = try state.sessions.add(
      ReaderSessionRequest(), client: ":1.9", uid: 1000, pid: 1, reader: 0, readerPath: Samples.reader, at: clock.now)
    return acts(state.perform(actions) + state.evaluate(at: clock.now))
  }

  private static func goal(_ goal: ReaderGoal) -> DaemonState.Action { .pursue(0, epoch: 0, goal) }
  private static let beginning = goal(
    .session(TagSessionOptions(number: 1, technologies: Samples.libnfcTechnologies)))

  @Test mutating func `scanning stops for a session and resumes once the reader process has ended it`() throws {
    #expect(try start() == [Self.beginning])
    #expect(reach(.inSession(1)) == [.session(.activated(1))])
    #expect(state.readers[0]?.properties.state == "in-session")
    // The session is over for its client, but the reader is not free yet.
    #expect(tell(.invalidate(1, message: "")).count == 2)
    #expect(state.suspendReasons == ["reader-session"])
    #expect(reach(Samples.ready) == [.scan(0, true)])
  }

  @Test mutating func `a lock ends the reader session of the user`() throws {
    _ = try start()
    _ = reach(.inSession(1))
    let actions = state.replaceReport(of: ":1.7", with: ["locked": true], at: clock.now) ?? []
    #expect(acts(actions).contains(.scan(0, false)))
    #expect(state.sessions[1]?.end == .sessionInactive)
  }

  @Test mutating func `a session that ends before its process hears of it leaves the reader free`() throws {
    _ = state.replaceReport(of: ":1.7", with: ["locked": true], at: clock.now)
    _ = try start()
    #expect(state.sessions[1]?.end == .sessionInactive)
    let actions = state.replaceReport(of: ":1.7", with: ["locked": false], at: clock.now) ?? []
    #expect(acts(actions).contains(.scan(0, true)))
  }

  @Test mutating func `a session whose device fails is lost, and the next goal is to scan`() throws {
    _ = try start()
    _ = reach(.inSession(1))
    let actions = tell(.reader(0, .phase(.failed(reason: "x"), reached: nil)))
    #expect(actions.last == .scan(0, true))
    #expect(state.sessions[1]?.end == .readerLost)
  }

  @Test mutating func `a session waits until a lent reader is back and open`() throws {
    tell(.release(0, true), expecting: [Self.goal(.lent)])
    #expect(reach(.released) == [])
    #expect(state.readers[0]?.properties.state == "released")
    #expect(try start() == [])
    tell(.release(0, false), expecting: [.scan(0, false)])
    #expect(reach(.released) == [])
    #expect(reach(Samples.ready) == [Self.beginning])
  }

  @Test mutating func `reading is available to the user at a reader that works`() {
    begin()
    let user = Samples.alice.uid
    #expect(state.isReadingAvailable(to: user) && !state.isReadingAvailable(to: Samples.bob.uid))
    _ = tell(.login(Self.login(locked: true)))
    #expect(!state.isReadingAvailable(to: user))
    _ = tell(.login(Self.login(.read(Self.session, Samples.properties(active: false)))))
    #expect(!state.isReadingAvailable(to: user))
    _ = tell(.login(Self.login(locked: false)))
    // A session can wait for a lent reader.
    _ = tell(.release(0, true))
    _ = reach(.released)
    #expect(state.isReadingAvailable(to: user))
    for phase in [ReaderPhase.failed(reason: "x"), .absent(reason: "y")] {
      _ = tell(.reader(0, .phase(phase, reached: nil)))
      #expect(!state.isReadingAvailable(to: user))
    }
    _ = tell(.readerRemoved(0))
    #expect(!state.isReadingAvailable(to: user))
  }

  @Test mutating func `a second loan begins only once the device is closed again`() {
    _ = tell(.release(0, true))
    _ = reach(.released)
    #expect(state.readers[0]?.isLent == true)
    _ = tell(.release(0, false))
    tell(.release(0, true), expecting: [Self.goal(.lent)])
    #expect(state.readers[0]?.isLent == false)
    _ = reach(.released)
    #expect(state.readers[0]?.isLent == true)
  }

  @Test mutating func `the machine sleeps only once the device of a requested loan is closed`() throws {
    _ = try start()
    _ = reach(.inSession(1))
    _ = tell(.release(0, true))
    // The reader process may still be in the middle of an operation.
    #expect(!state.readers.areFieldsOff)
    _ = reach(.released)
    #expect(state.readers.areFieldsOff)
  }

  @Test mutating func `a loan that ends before it begins does not block the reader`() throws {
    _ = tell(.release(0, true))
    tell(.release(0, false), expecting: [.scan(0, true)])
    #expect(try start() == [Self.beginning])
  }
}
