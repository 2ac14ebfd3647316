import Bus
import Journal
import Presence
import ReaderProtocol
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
      Issue.record("the tap was not delivered: \(actions)")
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
