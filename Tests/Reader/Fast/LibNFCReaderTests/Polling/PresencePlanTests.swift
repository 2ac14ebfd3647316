import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct PresencePlanTests {
  private var plan = PresencePlan(
    [.typeA, .typeB, .jewel], pollInterval: .milliseconds(50), idleInterval: .milliseconds(250))
  let now = SuspendingClock.now
  let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  let other = TagActivation.typeB(
    TypeBActivation(pupi: [1, 2, 3, 4], applicationData: [], protocolInfo: [0, 0x81, 0xE1], attribResponse: []))

  func resting(_ tags: TagActivation..., misses: Int = 0) -> [TargetField.Resting] {
    var field = TargetField()
    for tag in tags { _ = field.looked(for: tag.modulation ?? .typeA, found: [tag]) }
    for _ in 0..<misses { _ = field.looked(for: tags[0].modulation ?? .typeA, found: []) }
    return field.resting
  }

  @Test mutating func `the plan looks for other tags first and then checks the resting tag`() {
    let resting = resting(tag)
    // The technology of the resting tag comes last, so that the tag is selected afterwards.
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

  @Test mutating func `a failed check is followed by a look and then by one after the field was off`() {
    _ = plan.next(resting(tag), selected: tag, at: now)
    _ = plan.next(resting(tag), selected: tag, at: now)
    #expect(plan.next(resting(tag), selected: tag, at: now) == .check)
    plan.checkFailed()
    #expect(plan.next(resting(tag), selected: nil, at: now) == .look([.typeA], isAnew: false))
    let missed = resting(tag, misses: 1)
    #expect(plan.next(missed, selected: nil, at: now) == .pause(PresencePlan.confirmationInterval))
    #expect(plan.next(missed, selected: nil, at: now) == .look([.typeA], isAnew: true))
  }

  @Test mutating func `several resting tags are looked for instead of checked`() {
    let both = resting(tag, other)
    _ = plan.next(both, selected: nil, at: now)
    #expect(plan.next(both, selected: other, at: now) == .pause(.milliseconds(60)))
    #expect(plan.next(both, selected: other, at: now) == .look([.typeA, .typeB], isAnew: false))
  }

  /// The tag is removed at the worst moment, right after it was found. The time of these commands and pauses has to be
  /// under 300 ms.
  @Test(arguments: [false, true], [Duration.zero, .milliseconds(900)])
  mutating func `a removed tag is noticed after a few looks`(isAlone: Bool, _ later: Duration) {
    var field = TargetField()
    for tag in isAlone ? [tag] : [tag, other] { _ = field.looked(for: tag.modulation ?? .typeA, found: [tag]) }
    var selected = isAlone ? tag : nil
    _ = plan.next(field.resting, selected: selected, at: now)
    var (pauses, commands) = (Duration.zero, [String]())
    while field.resting.contains(where: { $0.tag == tag }), commands.count < 100 {
      switch plan.next(field.resting, selected: selected, at: now + later) {
      case .pause(let pause): pauses += pause
      case .check:
        commands.append("check")
        field.checkFailed(tag)
        plan.checkFailed()
        selected = nil
      case .look(let modulations, _):
        commands.append("look")
        for modulation in modulations {
          _ = field.looked(for: modulation, found: !isAlone && modulation == other.modulation ? [other] : [])
        }
      case .fieldOff: commands.append("off")
      }
    }
    #expect(commands == (isAlone ? ["check"] : []) + ["look", "look"])
    #expect(pauses == .milliseconds(isAlone ? 130 : 70))
  }

  @Test mutating func `a tag that is not selected is looked for instead of checked`() {
    _ = plan.next(resting(tag), selected: tag, at: now)
    _ = plan.next(resting(tag), selected: tag, at: now)
    #expect(plan.next(resting(tag), selected: nil, at: now) == .look([.typeA], isAnew: false))
  }

  // MARK: Idle mode

  /// Takes the first step. Returns the time at which idle mode begins.
  func idle(_ plan: inout PresencePlan, _ resting: [TargetField.Resting]) -> SuspendingClock.Instant {
    _ = plan.next(resting, selected: tag, at: now)
    return now + PollPlan.idleAfter
  }

  @Test(arguments: [(false, Duration.milliseconds(250)), (true, .milliseconds(2000))])
  mutating func `in idle mode the field is off between two looks`(_ isRandom: Bool, _ interval: Duration) {
    let tag = isRandom ? TagActivation.typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: [8, 1, 2, 3])) : tag
    let resting = resting(tag)
    var later = idle(&plan, resting)
    #expect(plan.next(resting, selected: tag, at: later - .milliseconds(1)) == .pause(.milliseconds(120)))
    #expect(plan.next(resting, selected: tag, at: later) == .fieldOff)
    #expect(plan.isIdle)
    #expect(plan.next(resting, selected: nil, at: later) == .pause(interval))
    for _ in 0..<3 {
      later += interval
      // All technologies are polled, so that a new tag ends idle mode.
      #expect(plan.next(resting, selected: nil, at: later) == .look([.typeB, .jewel, .typeA], isAnew: false))
      later += .milliseconds(40)
      #expect(plan.next(resting, selected: tag, at: later) == .fieldOff)
      #expect(plan.next(resting, selected: nil, at: later) == .pause(interval - .milliseconds(40)))
    }
    // However slow the reader is, the field is off for most of the time.
    _ = plan.next(resting, selected: nil, at: later)
    #expect(plan.next(resting, selected: nil, at: later + .seconds(1)) == .fieldOff)
    #expect(plan.next(resting, selected: nil, at: later + .seconds(1)) == .pause(.seconds(4)))
  }

  @Test mutating func `a missed tag or a new tag ends idle mode at once`() {
    var later = idle(&plan, resting(tag))
    for _ in 0..<3 { _ = plan.next(resting(tag), selected: nil, at: later) }
    #expect(plan.isIdle)
    let missed = resting(tag, misses: 1)
    #expect(plan.next(missed, selected: nil, at: later) == .pause(PresencePlan.confirmationInterval))
    #expect(!plan.isIdle)
    #expect(plan.next(missed, selected: nil, at: later) == .look([.typeA], isAnew: true))
    // The tag is found again, so idle mode resumes.
    #expect(plan.next(resting(tag), selected: tag, at: later) == .fieldOff)
    let both = resting(tag, other)
    #expect(plan.next(both, selected: nil, at: later) == .look([.jewel, .typeA, .typeB], isAnew: false))
    later += PollPlan.idleAfter - .milliseconds(1)
    #expect(plan.next(both, selected: nil, at: later) == .pause(.milliseconds(60)))
    #expect(!plan.isIdle)
  }

  @Test mutating func `a restart of scanning ends idle mode`() {
    let later = idle(&plan, resting(tag))
    _ = plan.next(resting(tag), selected: nil, at: later)
    #expect(plan.isIdle)
    plan.begin()
    #expect(plan.next(resting(tag), selected: nil, at: later) == .look([.typeB, .jewel, .typeA], isAnew: false))
    #expect(!plan.isIdle)
  }

  @Test(arguments: [
    (TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [1])), PresenceCheck.exchange([0x30, 0x00])),
    (.typeA(TypeAActivation(atqa: [0, 4], sak: 0x20, uid: [1])), .emptyBlock),
    (.typeA(TypeAActivation(atqa: [0, 4], sak: 0x08, uid: [1])), .look(sleepFirst: true)),
    (.jewel(JewelActivation(atqa: [0, 0x0C], uid: [1])), .look(sleepFirst: false)),
  ])
  func `each kind of tag has its own presence check`(_ tag: TagActivation, _ check: PresenceCheck) {
    #expect(PresenceCheck(tag) == check)
  }
}
