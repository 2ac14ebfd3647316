import Daemon
import ReaderProtocol
import ReaderSimulator
import Tags
import TestKit
import Testing

@testable import LibNFCReaderTests

@testable import LibNFCReader
@testable import ReaderKit

/// A tag that arrived and was not announced is new when it is found again, unless scanning has stopped meanwhile.
/// Another user may be at the machine after a stop.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct UnannouncedTagTests {
  /// Why the tag was not announced.
  enum Reason: CaseIterable { case stopped, deviceFailed, stoppedComparing, deviceFailedComparing }

  private static func card(_ uid: [UInt8]) -> TagActivation {
    .typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: uid, ats: [3, 0x10, 0x80]))
  }

  /// - Returns: A tracker with an unannounced tag, and the activation with which it will be found again.
  private static func leave(_ reason: Reason) -> (tracker: PlacementTracker, tag: TagActivation) {
    var tracker = PlacementTracker([.typeA, .typeB])
    let first = card([8, 1, 1, 1])
    #expect(tracker.looked(for: .typeA, found: [first]) == [.arrived(1, first)])
    let second = card([8, 2, 2, 2])
    switch reason {
    case .stopped: tracker.unread(1)
    case .deviceFailed: #expect(tracker.interrupted(1) == false)
    case .stoppedComparing, .deviceFailedComparing:
      tracker.examined(1, first, .message([0xD0, 0, 0]))
      #expect(tracker.looked(for: .typeA, found: [second]) == [.uncertain(2, resting: 1, second)])
      if reason == .stoppedComparing {
        tracker.unread(second)
      } else {
        #expect(tracker.interrupted(2, with: 1, second) == false)
      }
      return (tracker, second)
    }
    return (tracker, first)
  }

  @Test(arguments: Reason.allCases) func `an unannounced tag is new when it is found again`(reason: Reason) {
    var (tracker, tag) = Self.leave(reason)
    let outcomes = tracker.looked(for: .typeA, found: [tag])
    #expect(outcomes.map(\.isToBeRead) == [true])
  }

  @Test(arguments: Reason.allCases)
  func `an unannounced tag is known after a stop until it is removed`(reason: Reason) {
    var (tracker, tag) = Self.leave(reason)
    // Looks for another technology do not affect the tag.
    _ = tracker.looked(for: .typeB, found: [])
    _ = tracker.looked(for: .typeB, found: [])
    _ = tracker.stop()
    #expect(tracker.stop() == [])
    for _ in 1...5 { #expect(tracker.looked(for: .typeA, found: [tag]) == []) }
    for _ in 1...PlacementTracker.missesUntilAway { _ = tracker.looked(for: .typeA, found: []) }
    let outcomes = tracker.looked(for: .typeA, found: [tag])
    #expect(outcomes.map(\.isToBeRead) == [true])
  }

  @Test(arguments: Reason.allCases)
  func `an unannounced tag that was removed is not known after a stop`(reason: Reason) {
    var (tracker, tag) = Self.leave(reason)
    for _ in 1...PlacementTracker.missesUntilAway { _ = tracker.looked(for: .typeA, found: []) }
    #expect(tracker.stop() == [])
    let outcomes = tracker.looked(for: .typeA, found: [tag])
    #expect(outcomes.map(\.isToBeRead) == [true])
  }

  /// The tag lies there before scanning begins. The second command is the look, and the third begins the reading.
  @Test func `a tag is not announced if its reading fails and scanning then stops`() async throws {
    let rig = try await ReaderRig.asleep()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/before")))
    await rig.simulator.add(.silence(from: 3))
    await rig.setScanning(true)
    try await rig.next("a failed reader") { if case .phase(.failed, _) = $0 { true } else { nil } }
    try await rig.scan(false)
    await rig.simulator.clearFaults()
    try await rig.scan(true)
    try await rig.announcesOnlyWhatComesNow()
  }
}
