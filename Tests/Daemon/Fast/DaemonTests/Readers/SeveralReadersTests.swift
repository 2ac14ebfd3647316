import Bus
import Journal
import Names
import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// Two readers: each has its own seat, and a fault of one does not affect the other.
struct SeveralReadersTests: DaemonStateSuite {
  private static let second: ObjectPath = "/org/tagroute/Tagroute1/readers/1"
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = false

  private static func seats(_ sessions: (LoginSessionKey, seat: String)...) -> LoginState {
    var login = LoginState()
    for (number, (key, seat)) in sessions.enumerated() {
      let path: ObjectPath = number == 0 ? "/session/first" : "/session/second"
      login.handle(.read(path, Samples.properties(key, seat: seat)))
    }
    login.handle(.synchronized)
    return login
  }

  /// Alice at seat0 with reader 0, Bob at seat1 with reader 1.
  init() {
    _ = tell(.login(Self.seats((Samples.alice, "seat0"), (Samples.bob, "seat1"))))
    _ = register(Samples.alice)
    _ = register(Samples.bob, ":1.8")
    for (id, path) in [(0, Samples.reader), (1, Self.second)] {
      _ = tell(.readerAdded(id, path: path, device: "a:\(id)", seat: "seat\(id)"))
      _ = tell(.reader(id, .phase(.ready(name: "x", device: "a:\(id)"), reached: nil)))
    }
  }

  /// Starts again, with one reader that is not open, and no user at the machine.
  private mutating func begin(with policy: DaemonState.Policy) {
    state = DaemonState(policy: policy, isEnabled: true)
    _ = tell(.readerAdded(0, path: Samples.reader, device: "a:0", seat: "seat0"))
  }

  private mutating func orders(_ event: DaemonState.Event) -> [DaemonState.Action] {
    tell(event).filter { if case .pursue = $0 { true } else { false } }
  }

  private mutating func handle(_ event: ReaderProcessEvent, from reader: Int = 0) -> [DaemonState.Action] {
    state.handle(.reader(reader, event), at: clock.now)
  }

  @Test mutating func `a tap goes to the session on the seat of its reader`() {
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(Self.delivered(tap("b", on: 1)) == ["b to :1.8"])
    // When Bob leaves his seat, only the reader of that seat stops.
    let left = tell(.login(Self.seats((Samples.alice, "seat0"))))
    #expect(left.contains(.scan(1, false)) && !left.contains(.scan(0, false)))
    #expect(Self.delivered(tap("c", on: 1)) == [])
  }

  @Test mutating func `events at a seat without a reader do not affect other seats`() {
    _ = tell(.readerRemoved(1))
    var login = Self.seats((Samples.alice, "seat0"), (Samples.bob, "seat1"))
    login.handle(.changed("/session/second", ["LockedHint": .boolean(true)]))
    let actions = tell(.login(login)) + (report(["camera": true], ":1.8") ?? [])
    #expect(!actions.contains { if case .pursue = $0 { true } else { false } })
    #expect(state.suspendReasons == [])
  }

  @Test mutating func `a reader is lent only to the user at its seat`() throws {
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
    _ = tell(.login(Self.seats((Samples.alice, "seat0"))))
    #expect(refusal(nil, Samples.bob.uid)?.name == Names.Errors.notAuthorized)
    #expect(throws: BusError.self) { try state.checkRelease(of: 1, to: Samples.bob.uid) }
    // With `Sessions=any` a loan does not end the reader session of another user.
    begin(with: .init(servesAnySession: true))
    _ = handle(.phase(.ready(name: "x", device: "a:0"), reached: nil))
    let (_, actions) = try state.sessions.add(
      ReaderSessionRequest(), client: ":1.9", uid: Samples.alice.uid, pid: 1, reader: 0, readerPath: Samples.reader,
      at: clock.now)
    _ = state.perform(actions) + state.evaluate(at: clock.now)
    _ = handle(.phase(.inSession(1), reached: state.readers[0]?.epoch))
    #expect(refusal(nil, Samples.bob.uid) != nil)
    #expect(try state.readerToRelease(nil, to: Samples.alice.uid) == 0)
  }

