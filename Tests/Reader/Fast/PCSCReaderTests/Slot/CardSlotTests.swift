import Names
import ReaderProtocol
import Tags
import Testing

@testable import PCSCReader

/// Placements: each begins once and ends once.
@Suite struct CardSlotTests {
  typealias ATR = SlotRig.ATR
  let tag = SlotRig.tag
  let other = SlotRig.other

  @Test func `a tag is read once and its removal is reported once`() {
    var rig = SlotRig.resting()
    #expect(rig.begin() == nil)
    #expect(rig.show() == [])
    #expect(rig.takeAway() == [.removed(1)])
    #expect(rig.takeAway() == [])
    rig.insert()
    #expect(rig.begin() == 2)
  }

  @Test func `a card that another one has replaced between two looks was removed`() {
    var rig = SlotRig.resting()
    #expect(rig.replace() == [.removed(1)])
    #expect(rig.begin() == 2)
    #expect(rig.identify(tag).0 == .new)
  }

  @Test func `a change of power or sharing is no placement`() {
    var rig = SlotRig.resting()
    #expect(rig.show(isExclusive: true) == [])
    #expect(rig.show() == [])
    #expect(rig.show([], isMute: true) == [])
    #expect(rig.begin() == nil)
    #expect(rig.takeAway() == [.removed(1)])
  }

  @Test func `the counter may wrap`() {
    var slot = CardSlot()
    slot.scan(for: Set(TagType.readable))
    _ = slot.handle(SlotState(isPresent: false, counter: .max), at: .now)
    _ = slot.handle(SlotState(isPresent: true, counter: 0, atr: ATR.type2), at: .now)
    #expect(slot.begin() == 1)
    _ = slot.identified(tag, at: .now)
    #expect(slot.read(at: .now) == [])
    #expect(slot.handle(SlotState(isPresent: false, counter: 1), at: .now) == [.removed(1)])
  }

  @Test func `a tag that is removed while it is read is announced before its removal`() {
    var rig = SlotRig.reading()
    #expect(rig.takeAway() == [])
    #expect(rig.slot.isGone)
    #expect(rig.slot.read(at: rig.now) == [.removed(1)])
    #expect(rig.slot.state == .empty)
  }

  @Test func `a tag that is removed before it was read ends its placement`() {
    var rig = SlotRig.reading()
    #expect(rig.takeAway() == [])
    #expect(rig.slot.failed(at: rig.now) == [.removed(1)])
    #expect(rig.slot.state == .empty)
    // It was not named before it was identified.
    rig.insert()
    #expect(rig.begin() == 2)
    #expect(rig.takeAway() == [])
    #expect(rig.slot.failed(at: rig.now) == [])
  }

  @Test func `the next card waits until the work on the present one has ended`() {
    var rig = SlotRig.reading()
    #expect(rig.takeAway() == [])
    #expect(rig.insert() == [])
    #expect(rig.begin() == nil)
    #expect(rig.slot.read(at: rig.now) == [.removed(1)])
    #expect(rig.begin() == 2)
    #expect(rig.identify(other).0 == .new)
  }

  @Test(arguments: [ATR.contact, [0x3F, 0x65], Array(repeating: 0xFF, count: 33), [0x3B]] as [[UInt8]])
  func `a card that is not contactless is never connected to`(atr: [UInt8]) {
    var rig = SlotRig.scanning()
    #expect(rig.insert(atr) == [])
    #expect(rig.begin() == nil)
    #expect(rig.slot.begin() == nil)
    #expect(rig.slot.card == nil)
    rig.pass(.seconds(60))
    #expect(rig.show(atr) == [])
    #expect(rig.pause() == nil)
    #expect(rig.takeAway() == [])
  }

  @Test func `a card of a kind that is not wanted is not connected to`() {
    var rig = SlotRig.scanning()
    rig.slot.scan(for: [.type4A])
    rig.insert(ATR.type5)
    #expect(rig.begin() == nil)
    // A session may want it.
    #expect(rig.slot.card != nil)
    #expect(rig.takeAway() == [])
    rig.insert(ATR.type4)
    #expect(rig.begin() == 1)
  }

