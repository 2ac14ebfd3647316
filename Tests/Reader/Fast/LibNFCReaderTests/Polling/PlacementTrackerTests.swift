import Names
import ReaderProtocol
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct PlacementTrackerTests {
  private var tracker = PlacementTracker()
  let tag = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  let other = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 9, 9, 9, 9, 9, 9]))
  let message = TagReport.Content.message([0xD0, 0, 0])

  func card(_ uid: [UInt8], historical: UInt8 = 0x80) -> TagActivation {
    .typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: uid, ats: [3, 0x10, historical]))
  }

  func cardB(_ pupi: [UInt8], application: UInt8 = 0) -> TagActivation {
    .typeB(
      TypeBActivation(
        pupi: pupi, applicationData: [0, 0, 0, application], protocolInfo: [0, 0x81, 0xE1], attribResponse: [0]))
  }

  func felica(_ idm: [UInt8], bitRate: Int = 212) -> TagActivation {
    .felica(FeliCaActivation(idm: idm, pmm: [1, 2, 3, 4, 5, 6, 7, 8], systemCode: [0x12, 0xFC], bitRate: bitRate))
  }

  @Test mutating func `a tag arrives once and leaves once`() {
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [.left(1)])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test mutating func `a single look that misses a tag does not remove it`() {
    _ = tracker.looked(for: .typeA, found: [tag])
    for _ in 0..<10 {
      #expect(tracker.looked(for: .typeA, found: []) == [])
      #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    }
  }

  @Test mutating func `a tag that failed its check leaves at once if another tag is in its place`() {
    _ = tracker.looked(for: .typeA, found: [tag])
    tracker.checkFailed(tag)
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    // A look may miss a sleeping tag when it finds a new one.
    #expect(tracker.looked(for: .typeA, found: [other]) == [.arrived(2, other)])
    #expect(tracker.looked(for: .typeA, found: [tag, other]) == [])
    _ = tracker.looked(for: .typeA, found: [tag])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.left(2)])
    tracker.checkFailed(tag)
    #expect(tracker.looked(for: .typeA, found: [other]) == [.left(1), .arrived(3, other)])
  }

  @Test mutating func `tags that lie together arrive and leave one by one`() {
    let third = felica([1, 2, 3, 4, 5, 6, 7, 8])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    #expect(tracker.looked(for: .typeA, found: [other, tag]) == [.arrived(2, other)])
    #expect(tracker.looked(for: .felica212, found: [third]) == [.arrived(3, third)])
    #expect(tracker.looked(for: .typeA, found: [other]) == [])
    #expect(tracker.looked(for: .typeA, found: [other]) == [.left(1)])
    #expect(tracker.looked(for: .felica212, found: []) == [])
    #expect(tracker.looked(for: .felica212, found: []) == [.left(3)])
    #expect(tracker.resting.map(\.number) == [2])
  }

  @Test mutating func `a FeliCa tag that is found at two bit rates is one placement`() {
    let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    _ = tracker.looked(for: .felica212, found: [felica(idm)])
    #expect(tracker.looked(for: .felica424, found: [felica(idm, bitRate: 424)]) == [])
    // A look at 424 kbit/s that finds no tag does not remove it.
    for _ in 0..<3 { #expect(tracker.looked(for: .felica424, found: []) == []) }
  }

  @Test mutating func `the number of tracked tags is limited`() {
    var arrived = 0
    for number in 0..<40 as Range<UInt8> {
      // The tags use 212 kbit/s, so these looks at 424 kbit/s never remove them.
      let outcomes = tracker.looked(for: .felica424, found: [felica([number, 0, 0, 0, 0, 0, 0, 0])])
      arrived += outcomes.count { if case .arrived = $0 { true } else { false } }
    }
    #expect(arrived == PlacementTracker.most)
    #expect(tracker.resting.count == PlacementTracker.most)
  }

  // MARK: Random identifiers

  @Test mutating func `a resting card keeps its placement when its random UID changes`() {
    let first = card([8, 1, 1, 1])
    #expect(tracker.looked(for: .typeA, found: [first]) == [.arrived(1, first)])
    tracker.examined(1, first, message)
    tracker.fieldWentOff()
    let second = card([8, 2, 2, 2])
    #expect(tracker.looked(for: .typeA, found: [second]) == [.uncertain(2, resting: 1, second)])
    #expect(tracker.compared(2, with: 1, second, message) == true)
    #expect(tracker.looked(for: .typeA, found: [second]) == [])
    // A different message means a different tag.
    let third = card([8, 3, 3, 3])
    #expect(tracker.looked(for: .typeA, found: [third]) == [.uncertain(3, resting: 1, third)])
    #expect(tracker.compared(3, with: 1, third, .problem(reason: "x")) == false)
    #expect(tracker.resting.map(\.number) == [3])
  }

  /// A card that is selected again for a second reading has a new UID afterwards.
  @Test mutating func `a card that gets a new UID while it is read is recognised by that UID`() {
    let (first, second, third) = (card([8, 1, 1, 1]), card([8, 2, 2, 2]), card([8, 3, 3, 3]))
    _ = tracker.looked(for: .typeA, found: [first])
    tracker.examined(1, second, message)
    tracker.fieldWentOff()
    #expect(tracker.looked(for: .typeA, found: [second]) == [])
    tracker.fieldWentOff()
    #expect(tracker.looked(for: .typeA, found: [first]) == [.uncertain(2, resting: 1, first)])
    #expect(tracker.compared(2, with: 1, third, message) == true)
    #expect(tracker.looked(for: .typeA, found: [third]) == [])
  }

  @Test(arguments: [[8, 3, 3, 3], [4, 3, 3, 3]] as [[UInt8]])
  mutating func `a card with other historical bytes is another tag`(uid: [UInt8]) {
    let first = card([8, 1, 1, 1])
    _ = tracker.looked(for: .typeA, found: [first])
    tracker.examined(1, first, message)
    let next = card(uid, historical: 0x81)
    #expect(tracker.looked(for: .typeA, found: [next]) == [.arrived(2, next)])
    #expect(tracker.looked(for: .typeA, found: [next]) == [.left(1)])
  }

  @Test mutating func `two phones of the same make are two placements`() {
    let (first, second) = (card([8, 1, 1, 1]), card([8, 2, 2, 2]))
    _ = tracker.looked(for: .typeA, found: [first])
    tracker.examined(1, first, message)
    #expect(tracker.looked(for: .typeA, found: [first, second]) == [.arrived(2, second)])
  }

  @Test mutating func `a new PUPI means a new card unless the field was off`() {
    let (first, second) = (cardB([1, 1, 1, 1]), cardB([2, 2, 2, 2]))
    _ = tracker.looked(for: .typeB, found: [first])
    tracker.examined(1, first, message)
    #expect(tracker.looked(for: .typeB, found: [second]) == [.arrived(2, second)])
    tracker.examined(2, second, message)
    #expect(tracker.looked(for: .typeB, found: [second]) == [.left(1)])
    tracker.fieldWentOff()
    #expect(tracker.looked(for: .typeB, found: [first]) == [.uncertain(3, resting: 2, first)])
    let another = cardB([3, 3, 3, 3], application: 1)
    tracker.fieldWentOff()
    #expect(tracker.looked(for: .typeB, found: [another]) == [.arrived(4, another)])
  }

  @Test(arguments: [([0x02, 0xFE], true), ([0x01, 0xFE], true), ([0x01, 0x2E], false)] as [([UInt8], Bool)])
  mutating func `a new IDm is compared only if the manufacturer code allows changes`(
    _ manufacturer: [UInt8], _ isUncertain: Bool
  ) {
    let first = felica(manufacturer + [1, 1, 1, 1, 1, 1])
    _ = tracker.looked(for: .felica212, found: [first])
    tracker.examined(1, first, message)
    let next = felica(manufacturer + [2, 2, 2, 2, 2, 2])
    let outcomes = tracker.looked(for: .felica212, found: [next])
    #expect(outcomes == (isUncertain ? [.uncertain(2, resting: 1, next)] : [.arrived(2, next)]))
  }

  // MARK: Failed readings

  @Test mutating func `a tag that makes the device fail is read at most three times`() {
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(number, tag)])
      #expect(tracker.interrupted(number) == (number == 3))
    }
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
  }

  /// Another tag neither adds to the count nor resets it.
  @Test(arguments: [false, true]) mutating func `failures are counted for each tag until it is removed`(isOther: Bool) {
    for number in 1...2 as ClosedRange<UInt64> {
      _ = tracker.looked(for: .typeA, found: [tag])
      #expect(tracker.interrupted(number) == false)
    }
    if isOther {
      _ = tracker.looked(for: .typeA, found: [other, tag])
      #expect(tracker.interrupted(3) == false)
      #expect(tracker.interrupted(4) == true)
    } else {
      for _ in 1...PlacementTracker.missesUntilAway { #expect(tracker.looked(for: .typeA, found: []) == []) }
      for number in 3...4 as ClosedRange<UInt64> {
        _ = tracker.looked(for: .typeA, found: [tag])
        #expect(tracker.interrupted(number) == false)
      }
    }
  }

  /// The limit is for consecutive failures.
  @Test(arguments: [false, true]) mutating func `a successful reading resets the count of failures`(isCompared: Bool) {
    if isCompared {
      _ = tracker.looked(for: .typeA, found: [card([8, 0, 0, 0])])
      tracker.examined(1, card([8, 0, 0, 0]), message)
    }
    for number in 1...2 as ClosedRange<UInt8> {
      tracker.fieldWentOff()
      let next = card([8, 1, 1, number])
      let outcomes = tracker.looked(for: .typeA, found: [next])
      let isTooMuch =
        isCompared
        ? tracker.interrupted(UInt64(number) + 1, with: 1, next) : tracker.interrupted(UInt64(number))
      #expect(!isTooMuch, "\(outcomes)")
    }
    let whole = card([8, 2, 2, 2])
    let outcomes = tracker.looked(for: .typeA, found: [whole])
    if isCompared {
      #expect(outcomes == [.uncertain(4, resting: 1, whole)])
      #expect(tracker.compared(4, with: 1, whole, message) == true)
    } else {
      #expect(outcomes == [.arrived(3, whole)])
      tracker.examined(3, whole, message)
    }
    let resting = isCompared ? 1 : 3 as UInt64
    for number in 0..<2 as Range<UInt64> {
      tracker.fieldWentOff()
      let next = card([8, 3, 3, UInt8(number)])
      let new = (isCompared ? 5 : 4) + number
      #expect(tracker.looked(for: .typeA, found: [next]) == [.uncertain(new, resting: resting, next)])
      #expect(tracker.interrupted(new, with: resting, next) == false)
    }
  }

  @Test mutating func `all tags leave when the reader is unplugged`() {
    _ = tracker.looked(for: .typeA, found: [tag])
    _ = tracker.looked(for: .typeA, found: [tag, other])
    #expect(tracker.readerLeft() == [.left(1), .left(2)])
    #expect(tracker.readerLeft() == [])
  }

  // MARK: Known tags

  private let key = TagFingerprint.Key(low: 1, high: 2)

  func known(_ tags: (TagActivation, UInt64)..., mayHaveChanged: Bool = false, isSuspect: Bool = false) -> KnownTags {
    KnownTags(
      key: key,
      tags: tags.map { tag, number in
        KnownTag(
          number: number, fingerprint: TagFingerprint(tag.type, tag.identifier, key), technology: tag.type,
          mayHaveChanged: mayHaveChanged, isSuspect: isSuspect)
      })
  }

  /// A tag that crashes each reader process may also make the reader disappear for a moment, before the next process
  /// finds the tag. The next process must still not read it.
  @Test(arguments: [false, true])
  mutating func `known tags leave with the reader only if a look has found them`(hasBeenSeen: Bool) {
    tracker.know(known((tag, 1 << 32)))
    if hasBeenSeen { #expect(tracker.looked(for: .typeA, found: [tag]) == [.recognized(tag)]) }
    #expect(tracker.readerLeft() == (hasBeenSeen ? [.left(1 << 32)] : []))
    let outcome = hasBeenSeen ? PlacementTracker.Outcome.arrived(1, tag) : .recognized(tag)
    #expect(tracker.looked(for: .typeA, found: [tag]) == [outcome])
  }

  @Test func `a tag that the daemon no longer knows is new`() {
    var tracker = PlacementTracker([.typeA])
    tracker.know(known((tag, 1 << 32)))
    tracker.know(known())
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
  }

  @Test func `a known tag is not announced until it was removed, and a suspect is still marked`() {
    var tracker = PlacementTracker([.typeA])
    tracker.know(known((tag, 1 << 32), isSuspect: true))
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.recognized(tag)])
    #expect(tracker.resting.map(\.isSuspect) == [true])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [.left(1 << 32)])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
  }

  @Test func `a resting tag that becomes known keeps its placement`() {
    var tracker = PlacementTracker([.typeA])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    tracker.know(known((tag, 1)))
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [.left(1)])
  }

  @Test func `a known tag leaves after looks for all of its technologies missed it`() {
    var tracker = PlacementTracker([.typeA, .felica212, .felica424])
    tracker.know(known((felica([1, 2, 3, 4, 5, 6, 7, 8]), 1 << 32)))
    for _ in 1...3 { #expect(tracker.looked(for: .typeA, found: []) == []) }
    #expect(tracker.looked(for: .felica212, found: []) == [])
    #expect(tracker.looked(for: .felica212, found: []) == [])
    #expect(tracker.looked(for: .felica424, found: []) == [])
    #expect(tracker.looked(for: .felica424, found: []) == [.left(1 << 32)])
  }

  @Test func `a new tag beside a known one is read`() {
    var tracker = PlacementTracker([.typeA])
    tracker.know(known((tag, 1 << 32)))
    #expect(tracker.looked(for: .typeA, found: [other, tag]) == [.arrived(1, other), .recognized(tag)])
    #expect(tracker.looked(for: .typeA, found: [other]) == [])
    #expect(tracker.looked(for: .typeA, found: [other]) == [.left(1 << 32)])
  }

  @Test(arguments: [Modulation.typeA, .typeB, .felica212])
  func `a known tag that may have changed its identifier is the first random one`(modulation: Modulation) {
    func tag(_ number: UInt8) -> TagActivation {
      switch modulation {
      case .typeA: card([8, number, number, number])
      case .typeB: cardB([number, number, number, number])
      default: felica([0x02, 0xFE, 0, 0, 0, 0, 0, number])
      }
    }
    for mayHaveChanged in [true, false] {
      var tracker = PlacementTracker([modulation])
      tracker.know(known((tag(1), 1 << 32), mayHaveChanged: mayHaveChanged))
      guard mayHaveChanged else {
        #expect(tracker.looked(for: modulation, found: [tag(2)]) == [.arrived(1, tag(2))])
        continue
      }
      #expect(tracker.looked(for: modulation, found: [tag(2)]) == [.recognized(tag(2))])
      // Its identifier may change again. A second tag is a new one.
      tracker.fieldWentOff()
      #expect(tracker.looked(for: modulation, found: [tag(3)]) == [])
      #expect(tracker.looked(for: modulation, found: [tag(3), tag(4)]) == [.arrived(1, tag(4))])
      #expect(tracker.looked(for: modulation, found: [tag(4)]) == [])
      #expect(tracker.looked(for: modulation, found: [tag(4)]) == [.left(1 << 32)])
    }
  }

  @Test func `a known tag with a random identifier does not match another kind of tag`() {
    var tracker = PlacementTracker([.typeA, .typeB])
    tracker.know(known((card([8, 1, 1, 1]), 1 << 32), mayHaveChanged: true))
    #expect(tracker.looked(for: .typeB, found: [cardB([8, 2, 2, 2])]) == [.arrived(1, cardB([8, 2, 2, 2]))])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func `a tag of an unwanted kind is not read`() {
    var tracker = PlacementTracker([.typeA]) { $0 == .type4A }
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.unwanted(tag)])
    #expect(tracker.looked(for: .typeA, found: [tag, card([4, 1, 1, 1])]) == [.arrived(1, card([4, 1, 1, 1]))])
    for _ in 0..<3 { #expect(tracker.looked(for: .typeA, found: [card([4, 1, 1, 1])]) == []) }
    #expect(tracker.looked(for: .typeA, found: [tag, card([4, 1, 1, 1])]) == [.unwanted(tag)])
  }
}