  @Test mutating func `a reader that moves to another seat serves that seat`() {
    let before = state.readers[1]?.epoch
    _ = tell(.readerMoved(1, seat: "seat0"))
    #expect(state.readers[1]?.properties.seat == "seat0")
    // A tag that the reader read before it received the new goal was put down at the other seat.
    #expect(Self.delivered(tap("a", on: 1, epoch: before)) == [])
    #expect(Self.delivered(tap("a", on: 1)) == ["a to :1.7"])
    #expect(tell(.readerMoved(1, seat: "seat9")).contains(.scan(1, false)))
  }

  @Test mutating func `a process sleeps while its reader is known to be away`() {
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

  @Test mutating func `a reason is logged when it changes and not at each try`() {
    begin(with: .init())
    let failed = ReaderProcessEvent.phase(.failed(reason: "it is taken"), reached: nil)
    #expect(handle(failed) == [.log(.warning, "reader a:0 has failed: it is taken")])
    #expect(state.readers[0]?.properties.stateReason == "it is taken")
    #expect(handle(failed) == [])
    #expect(handle(.phase(.absent(reason: "it is taken"), reached: nil)).count == 1)
    _ = handle(.phase(.ready(name: "x", device: "a:0"), reached: nil))
    #expect(state.readers[0]?.properties.stateReason == "")
  }

  @Test mutating func `the log lines of one reader are limited, and the other reader can still log`() {
    var lines = 0
    for number in 0..<1000 {
      let events: [ReaderProcessEvent] = [
        .log(.error, "x"), .phase(.failed(reason: "\(number)"), reached: nil),
        .phase(.absent(reason: "\(number)"), reached: nil),
        .phase(.ready(name: "\(number)", device: "a:0"), reached: nil), .removed(placement: 1),
      ]
      for event in events {
        lines += handle(event).count { if case .log(_, let line) = $0 { !line.contains("scanning") } else { false } }
      }
      lines += tap("a", .problem(reason: "\(number)")).count
    }
    #expect(lines <= 60 + 1 + 60 + 1 + 600 + 1)
    #expect(handle(.log(.error, "x"), from: 1) == [.log(.error, "reader x (a:1): x")])
  }

  @Test mutating func `a failure is logged even if the reader logs too much`() {
    begin(with: .init(logThreshold: .info))
    // Lines below the threshold do not use up the limit, for example those of a tag at the edge of the field.
    for _ in 0..<1000 {
      #expect(handle(.log(.debug, "x")) == [])
      #expect(handle(.removed(placement: 1)) == [])
    }
    #expect(handle(.log(.info, "x")) == [.log(.info, "reader a:0: x")])
    #expect(tap("a", .problem(reason: "empty")).count == 1)
    for _ in 0..<1000 { _ = handle(.log(.error, "x")) }
    #expect(handle(.phase(.failed(reason: "y"), reached: nil)) == [.log(.warning, "reader a:0 has failed: y")])
  }

  @Test mutating func `log lines are written and limited while no reader is found`() {
    state = DaemonState(policy: .init(), isEnabled: true)
    #expect(
      handle(.phase(.absent(reason: "libnfc finds no reader"), reached: nil)) == [
        .log(.notice, "the reader being searched for is absent: libnfc finds no reader")
      ])
    #expect((0..<1000).reduce(0) { count, _ in count + handle(.log(.error, "x")).count } == 60)
  }
}