  @Test func `a card turns out to be of a kind that is not wanted`() {
    var rig = SlotRig.scanning()
    rig.slot.scan(for: [.type2])
    // The answer to reset does not tell which kind of tag it is.
    rig.insert(ATR.storage(0x03, 0x0000))
    #expect(rig.begin() == 1)
    #expect(rig.identify(.typeA(TypeAActivation(type: .mifareClassic, uid: [1, 2, 3, 4]))).0 == .unwanted)
    #expect(rig.begin() == nil)
    #expect(rig.takeAway() == [])
  }

  @Test func `an obstacle that the answer to reset shows needs no connection`() {
    var rig = SlotRig.scanning()
    rig.insert(ATR.picoPass)
    #expect(rig.slot.card?.obstacle?.type == .type5)
    rig.takeAway()
    rig.insert()
    #expect(rig.slot.card?.obstacle == nil)
  }

  @Test func `a reader that leaves takes its tag along`() {
    var rig = SlotRig.resting()
    #expect(rig.slot.readerLeft() == [.removed(1)])
    #expect(rig.slot.readerLeft() == [])
    #expect(rig.slot.card == nil)
    // The same reader comes back with a card on it.
    #expect(rig.show() == [])
    #expect(rig.begin() == 2)
  }

  @Test func `a reader that leaves during the work takes its tag along afterwards`() {
    var rig = SlotRig.reading()
    #expect(rig.slot.readerLeft() == [])
    #expect(rig.slot.isGone)
    #expect(rig.slot.failed(at: rig.now) == [.removed(1)])
    #expect(rig.slot.state == .noReader)
  }
}

/// The announcements, by the goal and by the daemon's list of known tags.
@Suite struct CardSlotGoalTests {
  let tag = SlotRig.tag
  let other = SlotRig.other
  let all = Set(TagType.readable)

  @Test func `a tag that came while the reader did not scan is known, and not touched before`() {
    var rig = SlotRig.scanning()
    #expect(rig.slot.stop() == [])
    rig.insert()
    #expect(rig.begin() == nil)
    #expect(rig.pause() == nil)
    rig.slot.scan(for: all)
    #expect(rig.begin() == 1)
    #expect(rig.slot.isSilent)
    let (identity, outcomes) = rig.identify(tag)
    #expect(identity == .known && outcomes == [.known(1, tag)])
    #expect(rig.begin() == nil)
    #expect(rig.takeAway() == [.removed(1)])
    // The next tap is new.
    rig.insert()
    #expect(rig.begin() == 2)
    #expect(!rig.slot.isSilent)
  }

  @Test func `a tag that came and went while the reader did not scan leaves no trace`() {
    var rig = SlotRig.scanning()
    #expect(rig.slot.stop() == [])
    #expect(rig.insert() == [])
    #expect(rig.takeAway() == [])
    rig.slot.scan(for: all)
    #expect(rig.begin() == nil)
  }

  @Test func `a resting tag stays announced over a pause in scanning`() {
    var rig = SlotRig.resting()
    #expect(rig.slot.stop() == [])
    #expect(rig.slot.know(SlotRig.known([(1, tag)])) == [])
    rig.slot.scan(for: all)
    #expect(rig.begin() == nil)
    #expect(rig.takeAway() == [.removed(1)])
  }

  @Test func `a resting tag that leaves during a pause in scanning is removed`() {
    var rig = SlotRig.resting()
    #expect(rig.slot.stop() == [])
    #expect(rig.takeAway() == [.removed(1)])
  }

  @Test func `a tag that was not read before scanning stopped is known afterwards`() {
    var rig = SlotRig.reading()
    #expect(rig.slot.interrupted(at: rig.now) == [.removed(1)])
    #expect(rig.slot.stop() == [.known(2, tag)])
    rig.slot.scan(for: all)
    #expect(rig.begin() == nil)
    #expect(rig.takeAway() == [.removed(2)])
  }

