import Bus
import Names
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
    actions.compactMap { if case .tagRemoved(let tap, let agent) = $0 { "\(tap) to \(agent.sender)" } else { nil } }
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
    #expect(state.agents.placedTaps.count == 0)
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
    #expect(state.agents.placedTaps.count == 0)
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

/// A tag that drops out for a moment.
@Suite struct HeldRemovalsTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true
  private static let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]

  private static func report(
    _ number: UInt64, _ uid: [UInt8] = uid, _ technology: TagType = .type2, _ content: TagReport.Content? = nil
  ) -> TagReport {
    TagReport(
      placement: Placement(number: number, technology: technology, uid: uid),
      content: content ?? .message(Samples.message))
  }

  private mutating func prepare() {
    var policy = DaemonState.Policy()
    policy.removalDelay = .milliseconds(400)
    begin(policy: policy)
  }

  /// The taps that are delivered, and those with removed tags.
  private mutating func tell(_ event: DaemonState.Event) -> [String] {
    state.handle(event, at: clock.now).compactMap { action in
      switch action {
      case .deliver(let tap, _): tap.id
      case .tagRemoved(let tap, _): "\(tap) removed"
      default: nil
      }
    }
  }

  private mutating func read(_ id: String, _ report: TagReport) -> [String] {
    let taps = tell(.tag(0, report, epoch: state.readers[0]?.epoch ?? 0, id: id, time: 7))
    return taps + tell(.delivery(id: id, sender: ":1.7", .stored))
  }

  private mutating func remove(_ placement: UInt64) -> [String] { tell(.reader(0, .removed(placement: placement))) }

  @Test mutating func `a tag that is back in time was not removed`() {
    prepare()
    #expect(read("a", Self.report(1)) == ["a"])
    for number in 2..<20 as Range<UInt64> {
      #expect(remove(number - 1) == [])
      clock.advance(.milliseconds(399))
      #expect(tell(.tick) == [])
      #expect(read("b", Self.report(number)) == [])
    }
    #expect(remove(19) == [])
    #expect(state.deadline == clock.now + .milliseconds(400))
    clock.advance(.milliseconds(400))
    #expect(tell(.tick) == ["a removed"])
    #expect(state.readers.heldRemovals.count == 0 && state.readers.heldRemovals.deadline == nil)
    #expect(read("c", Self.report(20)) == ["c"])
  }

  @Test mutating func `another tag, other contents and another technology are new taps`() {
    prepare()
    #expect(read("a", Self.report(1)) == ["a"])
    _ = remove(1)
    let others = [
      Self.report(2, [4, 1, 2, 3, 4, 5, 7]), Self.report(3, Self.uid, .type4A),
      Self.report(4, Self.uid, .type2, .message(Samples.message + [0])), Self.report(5, [8, 1, 2, 3]),
    ]
    for (number, other) in others.enumerated() { #expect(read("\(number)", other) == ["\(number)"]) }
    clock.advance(.milliseconds(400))
    #expect(tell(.tick) == ["a removed"])
  }

  @Test mutating func `a random UID, the PUPI of a Type B tag and a failed reading do not make a new tap`() {
    prepare()
    let pairs = [
      (Self.report(1, [8, 1, 2, 3], .type4A), Self.report(2, [8, 9, 9, 9], .type4A)),
      (Self.report(3, [1, 1, 2, 3], .type4B), Self.report(4, [9, 9, 9, 9], .type4B)),
      (Self.report(5), Self.report(6, Self.uid, .type2, .problem(reason: "it moved"))),
    ]
    for (first, again) in pairs {
      #expect(read("a", first) == ["a"])
      #expect(remove(first.placement.number) == [])
      #expect(read("b", again) == [])
      #expect(remove(again.placement.number) == [])
      clock.advance(.milliseconds(400))
      #expect(tell(.tick) == ["a removed"])
    }
  }

  @Test mutating func `a tag that could not be read is read again`() {
    prepare()
    #expect(read("a", Self.report(1, Self.uid, .type2, .problem(reason: "it moved"))) == [])
    #expect(remove(1) == [])
    #expect(read("b", Self.report(2)) == ["b"])
  }

  @Test mutating func `a reader that is gone removes its tags at once`() {
    prepare()
    #expect(read("a", Self.report(1)) == ["a"])
    #expect(remove(1) == [])
    #expect(tell(.readerRemoved(0)) == ["a removed"])
    prepare()
    #expect(read("b", Self.report(1)) == ["b"])
    #expect(remove(1) == [])
    #expect(tell(.readerHasNoProcess(0)) == ["b removed"])
    #expect(state.readers.heldRemovals.count == 0)
  }

  @Test mutating func `without a delay, each removal is one`() {
    begin()
    #expect(read("a", Self.report(1)) == ["a"])
    #expect(remove(1) == ["a removed"])
    #expect(read("b", Self.report(2)) == ["b"])
  }
}