/// A reader that waits for another program, and one that can read other tags than those of libnfc.
@Suite struct WaitingReaderTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  private var properties: RosterReader.Properties? { state.readers[0]?.properties }

  @Test mutating func `the reason is shown in any state, until the wait or the state ends`() {
    begin()
    _ = tell(.reader(0, .waiting(reason: "gpg has the card")))
    #expect(properties?.state == "scanning" && properties?.stateReason == "gpg has the card")
    // The wait does not keep the reader from anything else.
    _ = tell(.enabled(false))
    #expect(properties?.state == "ready" && properties?.stateReason == "gpg has the card")
    _ = tell(.reader(0, .waiting(reason: "")))
    #expect(properties?.stateReason == "")
    _ = tell(.reader(0, .waiting(reason: "x")))
    _ = tell(.reader(0, .phase(.absent(reason: "unplugged"), reached: nil)))
    #expect(properties?.state == "absent" && properties?.stateReason == "unplugged")
    _ = tell(.reader(0, .waiting(reason: "late")))
    #expect(properties?.stateReason == "unplugged")
    _ = tell(.reader(0, .phase(Samples.ready, reached: nil)))
    #expect(properties?.stateReason == "")
  }

  @Test mutating func `each reader looks for what it can read`() {
    begin()
    let path = Samples.reader
    _ = tell(.readerAdded(1, path: path, device: "pcsc:Example NFC 00 00", seat: "seat0"))
    #expect(state.readers[1]?.properties.technologies == TagType.readable)
    var policy = DaemonState.Policy()
    policy.polling.technologies = [.type5]
    let actions = tell(.policy(policy))
    #expect(state.readers[0]?.properties.technologies == [] && state.readers[1]?.properties.technologies == [.type5])
    // A reader keeps its field off if it cannot read any of the wanted tags.
    #expect(actions.map(\.withoutEpoch).contains(.pursue(0, epoch: 0, .off)))
    #expect(!actions.map(\.withoutEpoch).contains(.pursue(0, epoch: 0, .scan(policy.polling))))
  }

  @Test mutating func `a session for Type 5 gets a reader for it`() {
    begin()
    _ = tell(.readerAdded(1, path: Samples.reader, device: "pcsc:Example NFC 00 00", seat: "seat0"))
    _ = tell(.reader(1, .phase(Samples.ready, reached: 0)))
    #expect(state.reader(for: Samples.alice.uid) == 0)
    #expect(state.reader(for: Samples.alice.uid, reading: [.type5, .type2]) == 0)
    #expect(state.reader(for: Samples.alice.uid, reading: [.type5]) == 1)
    let options = TagSessionOptions(number: 1, technologies: [.type2, .type5], systemCodes: [3])
    let limited = state.readers[0].map(options.limited(to:))
    #expect(limited == TagSessionOptions(number: 1, technologies: [.type2], systemCodes: [3]))
  }

  /// The service refuses a session, and another choice of its tags, if `canRead` is false.
  @Test mutating func `a reader of pcscd refuses a session for Type 5 if its model cannot read it`() {
    begin()
    let acr1252 = PCSCReader.Identity(vendor: 0x072F, product: 0x223B)
    _ = tell(.readerAdded(1, path: Samples.reader, device: "pcsc:\(PCSCSamples.picc)", seat: "seat0"))
    _ = tell(.readerAdded(2, path: Samples.reader, device: "pcsc:Example 00 00", seat: "seat0", identity: acr1252))
    _ = tell(.readerAdded(3, path: Samples.reader, device: "pcsc:Example 01 00", seat: "seat0"))
    let type5 = (0...3).map { state.readers[$0]?.canRead(some: [.type5]) }
    #expect(type5 == [false, false, false, true])
    let others = (0...3).map { state.readers[$0]?.canRead(some: [.type5, .type2]) }
    #expect(others == [true, true, true, true])
    #expect(state.readers[2]?.technologies(among: TagType.readable).contains(.type5) == false)
    #expect(state.readers[2]?.properties.technologies.contains(.type5) == false)
  }

  @Test func `the refusal names the tags, and Type 5 alone needs an explanation`() {
    #expect(BusError.cannotRead([.type1]).message == "the reader cannot read type-1")
    #expect(
      BusError.cannotRead([.type1, .type5]).message.hasPrefix("the reader cannot read type-1, type-5. Only some"))
  }
}
