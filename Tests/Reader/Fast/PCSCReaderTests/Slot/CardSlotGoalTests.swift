import Names
import ReaderProtocol
import Tags
import Testing

@testable import PCSCReader

/// What is announced, by the goal and by what the daemon knows.
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
