import Names
import ReaderProtocol
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct TargetFieldTests {
  private var field = TargetField()
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
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    #expect(field.looked(for: .typeA, found: [tag]) == [])
    #expect(field.looked(for: .typeA, found: []) == [])
    #expect(field.looked(for: .typeA, found: []) == [.left(1)])
    #expect(field.looked(for: .typeA, found: []) == [])
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test mutating func `a single look that misses a tag does not remove it`() {
    _ = field.looked(for: .typeA, found: [tag])
    for _ in 0..<10 {
      #expect(field.looked(for: .typeA, found: []) == [])
      #expect(field.looked(for: .typeA, found: [tag]) == [])
    }
  }

  @Test mutating func `a tag that failed its check leaves at once if another tag is in its place`() {
    _ = field.looked(for: .typeA, found: [tag])
    field.checkFailed(tag)
    #expect(field.looked(for: .typeA, found: [tag]) == [])
    // A look may miss a sleeping tag when it finds a new one.
    #expect(field.looked(for: .typeA, found: [other]) == [.arrived(2, other)])
    #expect(field.looked(for: .typeA, found: [tag, other]) == [])
    _ = field.looked(for: .typeA, found: [tag])
    #expect(field.looked(for: .typeA, found: [tag]) == [.left(2)])
    field.checkFailed(tag)
    #expect(field.looked(for: .typeA, found: [other]) == [.left(1), .arrived(3, other)])
  }

  @Test mutating func `tags that lie together arrive and leave one by one`() {
    let third = felica([1, 2, 3, 4, 5, 6, 7, 8])
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    #expect(field.looked(for: .typeA, found: [other, tag]) == [.arrived(2, other)])
    #expect(field.looked(for: .felica212, found: [third]) == [.arrived(3, third)])
    #expect(field.looked(for: .typeA, found: [other]) == [])
    #expect(field.looked(for: .typeA, found: [other]) == [.left(1)])
    #expect(field.looked(for: .felica212, found: []) == [])
    #expect(field.looked(for: .felica212, found: []) == [.left(3)])
    #expect(field.resting.map(\.number) == [2])
  }

  @Test mutating func `a FeliCa tag that is found at two bit rates is one placement`() {
    let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    _ = field.looked(for: .felica212, found: [felica(idm)])
    #expect(field.looked(for: .felica424, found: [felica(idm, bitRate: 424)]) == [])
    // A look at 424 kbit/s that finds no tag does not remove it.
    for _ in 0..<3 { #expect(field.looked(for: .felica424, found: []) == []) }
  }

  @Test mutating func `the number of tracked tags is limited`() {
    var arrived = 0
    for number in 0..<40 as Range<UInt8> {
      // The tags use 212 kbit/s, so these looks at 424 kbit/s never remove them.
      let outcomes = field.looked(for: .felica424, found: [felica([number, 0, 0, 0, 0, 0, 0, 0])])
      arrived += outcomes.count { if case .arrived = $0 { true } else { false } }
    }
    #expect(arrived == TargetField.most)
    #expect(field.resting.count == TargetField.most)
  }

  // MARK: Random identifiers

  @Test mutating func `a resting card keeps its placement when its random UID changes`() {
    let first = card([8, 1, 1, 1])
    #expect(field.looked(for: .typeA, found: [first]) == [.arrived(1, first)])
    field.examined(1, first, message)
    field.fieldWentOff()
    let second = card([8, 2, 2, 2])
    #expect(field.looked(for: .typeA, found: [second]) == [.uncertain(2, resting: 1, second)])
    #expect(field.compared(2, with: 1, second, message) == true)
    #expect(field.looked(for: .typeA, found: [second]) == [])
    // A different message means a different tag.
    let third = card([8, 3, 3, 3])
    #expect(field.looked(for: .typeA, found: [third]) == [.uncertain(3, resting: 1, third)])
    #expect(field.compared(3, with: 1, third, .problem(reason: "x")) == false)
    #expect(field.resting.map(\.number) == [3])
  }

  /// A card that is selected again for a second reading has a new UID afterwards.
  @Test mutating func `a card that gets a new UID while it is read is recognised by that UID`() {
    let (first, second, third) = (card([8, 1, 1, 1]), card([8, 2, 2, 2]), card([8, 3, 3, 3]))
    _ = field.looked(for: .typeA, found: [first])
    field.examined(1, second, message)
    field.fieldWentOff()
    #expect(field.looked(for: .typeA, found: [second]) == [])
    field.fieldWentOff()
    #expect(field.looked(for: .typeA, found: [first]) == [.uncertain(2, resting: 1, first)])
    #expect(field.compared(2, with: 1, third, message) == true)
    #expect(field.looked(for: .typeA, found: [third]) == [])
  }

  @Test(arguments: [[8, 3, 3, 3], [4, 3, 3, 3]] as [[UInt8]])
  mutating func `a card with other historical bytes is another tag`(uid: [UInt8]) {
    let first = card([8, 1, 1, 1])
    _ = field.looked(for: .typeA, found: [first])
    field.examined(1, first, message)
    let next = card(uid, historical: 0x81)
    #expect(field.looked(for: .typeA, found: [next]) == [.arrived(2, next)])
    #expect(field.looked(for: .typeA, found: [next]) == [.left(1)])
  }

  @Test mutating func `two phones of the same make are two placements`() {
    let (first, second) = (card([8, 1, 1, 1]), card([8, 2, 2, 2]))
    _ = field.looked(for: .typeA, found: [first])
    field.examined(1, first, message)
    #expect(field.looked(for: .typeA, found: [first, second]) == [.arrived(2, second)])
  }

  @Test mutating func `a new PUPI means a new card unless the field was off`() {
    let (first, second) = (cardB([1, 1, 1, 1]), cardB([2, 2, 2, 2]))
    _ = field.looked(for: .typeB, found: [first])
    field.examined(1, first, message)
    #expect(field.looked(for: .typeB, found: [second]) == [.arrived(2, second)])
    field.examined(2, second, message)
    #expect(field.looked(for: .typeB, found: [second]) == [.left(1)])
    field.fieldWentOff()
    #expect(field.looked(for: .typeB, found: [first]) == [.uncertain(3, resting: 2, first)])
    let another = cardB([3, 3, 3, 3], application: 1)
    field.fieldWentOff()
    #expect(field.looked(for: .typeB, found: [another]) == [.arrived(4, another)])
  }

  @Test(arguments: [([0x02, 0xFE], true), ([0x01, 0xFE], true), ([0x01, 0x2E], false)] as [([UInt8], Bool)])
  mutating func `a new IDm is compared only if the manufacturer code allows changes`(
    _ manufacturer: [UInt8], _ isUncertain: Bool
  ) {
    let first = felica(manufacturer + [1, 1, 1, 1, 1, 1])
    _ = field.looked(for: .felica212, found: [first])
    field.examined(1, first, message)
    let next = felica(manufacturer + [2, 2, 2, 2, 2, 2])
    let outcomes = field.looked(for: .felica212, found: [next])
    #expect(outcomes == (isUncertain ? [.uncertain(2, resting: 1, next)] : [.arrived(2, next)]))
  }

  // MARK: Failed readings

  @Test mutating func `a tag that makes the device fail is read at most three times`() {
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(number, tag)])
      #expect(field.interrupted(number) == (number == 3))
    }
    #expect(field.looked(for: .typeA, found: [tag]) == [])
  }

  /// Another tag neither adds to the count nor resets it.
  @Test(arguments: [false, true]) mutating func `failures are counted for each tag until it is removed`(isOther: Bool) {
    for number in 1...2 as ClosedRange<UInt64> {
      _ = field.looked(for: .typeA, found: [tag])
      #expect(field.interrupted(number) == false)
    }
    if isOther {
      _ = field.looked(for: .typeA, found: [other, tag])
      #expect(field.interrupted(3) == false)
      #expect(field.interrupted(4) == true)
    } else {
      for _ in 1...TargetField.missesUntilAway { #expect(field.looked(for: .typeA, found: []) == []) }
      for number in 3...4 as ClosedRange<UInt64> {
        _ = field.looked(for: .typeA, found: [tag])
        #expect(field.interrupted(number) == false)
      }
    }
  }

  /// The limit is for consecutive failures.
  @Test(arguments: [false, true]) mutating func `a successful reading resets the count of failures`(isCompared: Bool) {
    if isCompared {
      _ = field.looked(for: .typeA, found: [card([8, 0, 0, 0])])
      field.examined(1, card([8, 0, 0, 0]), message)
    }
    for number in 1...2 as ClosedRange<UInt8> {
      field.fieldWentOff()
      let next = card([8, 1, 1, number])
      let outcomes = field.looked(for: .typeA, found: [next])
      let isTooMuch =
        isCompared
        ? field.interrupted(UInt64(number) + 1, with: 1, next) : field.interrupted(UInt64(number))
      #expect(!isTooMuch, "\(outcomes)")
    }
    let whole = card([8, 2, 2, 2])
    let outcomes = field.looked(for: .typeA, found: [whole])
    if isCompared {
      #expect(outcomes == [.uncertain(4, resting: 1, whole)])
      #expect(field.compared(4, with: 1, whole, message) == true)
    } else {
      #expect(outcomes == [.arrived(3, whole)])
      field.examined(3, whole, message)
    }
    let resting = isCompared ? 1 : 3 as UInt64
    for number in 0..<2 as Range<UInt64> {
      field.fieldWentOff()
      let next = card([8, 3, 3, UInt8(number)])
      let new = (isCompared ? 5 : 4) + number
      #expect(field.looked(for: .typeA, found: [next]) == [.uncertain(new, resting: resting, next)])
      #expect(field.interrupted(new, with: resting, next) == false)
    }
  }

  @Test mutating func `all tags leave when the reader is unplugged`() {
    _ = field.looked(for: .typeA, found: [tag])
    _ = field.looked(for: .typeA, found: [tag, other])
    #expect(field.readerLeft() == [.left(1), .left(2)])
    #expect(field.readerLeft() == [])
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
    field.know(known((tag, 1 << 32)))
    if hasBeenSeen { #expect(field.looked(for: .typeA, found: [tag]) == [.recognized(tag)]) }
    #expect(field.readerLeft() == (hasBeenSeen ? [.left(1 << 32)] : []))
    let outcome = hasBeenSeen ? TargetField.Outcome.arrived(1, tag) : .recognized(tag)
    #expect(field.looked(for: .typeA, found: [tag]) == [outcome])
  }

  @Test func `a tag that the daemon no longer knows is new`() {
    var field = TargetField([.typeA])
    field.know(known((tag, 1 << 32)))
    field.know(known())
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
  }

  @Test func `a known tag is not announced until it was removed, and a suspect is still marked`() {
    var field = TargetField([.typeA])
    field.know(known((tag, 1 << 32), isSuspect: true))
    #expect(field.looked(for: .typeA, found: [tag]) == [.recognized(tag)])
    #expect(field.resting.map(\.isSuspect) == [true])
    #expect(field.looked(for: .typeA, found: [tag]) == [])
    #expect(field.looked(for: .typeA, found: []) == [])
    #expect(field.looked(for: .typeA, found: []) == [.left(1 << 32)])
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
  }

  @Test func `a resting tag that becomes known keeps its placement`() {
    var field = TargetField([.typeA])
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    field.know(known((tag, 1)))
    #expect(field.looked(for: .typeA, found: [tag]) == [])
    #expect(field.looked(for: .typeA, found: []) == [])
    #expect(field.looked(for: .typeA, found: []) == [.left(1)])
  }

  @Test func `a known tag leaves after looks for all of its technologies missed it`() {
    var field = TargetField([.typeA, .felica212, .felica424])
    field.know(known((felica([1, 2, 3, 4, 5, 6, 7, 8]), 1 << 32)))
    for _ in 1...3 { #expect(field.looked(for: .typeA, found: []) == []) }
    #expect(field.looked(for: .felica212, found: []) == [])
    #expect(field.looked(for: .felica212, found: []) == [])
    #expect(field.looked(for: .felica424, found: []) == [])
    #expect(field.looked(for: .felica424, found: []) == [.left(1 << 32)])
  }

  @Test func `a new tag beside a known one is read`() {
    var field = TargetField([.typeA])
    field.know(known((tag, 1 << 32)))
    #expect(field.looked(for: .typeA, found: [other, tag]) == [.arrived(1, other), .recognized(tag)])
    #expect(field.looked(for: .typeA, found: [other]) == [])
    #expect(field.looked(for: .typeA, found: [other]) == [.left(1 << 32)])
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
      var field = TargetField([modulation])
      field.know(known((tag(1), 1 << 32), mayHaveChanged: mayHaveChanged))
      guard mayHaveChanged else {
        #expect(field.looked(for: modulation, found: [tag(2)]) == [.arrived(1, tag(2))])
        continue
      }
      #expect(field.looked(for: modulation, found: [tag(2)]) == [.recognized(tag(2))])
      // Its identifier may change again. A second tag is a new one.
      field.fieldWentOff()
      #expect(field.looked(for: modulation, found: [tag(3)]) == [])
      #expect(field.looked(for: modulation, found: [tag(3), tag(4)]) == [.arrived(1, tag(4))])
      #expect(field.looked(for: modulation, found: [tag(4)]) == [])
      #expect(field.looked(for: modulation, found: [tag(4)]) == [.left(1 << 32)])
    }
  }

  @Test func `a known tag with a random identifier does not match another kind of tag`() {
    var field = TargetField([.typeA, .typeB])
    field.know(known((card([8, 1, 1, 1]), 1 << 32), mayHaveChanged: true))
    #expect(field.looked(for: .typeB, found: [cardB([8, 2, 2, 2])]) == [.arrived(1, cardB([8, 2, 2, 2]))])
    #expect(field.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func `a tag of an unwanted kind is not read`() {
    var field = TargetField([.typeA]) { $0 == .type4A }
    #expect(field.looked(for: .typeA, found: [tag]) == [.unwanted(tag)])
    #expect(field.looked(for: .typeA, found: [tag, card([4, 1, 1, 1])]) == [.arrived(1, card([4, 1, 1, 1]))])
    for _ in 0..<3 { #expect(field.looked(for: .typeA, found: [card([4, 1, 1, 1])]) == []) }
    #expect(field.looked(for: .typeA, found: [tag, card([4, 1, 1, 1])]) == [.unwanted(tag)])
  }
}
