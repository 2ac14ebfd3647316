import Tags
import Testing

@testable import Reader

@Suite struct PresencePlanTests {
  let now = SuspendingClock.now
  let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  let other = TagActivation.typeB(
    TypeBActivation(pupi: [1, 2, 3, 4], applicationData: [], protocolInfo: [0, 0x81, 0xE1], attribResponse: []))

  func plan() -> PresencePlan { PresencePlan([.typeA, .typeB, .jewel], pollInterval: .milliseconds(50)) }

  func resting(_ tags: TagActivation..., misses: Int = 0) -> [PlacementTracker.Resting] {
    var tracker = PlacementTracker()
    for tag in tags { _ = tracker.looked(for: tag.modulation, found: [tag]) }
    for _ in 0..<misses { _ = tracker.looked(for: tags[0].modulation, found: []) }
    return tracker.resting
  }

  @Test func firstOfAllOtherTagsAreLookedForAndThenTheOneIsChecked() {
    var plan = plan()
    let resting = resting(tag)
    // What rests comes last, to be selected afterwards.
    #expect(plan.next(resting, selected: tag, at: now) == .look([.typeB, .jewel, .typeA], isAnew: false))
    for _ in 0..<4 {
      #expect(plan.next(resting, selected: tag, at: now) == .pause(.milliseconds(120)))
      #expect(plan.next(resting, selected: tag, at: now) == .check)
    }
    let later = now + PresencePlan.newcomerInterval
    #expect(plan.next(resting, selected: tag, at: later) == .pause(.milliseconds(120)))
    #expect(plan.next(resting, selected: tag, at: later) == .check)
    #expect(plan.next(resting, selected: tag, at: later) == .look([.typeB, .jewel, .typeA], isAnew: false))
  }

  @Test func aCheckThatFailsIsFollowedByALookAtOnceAndThenByOneWithTheFieldOffBefore() {
    var plan = plan()
    _ = plan.next(resting(tag), selected: tag, at: now)
    _ = plan.next(resting(tag), selected: tag, at: now)
    #expect(plan.next(resting(tag), selected: tag, at: now) == .check)
    plan.checkFailed()
    #expect(plan.next(resting(tag), selected: nil, at: now) == .look([.typeA], isAnew: false))
    let missed = resting(tag, misses: 1)
    #expect(plan.next(missed, selected: nil, at: now) == .pause(PresencePlan.confirmationInterval))
    #expect(plan.next(missed, selected: nil, at: now) == .look([.typeA], isAnew: true))
  }

  @Test func severalTagsAreLookedFor() {
    var plan = plan()
    let both = resting(tag, other)
    _ = plan.next(both, selected: nil, at: now)
    #expect(plan.next(both, selected: other, at: now) == .pause(.milliseconds(60)))
    #expect(plan.next(both, selected: other, at: now) == .look([.typeA, .typeB], isAnew: false))
  }

  @Test func aTagThatIsNotSelectedIsLookedFor() {
    var plan = plan()
    _ = plan.next(resting(tag), selected: tag, at: now)
    _ = plan.next(resting(tag), selected: tag, at: now)
    #expect(plan.next(resting(tag), selected: nil, at: now) == .look([.typeA], isAnew: false))
  }

  @Test(arguments: [
    (TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [1])), PresenceCheck.exchange([0x30, 0x00])),
    (.typeA(TypeAActivation(atqa: [0, 4], sak: 0x20, uid: [1])), .emptyBlock),
    (.typeA(TypeAActivation(atqa: [0, 4], sak: 0x08, uid: [1])), .look(sleepFirst: true)),
    (.jewel(JewelActivation(atqa: [0, 0x0C], uid: [1])), .look(sleepFirst: false)),
  ])
  func eachKindHasItsCheck(_ tag: TagActivation, _ check: PresenceCheck) {
    #expect(PresenceCheck(tag) == check)
  }
}
