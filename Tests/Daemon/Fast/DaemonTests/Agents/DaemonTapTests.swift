import Bus
import Journal
import Presence
import ReaderProtocol
import Rig
import Settings
import Testing

@testable import Daemon

/// Which agent receives a tag that was read.
@Suite struct DaemonTapTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  @Test mutating func `a tap goes to the agent of the active session`() throws {
    begin()
    let actions = tap("a")
    guard case .deliver(let tap, let agent) = try #require(actions.first(where: Self.isAct)) else {
      throw RigError("the tap was not delivered: \(actions)")
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

  @Test mutating func `a user whose agents fail a tap and register again does not fill the journal`() {
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

  @Test(arguments: [TagReport.Content.message(Samples.message), .bare(reason: "blank")])
  mutating func `with WhenLocked=hold a tap and a bare tag wait for the unlock`(content: TagReport.Content) {
    begin(policy: .init(scan: ScanPolicy(whenLocked: .hold)))
    tell(.login(Self.login(locked: false, true)), expecting: [])
    #expect(Self.delivered(tap("a", content)) == [])
    clock.advance(.seconds(600))
    tell(.tick, expecting: [])
    #expect(Self.delivered(tell(.login(Self.login(locked: false, true, false)))) == ["a to :1.7"])
  }

  @Test mutating func `an unreadable tag causes one log line and no tap`() {
    begin()
    let line = "type-2 tag on reader PN532 (pn532_uart:/dev/x): the NDEF file is shorter than its length says"
    #expect(tap("a", .problem(reason: "the NDEF file is shorter than its length says")) == [.log(.info, line)])
    #expect(state.readers[0]?.properties.counters.problems == 1)
  }

  @Test mutating func `a damaged tag reaches the agent with what is on it`() throws {
    begin()
    let actions = tap("a", .damaged(reason: "it is cut off", contents: [0xD1, 1]))
    #expect(Self.delivered(actions) == ["a to :1.7"])
    for case .deliver(let tap, _) in actions {
      let argument = try #require(tap.argument.asDictionary)
      #expect(argument["message"]?.asBytes == [0xD1, 1] && argument["damage"]?.asString == "it is cut off")
    }
    #expect(state.readers[0]?.properties.counters.problems == 1)
  }

  @Test mutating func `a bare tag reaches the agent like a tap, with an empty message`() throws {
    begin()
    let actions = tap("a", .bare(reason: "blank"))
    #expect(Self.delivered(actions) == ["a to :1.7"])
    for case .deliver(let tap, _) in actions {
      let argument = try #require(tap.argument.asDictionary)
      #expect(argument["message"]?.asBytes == [])
      #expect(argument["uid"]?.asBytes == [4, 1, 2, 3])
      #expect(argument["technology"] == .string("type-2"))
      #expect(argument["reader"]?.asObjectPath == Samples.reader)
    }
    let lines = actions.compactMap { if case .log(_, let line) = $0 { line } else { nil } }
    #expect(lines.count == 1 && lines[0].hasPrefix("tap a (type-2, no message)") && lines[0].hasSuffix(": blank"))
    let counters = try #require(state.readers[0]?.properties.counters)
    #expect(counters.placements == 1 && counters.messages == 0 && counters.problems == 0)
  }

  @Test mutating func `a bare tag that was read before the lock is dropped`() {
    begin()
    let early = state.readers[0]?.epoch
    _ = tell(.login(Self.login(locked: true)))
    #expect(Self.delivered(tap("a", .bare(reason: "blank"), epoch: early)) == [])
    #expect(Self.delivered(tell(.login(Self.login(locked: false)))) == [])
  }

  @Test mutating func `no log line contains the content of a tap`() {
    begin()
    let lines = tap("a").compactMap { if case .log(_, let line) = $0 { line } else { nil } }
    #expect(!lines.isEmpty)
    for line in lines {
      #expect(!line.contains("example"))
      // The UID in any notation, without its separators.
      let digits = line.filter(\.isHexDigit)
      #expect(!digits.contains("04010203") && !digits.contains("4123"))
    }
  }

  @Test mutating func `Smart Posters can be turned off`() {
    begin()
    #expect(Self.delivered(tap("a", .message(Samples.smartPoster))) == ["a to :1.7"])
    begin(policy: .init(smartPosters: false))
    #expect(Self.delivered(tap("b", .message(Samples.smartPoster))) == [])
    #expect(Self.delivered(tap("c")) == ["c to :1.7"])
  }

  @Test mutating func `without Smart Posters, the link of an absolute-URI record remains`() {
    begin(policy: .init(smartPosters: false))
    let link = Array("https://example.com/a".utf8)
    // The poster begins the message, and the link ends it.
    let both = [0x91] + Samples.smartPoster.dropFirst() + [0x53, UInt8(link.count), 0] + link
    #expect(Self.delivered(tap("a", .message(both))) == ["a to :1.7"])
  }
}

@Suite struct TapQueueTests {
  private var queue = TapQueue()
  private var clock = ManualClock()
  private let agent = Samples.agent()

