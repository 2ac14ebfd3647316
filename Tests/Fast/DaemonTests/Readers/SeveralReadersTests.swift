import Bus
import Journal
import Names
import ReaderLink
import ScanGate
import Session
import TestSupport
import Testing

@testable import Daemon

/// Two readers: each has its own seat, and a fault of one does not affect the other.
struct SeveralReadersTests {
  private static let second: ObjectPath = "/org/tagroute/Tagroute1/readers/1"

  private static func login(_ sessions: (SessionKey, seat: String)...) -> LoginState {
    var login = LoginState()
    for (number, (key, seat)) in sessions.enumerated() {
      let path: ObjectPath = number == 0 ? "/session/first" : "/session/second"
      login.handle(.read(path, Samples.properties(key, seat: seat)))
    }
    login.handle(.synchronized)
    return login
  }

  /// Alice at seat0 with reader 0, Bob at seat1 with reader 1.
  private static func twoSeats(at now: TapQueue.Instant) -> DaemonState {
    var state = DaemonState(policy: .init(), isEnabled: true)
    _ = state.handle(.login(login((Samples.alice, "seat0"), (Samples.bob, "seat1"))), at: now)
    _ = state.register(":1.7", at: "/agent", for: [Samples.alice], at: now)
    _ = state.register(":1.8", at: "/agent", for: [Samples.bob], at: now)
    for (id, path) in [(0, Samples.reader), (1, second)] {
      _ = state.handle(.readerAdded(id, path: path, device: "a:\(id)", seat: "seat\(id)"), at: now)
      _ = state.handle(.reader(id, .phase(.ready(name: "x", device: "a:\(id)"), reached: nil)), at: now)
    }
    return state
  }

