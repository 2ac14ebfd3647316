import Bus
import Journal
import ReaderLink
import ScanGate
import Session
import Testing

@testable import Daemon

/// Whose a tag is that was read.
@Suite struct DaemonTapTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  @Test mutating func aTapGoesToTheActiveSessionsAgent() throws {
    begin()
    let actions = tap("a")
    guard case .deliver(let tap, let agent) = try #require(actions.first(where: Self.isAct)) else {
      Issue.record("it was not delivered: \(actions)")
      return
    }
    #expect(agent.sender == ":1.7")
    #expect(tap.session == Samples.alice)
    let argument = try #require(tap.argument.asDictionary)
    #expect(Set(argument.keys) == ["id", "message", "technology", "uid", "reader", "time"])
    #expect(argument["message"]?.asBytes == Samples.message)
    #expect(argument["uid"]?.asBytes == [4, 1, 2, 3])
    #expect(argument["reader"]?.asObjectPath == Samples.reader)
    #expect(argument["time"]?.asUInt64 == 7)
    #expect(state.readers[0]?.properties.counters.messages == 1)
  }

  @Test mutating func `a user who registers again and refuses taps does not fill the journal`() {
    begin()
    _ = tap("a")
    var lines = 0
    var sender = ":1.7"
    for round in 0..<1000 {
      var actions = state.handle(.delivery(id: "a", sender: sender, .failed(reason: "NoReply")), at: clock.now)
      actions += state.handle(.agentGone(sender: sender), at: clock.now)
      sender = ":2.\(round)"
      actions += state.register(sender, at: "/agent", for: [Samples.alice], at: clock.now).actions
      lines += actions.count { if case .log = $0 { true } else { false } }
    }
    #expect(lines > 0 && lines <= UserLines.most + 61, "\(lines) lines")
  }

  @Test mutating func aTapOfOneUserNeverReachesAnother() {
    begin()
    stopsAtOnce = false
    let first = state.readers[0]?.epoch
    _ = tell(.agentGone(sender: ":1.7"))
    // Read while the goal to stop was on its way: nobody's.
    #expect(Self.delivered(tap("late", epoch: first)) == [])
    #expect(register(Samples.alice) == [.scan(0, true)])
    // So is what the reader had begun to read before it has heard of that.
    #expect(Self.delivered(tap("later", epoch: first)) == [])
    let second = state.readers[0]?.epoch
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    _ = tell(.delivery(id: "a", sender: ":1.7", .failed(reason: "NoReply")))
    _ = tell(.agentGone(sender: ":1.7"))
    let switched = Self.login(
      .read(Self.session, Self.properties(active: false)), .read("/bob", Self.properties(Samples.bob)))
    _ = tell(.login(switched))
    #expect(register(Samples.bob, ":1.8") == [.scan(0, true)])
    #expect(Self.delivered(tap("alices", epoch: second)) == [])
    #expect(Self.delivered(tap("b")) == ["b to :1.8"])
    clock.advance(.seconds(30))
    #expect(Self.delivered(state.handle(.tick, at: clock.now)) == [])
    #expect(Self.delivered(register(Samples.alice, ":1.9")) == ["a to :1.9"])
  }

  @Test mutating func withHoldATapWaitsForTheUnlocking() {
    begin(policy: .init(scan: ScanPolicy(whenLocked: .hold)))
    var login = Self.login(.read(Self.session, Self.properties()))
    login.handle(.changed(Self.session, ["LockedHint": .boolean(true)]))
    #expect(tell(.login(login)) == [])
    #expect(Self.delivered(tap("a")) == [])
    clock.advance(.seconds(600))
    #expect(tell(.tick) == [])
    login.handle(.changed(Self.session, ["LockedHint": .boolean(false)]))
    #expect(Self.delivered(tell(.login(login))) == ["a to :1.7"])
  }

  @Test mutating func whatWasReadTooLateIsNobodysAfterTheUnlockingEither() {
    begin()
    stopsAtOnce = false
    let before = state.readers[0]?.epoch
    _ = tell(.login(Self.login(.read(Self.session, Self.properties(locked: true)))))
    #expect(Self.delivered(tap("a", epoch: before)) == [])
    // The reader does not say again what it has said: nothing comes but what is tapped from here on.
    #expect(tell(.login(Self.login(.read(Self.session, Self.properties())))) == [.scan(0, true)])
    #expect(Self.delivered(tap("a", epoch: before)) == [])
    #expect(state.queue.deadline == nil)
    #expect(Self.delivered(tap("b")).count == 1)
  }

  @Test mutating func aTagThatCannotBeReadIsOneLineAndNoTap() {
    begin()
    let report = Samples.report(.problem(reason: "the NDEF file is shorter than its length says"))
    let line = "type-2 tag on reader PN532 (pn532_uart:/dev/x): the NDEF file is shorter than its length says"
    #expect(state.handle(.tag(0, report, epoch: 1, id: "a", time: 7), at: clock.now) == [.log(.info, line)])
    #expect(state.readers[0]?.properties.counters.problems == 1)
  }

  @Test mutating func aTapsContentIsInNoLogLine() {
    begin()
    let lines = tap("a").compactMap { if case .log(_, let line) = $0 { line } else { nil } }
    #expect(!lines.isEmpty)
    for line in lines { #expect(!line.contains("example") && !line.contains("4123")) }
  }

  @Test mutating func smartPostersMayBeSwitchedOff() {
    begin()
    #expect(Self.delivered(tap("a", Samples.smartPoster)) == ["a to :1.7"])
    begin(policy: .init(smartPosters: false))
    #expect(Self.delivered(tap("b", Samples.smartPoster)) == [])
    #expect(Self.delivered(tap("c")) == ["c to :1.7"])
  }
}
