import Bus
import Names
import ReaderLink
import Testing

@testable import Daemon

/// Sessions, loans and the gate together, without a bus.
@Suite struct DaemonSessionStateTests {
  private static let now = SuspendingClock.now
  private static let path = "/org/tagroute/Tagroute1/readers/0" as ObjectPath
  private var state: DaemonState

  init() {
    var policy = DaemonState.Policy()
    policy.servesAnySession = true
    state = DaemonState(policy: policy, isEnabled: true)
    _ = state.handle(.readerAdded(0, path: Self.path, device: "pn532_uart:/dev/x", seat: "seat0"), at: Self.now)
    _ = state.handle(.reader(0, .state(.ready(name: "X", device: "pn532_uart:/dev/x"))), at: Self.now)
    _ = state.register(":1.7", at: "/agent", for: [SessionKey(id: nil, uid: 1000)], at: Self.now)
    _ = state.handle(.reader(0, .scanning(true)), at: Self.now)
  }

  private mutating func tell(_ event: DaemonState.Event) -> [DaemonState.Action] {
    state.handle(event, at: Self.now).filter { if case .log = $0 { false } else { true } }
  }

  private mutating func start() throws -> [DaemonState.Action] {
    let (_, actions) = try state.sessions.add(
      ReaderSessionRequest(), client: ":1.9", uid: 1000, pid: 1, reader: 0, readerPath: Self.path, at: Self.now)
    return (state.perform(actions) + state.evaluate(at: Self.now)).filter {
      if case .log = $0 { false } else { true }
    }
  }

  private static let begin = DaemonState.Action.session(.begin(0, ReaderSessionOptions(number: 1)))

  @Test mutating func scanningStopsForASessionAndComesBackWhenTheProcessIsDoneWithIt() throws {
    #expect(try start() == [Self.begin, .scan(0, false)])
    #expect(tell(.reader(0, .stopped)) == [])
    #expect(tell(.reader(0, .scanning(false))) == [])
    #expect(tell(.reader(0, .sessionBegan(1))) == [.session(.activated(1))])
    #expect(state.readers[0]?.properties.state == "in-session")
    // Over for its client; the reader is not free yet.
    #expect(tell(.invalidate(1, message: "")).count == 2)
    #expect(state.suspendReasons == ["reader-session"])
    #expect(tell(.reader(0, .sessionEnded(1))) == [.scan(0, true)])
  }

  @Test mutating func whoIsLockedOutLosesTheReader() throws {
    _ = try start()
    _ = tell(.reader(0, .sessionBegan(1)))
    let actions = state.report(":1.7", ["locked": true], at: Self.now) ?? []
    #expect(actions.contains(.session(.release(0, 1))))
    #expect(state.sessions[1]?.end == .sessionInactive)
  }

  @Test mutating func aSessionWaitsUntilALentReaderIsBackAndOpen() throws {
    #expect(tell(.release(0, true)) == [.lend(0, true)])
    #expect(tell(.reader(0, .lent(true))) == [])
    #expect(state.readers[0]?.properties.state == "released")
    #expect(try start() == [.scan(0, false)])
    #expect(tell(.release(0, false)) == [.lend(0, false)])
    #expect(tell(.reader(0, .lent(false))) == [])
    #expect(tell(.reader(0, .state(.ready(name: "X", device: "pn532_uart:/dev/x")))) == [Self.begin])
  }

  @Test mutating func aLoanThatFollowsAnotherCountsWhenTheDeviceIsClosedAgain() {
    _ = tell(.release(0, true))
    _ = tell(.reader(0, .lent(true)))
    #expect(state.readers[0]?.isLent == true)
    _ = tell(.release(0, false))
    #expect(tell(.release(0, true)) == [.lend(0, true)])
    #expect(state.readers[0]?.isLent == false)
    _ = tell(.reader(0, .lent(true)))
    #expect(state.readers[0]?.isLent == true)
  }

  @Test mutating func aMachineGoesToSleepOnlyOnceADeviceThatIsWantedByAnotherProgramIsClosed() throws {
    _ = try start()
    _ = tell(.reader(0, .stopped))
    _ = tell(.reader(0, .scanning(false)))
    _ = tell(.reader(0, .sessionBegan(1)))
    _ = tell(.release(0, true))
    // The process may still be in the middle of something.
    #expect(!state.areFieldsOff)
    _ = tell(.reader(0, .lent(true)))
    #expect(state.areFieldsOff)
  }

  @Test mutating func aLoanThatNeverCameAboutBlocksNothing() throws {
    _ = tell(.release(0, true))
    #expect(tell(.release(0, false)) == [.lend(0, false)])
    #expect(try start() == [Self.begin, .scan(0, false)])
  }
}