  private mutating func tell(_ event: TapQueue.Event) -> [TapQueue.Action] { queue.handle(event, at: clock.now) }

  private mutating func read(_ id: String, held: Bool = false) -> [TapQueue.Action] {
    tell(.read(Samples.tap(id), held: held))
  }

  private mutating func finish(
    _ id: String, _ outcome: TapQueue.Outcome, by sender: String = ":1.7"
  ) -> [TapQueue.Action] { tell(.finished(id: id, sender: sender, outcome)) }

  @Test mutating func `a tap goes only to the agent of its session`() {
    #expect(tell(.agent(Samples.bob, Samples.agent(":1.9", of: Samples.bob))) == [])
    #expect(read("a") == [])
    #expect(tell(.agent(Samples.alice, agent)) == [.deliver(Samples.tap("a"), to: agent)])
    #expect(finish("a", .stored) == [.done(Samples.tap("a"))])
    #expect(queue.count == 0)
    #expect(queue.deadline == nil)
  }

  @Test mutating func `the taps of a session are delivered in order, one at a time`() {
    _ = tell(.agent(Samples.alice, agent))
    #expect(read("a") == [.deliver(Samples.tap("a"), to: agent)])
    #expect(read("b") == [])
    #expect(finish("a", .stored) == [.done(Samples.tap("a")), .deliver(Samples.tap("b"), to: agent)])
  }

  @Test mutating func `the next agent receives the unanswered tap of an agent that died`() {
    _ = tell(.agent(Samples.alice, Samples.agent(":1.7")))
    _ = read("a")
    #expect(tell(.agent(Samples.alice, nil)) == [])
    #expect(finish("a", .failed(reason: "NoReply")) == [])
    let successor = Samples.agent(":1.8")
    #expect(tell(.agent(Samples.alice, successor)) == [.deliver(Samples.tap("a"), to: successor)])
    // A late failure of the first agent does not affect the delivery to the second one.
    #expect(finish("a", .failed(reason: "NoReply")) == [])
    #expect(finish("a", .stored, by: ":1.8") == [.done(Samples.tap("a"))])
  }

  @Test mutating func `a failed tap is retried with growing delays`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    for delay in [250, 500, 1000, 2000, 4000, 8000, 8000] {
      let failed = finish("a", .failed(reason: "Failed"))
      #expect(failed == [.postpone(Samples.tap("a"), reason: "Failed")])
      #expect(queue.deadline == clock.now.advanced(by: .milliseconds(delay)))
      clock.advance(.milliseconds(delay - 1))
      #expect(tell(.tick) == [])
      clock.advance(.milliseconds(1))
      #expect(tell(.tick) == [.deliver(Samples.tap("a"), to: agent)])
    }
  }