  @Test func `a tap goes to the session on the seat of its reader`() {
    let now = ManualClock().now
    var state = Self.twoSeats(at: now)
    let report = Samples.report(.message(Samples.message))
    #expect(
      DaemonStateTests.delivered(
        state.handle(.tag(0, report, epoch: state.readers[0]?.epoch ?? 0, id: "a", time: 1), at: now)) == [
          "a to :1.7"
        ])
    #expect(
      DaemonStateTests.delivered(
        state.handle(.tag(1, report, epoch: state.readers[1]?.epoch ?? 0, id: "b", time: 1), at: now)) == [
          "b to :1.8"
        ])
    // When Bob leaves his seat, only the reader of that seat stops.
    let left = state.handle(.login(Self.login((Samples.alice, "seat0"))), at: now)
    #expect(left.map(\.withoutEpoch).contains(.scan(1, false)))
    #expect(!left.map(\.withoutEpoch).contains(.scan(0, false)))
    #expect(
      DaemonStateTests.delivered(
        state.handle(.tag(1, report, epoch: state.readers[1]?.epoch ?? 0, id: "c", time: 1), at: now)) == [])
  }

  @Test func `events at a seat without a reader do not affect other seats`() {
    let now = ManualClock().now
    var state = Self.twoSeats(at: now)
    _ = state.handle(.readerRemoved(1), at: now)
    var login = Self.login((Samples.alice, "seat0"), (Samples.bob, "seat1"))
    login.handle(.changed("/session/second", ["LockedHint": .boolean(true)]))
    let actions = state.handle(.login(login), at: now) + (state.report(":1.8", ["camera": true], at: now) ?? [])
    #expect(!actions.contains { if case .pursue = $0 { true } else { false } })
    #expect(state.suspendReasons == [])
  }

  @Test func `a reader is lent only to the user at its seat`() throws {
    let now = ManualClock().now
    var state = Self.twoSeats(at: now)
    // Bob gets the first reader of his seat, not the first reader of the machine.
    #expect(try state.readerToRelease(nil, to: Samples.bob.uid) == 1)
    #expect(try state.readerToRelease(Self.second, to: Samples.bob.uid) == 1)
    func refusal(_ path: ObjectPath?, _ uid: UInt32) -> BusError? {
      do throws(BusError) {
        _ = try state.readerToRelease(path, to: uid)
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal(Samples.reader, Samples.bob.uid)?.name == Names.Errors.notAuthorized)
    #expect(refusal(nil, 4711)?.name == Names.Errors.notAuthorized)
    #expect(refusal("/nowhere", Samples.bob.uid) == BusError.notPossible("there is no reader /nowhere"))
    // After Bob has left he gets no reader, not even one that is already being closed for him.
    _ = state.handle(.login(Self.login((Samples.alice, "seat0"))), at: now)
    #expect(refusal(nil, Samples.bob.uid)?.name == Names.Errors.notAuthorized)
    #expect(throws: BusError.self) { try state.checkRelease(of: 1, to: Samples.bob.uid) }
    // With `Sessions=any` a loan does not end the reader session of another user.
    var policy = DaemonState.Policy()
    policy.servesAnySession = true
    state = DaemonState(policy: policy, isEnabled: true)
    _ = state.handle(.readerAdded(0, path: Samples.reader, device: "a:0", seat: "seat0"), at: now)
    _ = state.handle(.reader(0, .phase(.ready(name: "x", device: "a:0"), reached: nil)), at: now)
    let (_, actions) = try state.sessions.add(
      ReaderSessionRequest(), client: ":1.9", uid: Samples.alice.uid, pid: 1, reader: 0, readerPath: Samples.reader,
      at: now)
    _ = state.perform(actions) + state.evaluate(at: now)
    _ = state.handle(.reader(0, .phase(.inSession(1), reached: state.readers[0]?.epoch)), at: now)
    #expect(refusal(nil, Samples.bob.uid) != nil)
    #expect(try state.readerToRelease(nil, to: Samples.alice.uid) == 0)
  }

  @Test func `a reader that moves to another seat serves that seat`() {
    let now = ManualClock().now
    var state = Self.twoSeats(at: now)
    let before = state.readers[1]?.epoch ?? 0
    _ = state.handle(.readerMoved(1, seat: "seat0"), at: now)
    #expect(state.readers[1]?.properties.seat == "seat0")
    // A tag that the reader read before it received the new goal was put down at the other seat.
    let report = Samples.report(.message(Samples.message))
    #expect(DaemonStateTests.delivered(state.handle(.tag(1, report, epoch: before, id: "a", time: 1), at: now)) == [])
    #expect(
      DaemonStateTests.delivered(
        state.handle(.tag(1, report, epoch: state.readers[1]?.epoch ?? 0, id: "a", time: 1), at: now)) == [
          "a to :1.7"
        ])
    #expect(state.handle(.readerMoved(1, seat: "seat9"), at: now).map(\.withoutEpoch).contains(.scan(1, false)))
  }

  @Test func `a process sleeps while its reader is known to be away`() {
    let now = ManualClock().now
    var state = Self.twoSeats(at: now)
    func orders(_ event: DaemonState.Event) -> [DaemonState.Action] {
      state.handle(event, at: now).filter { if case .pursue = $0 { true } else { false } }.map(\.withoutEpoch)
    }
    #expect(orders(.readerAway(1, true)) == [])
    #expect(orders(.reader(1, .phase(.absent(reason: "unplugged"), reached: nil))) == [.scan(1, false)])
    #expect(orders(.readerAway(1, false)) == [.scan(1, true)])
    #expect(orders(.reader(1, .phase(.ready(name: "x", device: "a:1"), reached: nil))) == [])
    // The daemon keeps trying a reader that may appear unannounced, and a plugged-in reader that fails.
    #expect(orders(.reader(0, .phase(.absent(reason: "unplugged"), reached: nil))) == [])
    // A device that can be opened is present, even if it was reported as away.
    #expect(orders(.reader(1, .phase(.failed(reason: "x"), reached: nil))) == [])
    #expect(orders(.readerAway(1, true)) == [.scan(1, false)])
    #expect(orders(.reader(1, .phase(.ready(name: "x", device: "a:1"), reached: nil))) == [.scan(1, true)])
  }

  @Test func `a reason is logged when it changes and not at each try`() {
    var state = DaemonState(policy: .init(), isEnabled: true)
    let now = ManualClock().now
    _ = state.handle(.readerAdded(0, path: Samples.reader, device: "a:0", seat: "seat0"), at: now)
    let failed = DaemonState.Event.reader(0, .phase(.failed(reason: "it is taken"), reached: nil))
    #expect(state.handle(failed, at: now) == [.log(.warning, "reader a:0 has failed: it is taken")])
    #expect(state.readers[0]?.properties.stateReason == "it is taken")
    #expect(state.handle(failed, at: now) == [])
    #expect(state.handle(.reader(0, .phase(.absent(reason: "it is taken"), reached: nil)), at: now).count == 1)
    _ = state.handle(.reader(0, .phase(.ready(name: "x", device: "a:0"), reached: nil)), at: now)
    #expect(state.readers[0]?.properties.stateReason == "")
  }

  @Test func `the log lines of one reader are limited, and the other reader can still log`() {
    let clock = ManualClock()
    var state = Self.twoSeats(at: clock.now)
    var lines = 0
    for number in 0..<1000 {
      let events: [ReaderProcessEvent] = [
        .log(.error, "x"), .phase(.failed(reason: "\(number)"), reached: nil),
        .phase(.absent(reason: "\(number)"), reached: nil),
        .phase(.ready(name: "\(number)", device: "a:0"), reached: nil), .removed(placement: 1),
      ]
      for event in events {
        lines += state.handle(.reader(0, event), at: clock.now).count {
          if case .log(_, let line) = $0 { !line.contains("scanning") } else { false }
        }
      }
      let report = Samples.report(.problem(reason: "\(number)"))
      lines += state.handle(.tag(0, report, epoch: state.readers[0]?.epoch ?? 0, id: "a", time: 1), at: clock.now).count
    }
    #expect(lines <= 60 + 1 + 60 + 1 + 600 + 1)
    #expect(state.handle(.reader(1, .log(.error, "x")), at: clock.now) == [.log(.error, "reader x (a:1): x")])
  }

  @Test func `a failure is logged even if the reader logs too much`() {
    let now = ManualClock().now
    var policy = DaemonState.Policy()
    policy.logThreshold = .info
    var state = DaemonState(policy: policy, isEnabled: true)
    _ = state.handle(.readerAdded(0, path: Samples.reader, device: "a:0", seat: "seat0"), at: now)
    // Lines below the threshold do not use up the limit, for example those of a tag at the edge of the field.
    for _ in 0..<1000 {
      #expect(state.handle(.reader(0, .log(.debug, "x")), at: now) == [])
      #expect(state.handle(.reader(0, .removed(placement: 1)), at: now) == [])
    }
    #expect(state.handle(.reader(0, .log(.info, "x")), at: now) == [.log(.info, "reader a:0: x")])
    let report = Samples.report(.problem(reason: "empty"))
    #expect(state.handle(.tag(0, report, epoch: state.readers[0]?.epoch ?? 0, id: "a", time: 1), at: now).count == 1)
    for _ in 0..<1000 { _ = state.handle(.reader(0, .log(.error, "x")), at: now) }
    #expect(
      state.handle(.reader(0, .phase(.failed(reason: "y"), reached: nil)), at: now) == [
        .log(.warning, "reader a:0 has failed: y")
      ])
  }

  @Test func `log lines are written and limited while no reader is found`() {
    var state = DaemonState(policy: .init(), isEnabled: true)
    let now = ManualClock().now
    let absent = DaemonState.Event.reader(0, .phase(.absent(reason: "libnfc finds no reader"), reached: nil))
    #expect(
      state.handle(absent, at: now) == [
        .log(.notice, "the reader being searched for is absent: libnfc finds no reader")
      ])
    let lines = (0..<1000).flatMap { _ in state.handle(.reader(0, .log(.error, "x")), at: now) }
    #expect(lines.count == 60)
  }
}