  @Test func `a tag that was not even identified before scanning stopped is known afterwards`() {
    var rig = SlotRig.scanning()
    rig.insert()
    _ = rig.begin()
    #expect(rig.slot.interrupted(at: rig.now) == [])
    #expect(rig.slot.stop() == [])
    rig.slot.scan(for: all)
    #expect(rig.begin() == 2)
    #expect(rig.identify(tag).1 == [.known(2, tag)])
  }

  @Test func `a tag is read again if only the options of scanning have changed`() {
    var rig = SlotRig.reading()
    #expect(rig.slot.interrupted(at: rig.now) == [.removed(1)])
    rig.slot.scan(for: [.type2])
    #expect(rig.begin() == 2)
    #expect(rig.identify(tag).0 == .new)
  }

  // MARK: The start of a process

  @Test func `the tag that lies there at the start is announced, unless the daemon knows it`() {
    for isKnown in [false, true] {
      var rig = SlotRig()
      #expect(rig.slot.know(SlotRig.known(isKnown ? [(1 << 32 | 7, tag)] : [])) == [])
      rig.slot.scan(for: all)
      rig.insert()
      #expect(rig.begin() == 1)
      let (identity, outcomes) = rig.identify(tag)
      #expect(identity == (isKnown ? .recognized : .new) && outcomes == [])
      if !isKnown { #expect(rig.slot.read(at: rig.now) == []) }
      #expect(rig.takeAway() == [.removed(isKnown ? 1 << 32 | 7 : 1)])
    }
  }

  /// The process that was reading it has lost pcscd. In a session, the tag belonged to the client.
  @Test(arguments: [false, true]) func `a tag that was not read when pcscd ended is new`(wasInSession: Bool) {
    var rig = SlotRig.reading()
    #expect(rig.slot.failed(at: rig.now) == [.removed(1)])

    var next = SlotRig()
    #expect(next.slot.know(SlotRig.known([], includesFirst: wasInSession)) == [])
    next.slot.scan(for: all)
    next.insert()
    #expect(next.begin() == 1)
    let (identity, _) = next.identify(tag)
    #expect(identity == (wasInSession ? .known : .new))
    if !wasInSession { #expect(next.slot.read(at: next.now) == []) }
    #expect(next.takeAway() == [.removed(1)])
    // Placed again, it is a new tap.
    next.insert()
    #expect(next.begin() == 2)
    #expect(next.identify(tag).0 == .new)
  }

  /// The daemon may need a moment to find out that it may scan.
  @Test func `the tag that lies there at the start is announced even if scanning begins later`() {
    var rig = SlotRig()
    #expect(rig.slot.know(KnownTags()) == [])
    rig.insert()
    #expect(rig.begin() == nil)
    rig.slot.scan(for: all)
    #expect(rig.begin() == 1)
    #expect(rig.identify(tag).0 == .new)
  }

  @Test(arguments: [false, true])
  func `the first tag is known if nobody can tell what lay there`(isSeenBefore: Bool) {
    var rig = SlotRig()
    if isSeenBefore { rig.insert() }
    #expect(rig.slot.know(SlotRig.known([], includesFirst: true)) == [])
    rig.slot.scan(for: all)
    if !isSeenBefore { rig.insert() }
    #expect(rig.begin() == 1)
    #expect(rig.identify(tag).1 == [.known(1, tag)])
    // Only that one.
    #expect(rig.takeAway() == [.removed(1)])
    rig.insert()
    #expect(rig.begin() == 2)
    #expect(!rig.slot.isSilent)
  }

  @Test func `known tags that do not lie there were removed`() {
    var rig = SlotRig()
    #expect(rig.slot.know(SlotRig.known([(1 << 32, tag), (2 << 32, other)])) == [])
    #expect(Set(rig.takeAway()) == [.removed(1 << 32), .removed(2 << 32)])
    // One of them is there.
    rig = SlotRig()
    _ = rig.slot.know(SlotRig.known([(1 << 32, tag), (2 << 32, other)]))
    rig.slot.scan(for: all)
    rig.insert()
    _ = rig.begin()
    let (identity, outcomes) = rig.identify(other)
    #expect(identity == .recognized && outcomes == [.removed(1 << 32)])
    // None of them is, but a card with contacts.
    rig = SlotRig()
    _ = rig.slot.know(SlotRig.known([(1 << 32, tag)]))
    #expect(rig.insert(SlotRig.ATR.contact) == [.removed(1 << 32)])
  }

  @Test func `a known tag with a random identifier is recognized by its kind`() {
    var rig = SlotRig()
    _ = rig.slot.know(SlotRig.known([(1 << 32, SlotRig.phone(1))]))
    rig.slot.scan(for: all)
    rig.insert(SlotRig.ATR.type4)
    _ = rig.begin()
    #expect(rig.identify(SlotRig.phone(2)).0 == .recognized)
    #expect(rig.takeAway() == [.removed(1 << 32)])
  }

  /// A PicoPass, for example.
  @Test(arguments: [TagType.type5, .type2]) func `a known card without an identifier is recognized by its type`(
    known: TagType
  ) {
    var rig = SlotRig()
    let key = TagFingerprint.Key(low: 1, high: 2)
    let card = KnownTag(number: 1 << 32, fingerprint: TagFingerprint(known, [], key), technology: known)
    #expect(rig.slot.know(KnownTags(key: key, tags: [card])) == [])
    rig.slot.scan(for: all)
    rig.insert(SlotRig.ATR.picoPass)
    #expect(rig.begin() == 1)
    let outcomes = rig.slot.recognized(.type5, at: rig.now)
    #expect((outcomes == nil) == (known == .type2))
    if outcomes == nil { #expect(rig.slot.read(at: rig.now) == []) }
    let removals: [CardSlot.Outcome] = known == .type5 ? [.removed(1 << 32)] : [.removed(1), .removed(1 << 32)]
    #expect(rig.takeAway() == removals)
  }

  @Test func `a tag with which the reader has failed is recognized when the reader comes back`() {
    var rig = SlotRig.reading()
    _ = rig.slot.refused(at: rig.now)
    _ = rig.slot.readerLeft()
    #expect(rig.slot.know(SlotRig.known([(1, tag)], isSuspect: true)) == [])
    rig.pass(.seconds(10))
    #expect(rig.show() == [])
    _ = rig.begin()
    #expect(rig.identify(tag).0 == .recognized)
    #expect(rig.takeAway() == [.removed(1)])
  }

  /// The daemon has sent its list before it learned of the removal.
  @Test func `an old list does not hide the next tap`() {
    var rig = SlotRig.resting()
    #expect(rig.takeAway() == [.removed(1)])
    rig.insert()
    #expect(rig.slot.know(SlotRig.known([(1, tag)])) == [])
    #expect(rig.begin() == 2)
    #expect(rig.identify(tag).0 == .new)
  }
}

@Suite struct CardApproachTests {
  let now = SuspendingClock.now

  @Test func `a card is connected to at once, unless it has no power`() {
    var approach = CardApproach()
    #expect(approach.notBefore == nil)
    approach.awaitPower(at: now)
    #expect(approach.notBefore == now + .milliseconds(200))
    approach.retryAtOnce()
    #expect(approach.notBefore == nil)
  }

  @Test func `refusals and failures of power are counted apart`() {
    var approach = CardApproach()
    let refusals = [approach.wasRefused(at: now), approach.wasRefused(at: now), approach.wasRefused(at: now)]
    #expect(refusals == [true, true, false])
    let failures = [approach.wasMute(at: now), approach.wasMute(at: now)]
    #expect(failures == [true, false])
  }
}