  @Test mutating func `a tap that the agent refuses is not sent again`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    _ = read("b")
    #expect(
      finish("a", .refused(reason: "InvalidArgument")) == [
        .drop(Samples.tap("a"), reason: "its agent refused it: InvalidArgument"),
        .deliver(Samples.tap("b"), to: agent),
      ])
  }

  @Test mutating func `a tap waits for sixty seconds and no longer`() {
    _ = read("a")
    clock.advance(.seconds(30))
    _ = read("b")
    #expect(queue.deadline == clock.now.advanced(by: .seconds(30)))
    clock.advance(.seconds(30))
    #expect(tell(.tick) == [.drop(Samples.tap("a"), reason: "no agent accepted it within 60 seconds")])
    clock.advance(.seconds(29))
    #expect(tell(.agent(Samples.alice, Samples.agent())) == [.deliver(Samples.tap("b"), to: Samples.agent())])
  }

  @Test mutating func `sixteen taps can wait, and a newer tap drops the oldest one`() {
    for number in 1...16 { #expect(read("\(number)") == []) }
    #expect(read("17") == [.drop(Samples.tap("1"), reason: "16 newer ones wait for its agent")])
    #expect(queue.count == 16)
    #expect(tell(.agent(Samples.alice, Samples.agent())) == [.deliver(Samples.tap("2"), to: Samples.agent())])
  }

  @Test mutating func `a held tap waits for the unlock without a time limit`() {
    _ = tell(.agent(Samples.alice, Samples.agent()))
    #expect(read("a", held: true) == [])
    #expect(queue.deadline == nil)
    clock.advance(.seconds(3600))
    #expect(tell(.tick) == [])
    #expect(tell(.open(Samples.alice, true)) == [.deliver(Samples.tap("a"), to: Samples.agent())])
    #expect(queue.deadline == clock.now.advanced(by: .seconds(60)))
  }

  @Test mutating func `no tap is delivered while the session is locked`() {
    #expect(read("a") == [])
    #expect(tell(.open(Samples.alice, false)) == [])
    #expect(tell(.agent(Samples.alice, Samples.agent())) == [])
    #expect(tell(.open(Samples.alice, true)) == [.deliver(Samples.tap("a"), to: Samples.agent())])
  }

  @Test mutating func `the taps of a session are dropped when the session ends`() {
    _ = read("a", held: true)
    #expect(queue.waitingSessions == [Samples.alice])
    #expect(tell(.sessionEnded(Samples.alice)) == [.drop(Samples.tap("a"), reason: "its session has ended")])
    #expect(queue.waitingSessions == [])
  }

  @Test mutating func `a reply for a dropped tap frees the agent`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    clock.advance(.seconds(60))
    #expect(tell(.tick) == [.drop(Samples.tap("a"), reason: "no agent accepted it within 60 seconds")])
    #expect(finish("a", .stored) == [])
    #expect(read("b") == [.deliver(Samples.tap("b"), to: agent)])
  }

  @Test mutating func `a retry delay ends with the last tap that waited for it`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    clock.advance(.seconds(60) - .milliseconds(1))
    #expect(finish("a", .failed(reason: "Failed")) == [.postpone(Samples.tap("a"), reason: "Failed")])
    clock.advance(.milliseconds(1))
    #expect(tell(.tick) == [.drop(Samples.tap("a"), reason: "no agent accepted it within 60 seconds")])
    #expect(queue.deadline == nil)
    // The next tap is delivered at once, and its first failure has the shortest delay.
    #expect(read("b") == [.deliver(Samples.tap("b"), to: agent)])
    _ = finish("b", .failed(reason: "Failed"))
    #expect(queue.deadline == clock.now.advanced(by: TapQueue.retryDelay))
  }
}

@Suite struct TapTests {
  @Test func `ids are random UUIDs`() {
    #expect(DetectedTap.makeID((0, 0)) == "00000000-0000-4000-8000-000000000000")
    #expect(DetectedTap.makeID((.max, .max)) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    #expect(
      DetectedTap.makeID((0x0123_4567_89AB_CDEF, 0x0123_4567_89AB_CDEF)) == "01234567-89ab-4def-8123-456789abcdef")
    #expect(Set((0..<100).map { _ in DetectedTap.makeID() }).count == 100)
  }

  @Test func `a summary contains no content`() {
    #expect(Samples.tap("x").summary == "tap x (type-2, message of 5 bytes)")
  }
}
