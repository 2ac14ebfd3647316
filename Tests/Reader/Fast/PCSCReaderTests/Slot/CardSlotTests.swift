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
