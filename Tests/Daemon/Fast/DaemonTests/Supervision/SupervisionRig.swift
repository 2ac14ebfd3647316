import Testing

import ReaderProtocol

@testable import Daemon

/// A supervision with a manual clock.
struct SupervisionRig {
  static let key = TagFingerprint.Key(low: 1, high: 2)

  var supervision = ReaderSupervision(
    ReaderTiming(device: "pn532_uart:/dev/x"), known: KnownTags(key: Self.key))
  var now = SuspendingClock.now
  /// The last list of known tags that was reported.
  var reported = KnownTags(key: Self.key)

  /// The actions that follow from an event, without the list of known tags.
  mutating func callAsFunction(_ event: ReaderSupervision.Event) -> [ReaderSupervision.Action] {
    var actions = supervision.handle(event, at: now)
    if case .report(.known(let known))? = actions.first {
      reported = known
      actions.removeFirst()
    }
    return actions
  }

  mutating func callAsFunction(
    _ event: ReaderSupervision.Event, expecting expected: [ReaderSupervision.Action],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let actions = self(event)
    #expect(actions == expected, sourceLocation: sourceLocation)
  }

  mutating func advance(_ duration: Duration) -> [ReaderSupervision.Action] {
    now += duration
    return self(.tick)
  }

  /// The time until the deadline; nil if there is none.
  var remaining: Duration? { supervision.deadline.map { now.duration(to: $0) } }

  static let scan = ReaderGoal.scan(ReaderPolling())

  static func goal(
    _ epoch: UInt64, _ goal: ReaderGoal, _ tags: [KnownTag] = [], first: Bool = false
  ) -> ReaderSupervision.Action {
    .send(.goal(epoch: epoch, goal, known: KnownTags(key: key, tags: tags, includesFirst: first)))
  }

  static func known(
    _ placement: Placement, number: UInt64, mayHaveChanged: Bool = false, isSuspect: Bool = false
  ) -> KnownTag {
    KnownTag(
      number: number, fingerprint: TagFingerprint(placement.technology, placement.uid, key),
      technology: placement.technology, mayHaveChanged: mayHaveChanged, isSuspect: isSuspect)
  }

  static let open = ReaderPhase.ready(name: "x", device: "y")

  /// A process that has sent no message yet.
  static func started() -> SupervisionRig {
    var rig = SupervisionRig()
    _ = rig(.start)
    return rig
  }

  /// A process that sleeps, with its device open and its field off.
  static func ready() -> SupervisionRig {
    var rig = started()
    _ = rig(.received(.reached(epoch: 0)))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.received(.heartbeat(within: 0)))
    return rig
  }

  /// A process that scans, for epoch 1.
  static func scanning() -> SupervisionRig {
    var rig = ready()
    _ = rig(.pursue(1, scan))
    _ = rig(.received(.reached(epoch: 1)))
    _ = rig(.received(.heartbeat(within: 0)))
    return rig
  }
}
