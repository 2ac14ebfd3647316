import Bus
import Presence
import ReaderProtocol
import Settings
import Testing

@testable import Daemon

/// The reports of removed tags: which agent gets them, and when.
@Suite struct PlacedTapsTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  /// The reports among these actions, as "TAP to SENDER".
  private static func reported(_ actions: [DaemonState.Action]) -> [String] {
    actions.compactMap { if case .reportRemoval(let tap, let agent) = $0 { "\(tap) to \(agent.sender)" } else { nil } }
  }

  private mutating func stored(_ id: String, by sender: String = ":1.7") -> [String] {
    Self.reported(tell(.delivery(id: id, sender: sender, .stored)))
  }

  private mutating func removed(_ placement: UInt64 = 1) -> [String] {
    Self.reported(tell(.reader(0, .removed(placement: placement))))
  }

  @Test mutating func `the agent that has stored the tap gets the report, once`() {
    begin()
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
    #expect(stored("a") == [])
    #expect(removed(2) == [])
    #expect(removed() == ["a to :1.7"])
    #expect(removed() == [])
    #expect(state.placedTaps.count == 0)
  }

  @Test mutating func `a tag that is removed early is reported when the tap is stored`() {
    begin()
    _ = tap("a")
    #expect(removed() == [])
    #expect(Self.reported(tell(.delivery(id: "a", sender: ":1.7", .failed(reason: "NoReply")))) == [])
    #expect(stored("a") == ["a to :1.7"])
    #expect(stored("a") == [])
  }

  @Test mutating func `another agent gets no report`() {
    begin()
    _ = tap("a")
    #expect(stored("a") == [])
    _ = tell(.agentGone(sender: ":1.7"))
    #expect(register(Samples.alice, ":1.8") == [.scan(0, true)])
    #expect(removed() == [])
  }

  @Test mutating func `a refused tap has no report`() {
    begin()
    _ = tap("a")
    _ = tell(.delivery(id: "a", sender: ":1.7", .refused(reason: "x")))
    #expect(state.placedTaps.count == 0)
    #expect(removed() == [])
  }

  @Test mutating func `no removal is reported behind a lock`() {
    begin(policy: .init(scan: ScanPolicy(whenLocked: .hold)))
    _ = tap("a")
    #expect(stored("a") == [])
    _ = tell(.login(Self.login(locked: true)))
    #expect(removed() == [])
    #expect(Self.reported(tell(.login(Self.login(locked: false)))) == [])
    #expect(removed() == [])
  }

  @Test mutating func `a reader that is unplugged takes its tags with it`() {
    begin()
    _ = tap("a")
    #expect(stored("a") == [])
    #expect(Self.reported(tell(.readerRemoved(0))) == ["a to :1.7"])
  }

  @Test func `the tags of a reader are bounded, and those of another reader stay`() {
    var taps = PlacedTaps()
    taps.add("other", placement: 1, on: 1)
    for number in 0..<UInt64(3 * PlacedTaps.most) { taps.add("\(number)", placement: number, on: 0) }
    #expect(taps.count == PlacedTaps.most + 1)
    #expect(taps.stored("other", by: ":1.1") == nil)
    #expect(taps.removed(1, from: 1) == PlacedTaps.Removal(tap: "other", agent: ":1.1"))
    #expect(taps.removed(0, from: 0) == nil)
    #expect(taps.stored("0", by: ":1.1") == nil)
    taps.forget(reader: 0)
    #expect(taps.count == 0)
  }
}
