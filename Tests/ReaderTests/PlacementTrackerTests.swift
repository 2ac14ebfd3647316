import Tags
import Testing

@testable import Reader

@Suite struct PlacementTrackerTests {
  let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  let other = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 9, 9, 9, 9, 9, 9]))

  func card(_ uid: [UInt8], historical: UInt8 = 0x80) -> TagActivation {
    .typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: uid, ats: [3, 0x10, historical]))
  }

  @Test func aTagArrivesOnceAndLeavesOnce() {
    var tracker = PlacementTracker()
    #expect(tracker.found(tag) == [.arrived(1)])
    #expect(tracker.found(tag) == [])
    #expect(tracker.nothing() == [])
    #expect(tracker.nothing() == [.left(1)])
    #expect(tracker.nothing() == [])
    #expect(tracker.found(tag) == [.arrived(2)])
  }

  @Test func aLookThatMissesATagIsNoRemoval() {
    var tracker = PlacementTracker()
    _ = tracker.found(tag)
    for _ in 0..<10 {
      #expect(tracker.nothing() == [])
      #expect(tracker.found(tag) == [])
    }
  }

  @Test func anotherTagTakesThePlace() {
    var tracker = PlacementTracker()
    _ = tracker.found(tag)
    #expect(tracker.found(other) == [.left(1), .arrived(2)])
  }

  @Test func aRandomUIDMayChangeWhileTheCardRests() {
    var tracker = PlacementTracker()
    #expect(tracker.found(card([8, 1, 1, 1])) == [.arrived(1)])
    #expect(tracker.found(card([8, 2, 2, 2])) == [])
    #expect(tracker.found(card([8, 3, 3, 3], historical: 0x81)) == [.left(1), .arrived(2)])
    #expect(tracker.found(card([4, 3, 3, 3], historical: 0x81)) == [.left(2), .arrived(3)])
  }

  @Test func aTagThatCouldNotBeReadIsNewWhenItIsFoundAgain() {
    var tracker = PlacementTracker()
    _ = tracker.found(tag)
    tracker.unread()
    #expect(tracker.found(tag) == [.arrived(2)])
  }

  @Test func aTagWithWhichTheDeviceFailsIsNewAFewTimes() {
    var tracker = PlacementTracker()
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(tracker.found(tag) == [.arrived(number)])
      #expect(tracker.interrupted() == (number == 3))
    }
    #expect(tracker.found(tag) == [])
  }

  @Test(arguments: [false, true]) func failuresAreCountedForOneTagAndOnePlacement(isOther: Bool) {
    var tracker = PlacementTracker()
    for _ in 1...2 {
      _ = tracker.found(tag)
      #expect(tracker.interrupted() == false)
    }
    if isOther {
      _ = tracker.found(other)
      tracker.examined()
    } else {
      for _ in 1...PlacementTracker.missesUntilAway { #expect(tracker.nothing() == []) }
    }
    for _ in 1...2 {
      _ = tracker.found(tag)
      #expect(tracker.interrupted() == false)
    }
  }

  @Test func theReaderTakesItsTagAlong() {
    var tracker = PlacementTracker()
    _ = tracker.found(tag)
    #expect(tracker.readerLeft() == [.left(1)])
    #expect(tracker.readerLeft() == [])
  }

  @Test func aTagToAvoidIsLeftAloneUntilItIsAway() {
    var tracker = PlacementTracker()
    tracker.avoid(tag.identifier)
    #expect(tracker.found(tag) == [.avoided(uid: tag.identifier)])
    #expect(tracker.found(tag) == [])
    #expect(tracker.nothing() == [])
    #expect(tracker.nothing() == [.forgotten(uid: tag.identifier)])
    #expect(tracker.found(tag) == [.arrived(1)])
  }

  @Test func aTagToAvoidThatIsNotThereIsForgotten() {
    var tracker = PlacementTracker()
    tracker.avoid(tag.identifier)
    #expect(tracker.nothing() == [])
    #expect(tracker.nothing() == [.forgotten(uid: tag.identifier)])

    tracker.avoid(tag.identifier)
    #expect(tracker.found(other) == [.forgotten(uid: tag.identifier), .arrived(1)])
  }

  @Test func aRandomUIDToAvoidMeansWhoeverHasOne() {
    var tracker = PlacementTracker()
    tracker.avoid([8, 1, 1, 1])
    #expect(tracker.found(card([8, 2, 2, 2])) == [.avoided(uid: [8, 2, 2, 2])])
    #expect(tracker.found(tag) == [.forgotten(uid: [8, 1, 1, 1]), .arrived(1)])
  }
}
