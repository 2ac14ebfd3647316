import ReaderLink
import Tags
import Testing

@testable import Reader

@Suite struct PlacementTrackerTests {
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

  @Test func aTagArrivesOnceAndLeavesOnce() {
    var tracker = PlacementTracker()
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [.left(1)])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func aLookThatMissesATagIsNoRemoval() {
    var tracker = PlacementTracker()
    _ = tracker.looked(for: .typeA, found: [tag])
    for _ in 0..<10 {
      #expect(tracker.looked(for: .typeA, found: []) == [])
      #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    }
  }

  @Test func aTagThatDoesNotAnswerAndHasAnotherInItsPlaceIsAwayAtOnce() {
    var tracker = PlacementTracker()
    _ = tracker.looked(for: .typeA, found: [tag])
    tracker.checkFailed(tag)
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    // One that was sent to sleep may hide behind a newcomer.
    #expect(tracker.looked(for: .typeA, found: [other]) == [.arrived(2, other)])
    #expect(tracker.looked(for: .typeA, found: [tag, other]) == [])
    _ = tracker.looked(for: .typeA, found: [tag])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.left(2)])
    tracker.checkFailed(tag)
    #expect(tracker.looked(for: .typeA, found: [other]) == [.left(1), .arrived(3, other)])
  }

  @Test func aLookForAnotherTechnologySaysNothingOfATag() {
    var tracker = PlacementTracker()
    _ = tracker.looked(for: .typeA, found: [tag])
    for _ in 0..<10 { #expect(tracker.looked(for: .typeB, found: []) == []) }
    #expect(tracker.resting.count == 1)
  }

  @Test func tagsThatLieTogetherComeAndGoOneByOne() {
    var tracker = PlacementTracker()
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

  @Test func aTagThatAnswersAtTwoBitRatesIsOne() {
    var tracker = PlacementTracker()
    let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    _ = tracker.looked(for: .felica212, found: [felica(idm)])
    #expect(tracker.looked(for: .felica424, found: [felica(idm, bitRate: 424)]) == [])
    // Nothing at 424 says nothing.
    for _ in 0..<3 { #expect(tracker.looked(for: .felica424, found: []) == []) }
  }

  @Test func noTagMakesUpMoreThanThereIsRoomFor() {
    var tracker = PlacementTracker()
    var arrived = 0
    for number in 0..<40 as Range<UInt8> {
      // One a technology and look, so that none is missed before the table is full.
      let outcomes = tracker.looked(for: .felica424, found: [felica([number, 0, 0, 0, 0, 0, 0, 0])])
      arrived += outcomes.count { if case .arrived = $0 { true } else { false } }
    }
    #expect(arrived == PlacementTracker.most)
    #expect(tracker.resting.count == PlacementTracker.most)
  }

  // MARK: Identifiers that a tag makes up

  @Test func aRandomUIDMayChangeWhileTheCardRests() {
    var tracker = PlacementTracker()
    let first = card([8, 1, 1, 1])
    #expect(tracker.looked(for: .typeA, found: [first]) == [.arrived(1, first)])
    tracker.examined(1, first, message)
    tracker.fieldWentOff()
    let second = card([8, 2, 2, 2])
    #expect(tracker.looked(for: .typeA, found: [second]) == [.uncertain(2, resting: 1, second)])
    #expect(tracker.compared(2, with: 1, second, message) == true)
    #expect(tracker.looked(for: .typeA, found: [second]) == [])
    // Another message is another tag.
    let third = card([8, 3, 3, 3])
    #expect(tracker.looked(for: .typeA, found: [third]) == [.uncertain(3, resting: 1, third)])
    #expect(tracker.compared(3, with: 1, third, .problem(reason: "x")) == false)
    #expect(tracker.resting.map(\.number) == [3])
  }

  /// Where it was selected anew to be read again, it has another one at the end than at the beginning.
  @Test func theUIDThatACardHasWhenItHasBeenReadIsTheOneThatCounts() {
    var tracker = PlacementTracker()
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
  func whatSaysSomethingElseOfItselfIsAnotherTag(uid: [UInt8]) {
    var tracker = PlacementTracker()
    let first = card([8, 1, 1, 1])
    _ = tracker.looked(for: .typeA, found: [first])
    tracker.examined(1, first, message)
    let next = card(uid, historical: 0x81)
    #expect(tracker.looked(for: .typeA, found: [next]) == [.arrived(2, next)])
    #expect(tracker.looked(for: .typeA, found: [next]) == [.left(1)])
  }

  @Test func twoPhonesOfOneMakeAreTwo() {
    var tracker = PlacementTracker()
    let (first, second) = (card([8, 1, 1, 1]), card([8, 2, 2, 2]))
    _ = tracker.looked(for: .typeA, found: [first])
    tracker.examined(1, first, message)
    #expect(tracker.looked(for: .typeA, found: [first, second]) == [.arrived(2, second)])
  }

  @Test func aPUPIIsAnotherTagsUnlessTheFieldWasOff() {
    var tracker = PlacementTracker()
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
  func aPhonesIDmMayChange(_ manufacturer: [UInt8], _ isUncertain: Bool) {
    var tracker = PlacementTracker()
    let first = felica(manufacturer + [1, 1, 1, 1, 1, 1])
    _ = tracker.looked(for: .felica212, found: [first])
    tracker.examined(1, first, message)
    let next = felica(manufacturer + [2, 2, 2, 2, 2, 2])
    let outcomes = tracker.looked(for: .felica212, found: [next])
    #expect(outcomes == (isUncertain ? [.uncertain(2, resting: 1, next)] : [.arrived(2, next)]))
  }

  // MARK: Readings that fail

  @Test func aTagThatCouldNotBeReadIsNewWhenItIsFoundAgain() {
    var tracker = PlacementTracker()
    _ = tracker.looked(for: .typeA, found: [tag])
    tracker.unread(1)
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func aTagWithWhichTheDeviceFailsIsNewAFewTimes() {
    var tracker = PlacementTracker()
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(number, tag)])
      #expect(tracker.interrupted(number) == (number == 3))
    }
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
  }

  /// What becomes of another one neither counts for it nor ends the row.
  @Test(arguments: [false, true]) func failuresAreCountedForEachTagUntilItIsAway(isOther: Bool) {
    var tracker = PlacementTracker()
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

  /// It is in a row that failures count.
  @Test(arguments: [false, true]) func whatWasReadBeginsANewRow(isCompared: Bool) {
    var tracker = PlacementTracker()
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

  @Test func theReaderTakesItsTagsAlong() {
    var tracker = PlacementTracker()
    _ = tracker.looked(for: .typeA, found: [tag])
    _ = tracker.looked(for: .typeA, found: [tag, other])
    #expect(tracker.readerLeft() == [.left(1), .left(2)])
    #expect(tracker.readerLeft() == [])
  }

  // MARK: Tags that the daemon knows

  private let key = TagFingerprint.Key(low: 1, high: 2)

  func known(_ tags: (TagActivation, UInt64)..., mayHaveChanged: Bool = false, isSuspect: Bool = false) -> KnownTags {
    KnownTags(
      key: key,
      tags: tags.map { tag, number in
        let technology = tag.type.description
        return KnownTag(
          number: number, fingerprint: TagFingerprint(technology, tag.identifier, key), technology: technology,
          mayHaveChanged: mayHaveChanged, isSuspect: isSuspect)
      })
  }

  /// A tag that ends each process that reads it may make its reader absent for a moment, before the next process finds the tag: that is
  /// no reason to read it.
  @Test(arguments: [false, true]) func theReaderTakesAlongWhatIsKnownOnceItWasFound(hasBeenSeen: Bool) {
    var tracker = PlacementTracker()
    tracker.know(known((tag, 1 << 32)))
    if hasBeenSeen { #expect(tracker.looked(for: .typeA, found: [tag]) == [.recognized(tag)]) }
    #expect(tracker.readerLeft() == (hasBeenSeen ? [.left(1 << 32)] : []))
    let outcome = hasBeenSeen ? PlacementTracker.Outcome.arrived(1, tag) : .recognized(tag)
    #expect(tracker.looked(for: .typeA, found: [tag]) == [outcome])
  }

  @Test func aKnownTagIsNotAnnouncedUntilItIsAway() {
    var tracker = PlacementTracker([.typeA])
    tracker.know(known((tag, 1 << 32)))
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.recognized(tag)])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [.left(1 << 32)])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
  }

  @Test func `a known tag that lies there already goes on as it was`() {
    var tracker = PlacementTracker([.typeA])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(1, tag)])
    tracker.know(known((tag, 1)))
    #expect(tracker.looked(for: .typeA, found: [tag]) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [])
    #expect(tracker.looked(for: .typeA, found: []) == [.left(1)])
  }

  @Test func `nothing is asked of a suspect`() {
    var tracker = PlacementTracker([.typeA])
    tracker.know(known((tag, 1 << 32), isSuspect: true))
    _ = tracker.looked(for: .typeA, found: [tag])
    #expect(tracker.resting.map(\.isSuspect) == [true])
  }

  @Test func aKnownTagIsAwayOnceEveryTechnologyThatMayHaveItHasMissedIt() {
    var tracker = PlacementTracker([.typeA, .felica212, .felica424])
    tracker.know(known((felica([1, 2, 3, 4, 5, 6, 7, 8]), 1 << 32)))
    for _ in 1...3 { #expect(tracker.looked(for: .typeA, found: []) == []) }
    #expect(tracker.looked(for: .felica212, found: []) == [])
    #expect(tracker.looked(for: .felica212, found: []) == [])
    #expect(tracker.looked(for: .felica424, found: []) == [])
    #expect(tracker.looked(for: .felica424, found: []) == [.left(1 << 32)])
  }

  @Test func anotherTagIsReadBesideAKnownOne() {
    var tracker = PlacementTracker([.typeA])
    tracker.know(known((tag, 1 << 32)))
    #expect(tracker.looked(for: .typeA, found: [other, tag]) == [.arrived(1, other), .recognized(tag)])
    #expect(tracker.looked(for: .typeA, found: [other]) == [])
    #expect(tracker.looked(for: .typeA, found: [other]) == [.left(1 << 32)])
  }

  @Test(arguments: [Modulation.typeA, .typeB, .felica212])
  func aMadeUpIdentifierThatIsKnownMeansTheFirstThatHasOne(modulation: Modulation) {
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
      // It may have yet another one, and a second tag is not meant.
      tracker.fieldWentOff()
      #expect(tracker.looked(for: modulation, found: [tag(3)]) == [])
      #expect(tracker.looked(for: modulation, found: [tag(3), tag(4)]) == [.arrived(1, tag(4))])
      #expect(tracker.looked(for: modulation, found: [tag(4)]) == [])
      #expect(tracker.looked(for: modulation, found: [tag(4)]) == [.left(1 << 32)])
    }
  }

  @Test func aMadeUpIdentifierThatIsKnownMeansNoTagOfAnotherKind() {
    var tracker = PlacementTracker([.typeA, .typeB])
    tracker.know(known((card([8, 1, 1, 1]), 1 << 32), mayHaveChanged: true))
    #expect(tracker.looked(for: .typeB, found: [cardB([8, 2, 2, 2])]) == [.arrived(1, cardB([8, 2, 2, 2]))])
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.arrived(2, tag)])
  }

  @Test func aTagOfAKindThatIsNotWantedIsLeftAlone() {
    var tracker = PlacementTracker([.typeA]) { $0 == .type4A }
    #expect(tracker.looked(for: .typeA, found: [tag]) == [.unwanted(tag)])
    #expect(tracker.looked(for: .typeA, found: [tag, card([4, 1, 1, 1])]) == [.arrived(1, card([4, 1, 1, 1]))])
    for _ in 0..<3 { #expect(tracker.looked(for: .typeA, found: [card([4, 1, 1, 1])]) == []) }
    #expect(tracker.looked(for: .typeA, found: [tag, card([4, 1, 1, 1])]) == [.unwanted(tag)])
  }
}
