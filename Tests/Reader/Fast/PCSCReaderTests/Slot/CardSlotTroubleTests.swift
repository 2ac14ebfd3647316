import Names
import ReaderModels
import ReaderProtocol
import Rig
import Tags
import Testing

@testable import PCSCReader

/// Cards that cannot be connected to, and cards that this process has reset.
@Suite struct CardSlotTroubleTests {
  let tag = SlotRig.tag
  let other = SlotRig.other

  // MARK: A card that is not there

  @Test func `a reader that reports a card without data is asked to poll, and is stuck if it goes on`() {
    var rig = SlotRig.scanning()
    #expect(rig.insert([0x3B, 0x00]) == [])
    #expect(rig.slot.next(at: rig.now) == .restorePolling)
    rig.slot.pollingRestored(at: rig.now)
    #expect(rig.pause() == .seconds(3))
    #expect(!rig.slot.isStuck(at: rig.now))
    rig.pass(.seconds(3))
    #expect(rig.pause() == nil)
    #expect(rig.slot.isStuck(at: rig.now))
    #expect(rig.takeAway() == [])
    #expect(!rig.slot.isStuck(at: rig.now))
    rig.insert()
    #expect(rig.begin() != nil)
  }

  @Test func `a tag that appears after the reader polls again is new`() {
    var rig = SlotRig.scanning()
    rig.insert([0x3B, 0x00])
    rig.slot.pollingRestored(at: rig.now)
    rig.insert()
    #expect(rig.begin() != nil)
    #expect(rig.identify(tag).0 == .new)
  }

  // MARK: Another program

  @Test func `a card that another program holds is tried three times in two seconds, and the last time is known`() {
    var rig = SlotRig.scanning()
    rig.insert()
    var attempts: [Duration] = []
    var areTriedAgain: [Bool] = []
    var spent = Duration.zero
    while let pause = rig.pause() {
      rig.pass(pause)
      spent += pause
      _ = rig.begin()
      attempts.append(spent)
      areTriedAgain.append(rig.slot.refused(at: rig.now).isTriedAgain)
    }
    #expect(attempts == [.zero, .milliseconds(700), .seconds(2)])
    #expect(areTriedAgain == [true, true, false])
    // It is left alone until its counter changes.
    #expect(rig.slot.isHeld)
    rig.pass(.seconds(3600))
    #expect(rig.show() == [])
    #expect(rig.pause() == nil)
    #expect(rig.slot.isHeld)
    #expect(rig.takeAway() == [])
    #expect(!rig.slot.isHeld)
    rig.insert()
    #expect(rig.begin() != nil)
  }

  @Test func `a card that the other program gives up is tried at once`() {
    var rig = SlotRig.scanning()
    rig.insert(isExclusive: true)
    _ = rig.begin()
    _ = rig.slot.refused(at: rig.now)
    #expect(rig.pause() == .milliseconds(700))
    #expect(rig.show(isExclusive: false) == [])
    #expect(rig.begin() != nil)
  }

  /// `isLate`: pcscd reports the end while the last attempt goes on.
  @Test(arguments: [false, true]) func `a card that was left to another program is tried when that program ends`(
    isLate: Bool
  ) {
    var rig = SlotRig.scanning()
    rig.insert(isExclusive: true)
    for attempt in 1...3 {
      rig.pass(.seconds(2))
      _ = rig.begin()
      if isLate && attempt == 3 { rig.show() }
      _ = rig.slot.refused(at: rig.now)
    }
    #expect(rig.slot.isHeld != isLate)
    if !isLate { rig.show() }
    #expect(!rig.slot.isHeld)
    rig.pass(.seconds(2))
    #expect(rig.begin() != nil)
    #expect(rig.identify(tag).0 == .new)
  }

  /// Another user may be at the machine when the other program ends.
  @Test func `a card that was left to another program when scanning stopped is not announced`() {
    var rig = SlotRig.scanning()
    rig.insert(isExclusive: true)
    for _ in 1...3 {
      rig.pass(.seconds(2))
      _ = rig.begin()
      _ = rig.slot.refused(at: rig.now)
    }
    #expect(rig.slot.stop() == [])
    rig.show()
    #expect(rig.pause() == nil)
    rig.slot.scan(for: Set(TagType.readable))
    #expect(rig.begin() != nil)
    #expect(rig.slot.isSilent)
  }

  @Test func `a card with which a reader fails is left alone after three attempts, and not as another program's`() {
    var rig = SlotRig.scanning()
    rig.insert()
    for _ in 1...3 {
      rig.pass(.seconds(2))
      _ = rig.begin()
      #expect(rig.slot.failed(at: rig.now) == [])
    }
    #expect(rig.pause() == nil)
    #expect(!rig.slot.isHeld)
  }

  // MARK: Power

  @Test(arguments: [true, false]) func `a card without power is tried twice, then it is a problem`(isMute: Bool) {
    var rig = SlotRig.scanning()
    rig.insert([], isMute: isMute)
    #expect(rig.pause() == .milliseconds(200))
    rig.pass(.milliseconds(200))
    _ = rig.begin()
    #expect(rig.slot.mute(at: rig.now) == [])
    #expect(rig.pause() == .milliseconds(200))
    rig.pass(.milliseconds(200))
    _ = rig.begin()
    #expect(rig.slot.mute(at: rig.now) == nil)
    // The problem is reported.
    #expect(rig.slot.read(at: rig.now) == [])
    #expect(rig.pause() == nil)
    #expect(rig.takeAway() == [.removed(2)])
  }

  /// Such a slot has no antenna, and is always in this state.
  @Test func `a slot whose card gets no power from the beginning is not announced`() {
    var rig = SlotRig()
    #expect(rig.slot.know(KnownTags()) == [])
    rig.slot.scan(for: Set(TagType.readable))
    rig.insert([], isMute: true)
    for _ in 1...CardApproach.powerAttempts {
      rig.pass(CardApproach.powerPause)
      #expect(rig.begin() != nil)
      if rig.slot.mute(at: rig.now) == nil { break }
    }
    #expect(rig.slot.isSilent)
    #expect(rig.slot.ignore(at: rig.now) == [])
    #expect(rig.pause() == nil)
    // A card that comes later is read.
    #expect(rig.takeAway() == [])
    rig.insert()
    #expect(rig.begin() != nil)
    #expect(rig.identify(tag).0 == .new)
  }

  /// It lies there when the process starts, and was not well in the field.
  @Test(arguments: [false, true])
  func `a card that gets power after the beginning is announced`(byItself: Bool) {
    var rig = SlotRig()
    #expect(rig.slot.know(KnownTags()) == [])
    rig.slot.scan(for: Set(TagType.readable))
    rig.insert([], isMute: true)
    if byItself { rig.show() } else { rig.pass(CardApproach.powerPause) }
    #expect(rig.begin() != nil)
    if !byItself { #expect(rig.slot.powered(SlotRig.ATR.type2).isContactless) }
    #expect(!rig.slot.isSilent)
    #expect(rig.identify(tag).0 == .new)
  }

  @Test func `a card that gets power by itself is read at once`() {
    var rig = SlotRig.scanning()
    rig.insert([], isMute: true)
    #expect(rig.show() == [])
    #expect(rig.begin() == 1)
  }

  @Test func `a card that gets power and turns out to have contacts is left alone`() {
    var rig = SlotRig.scanning()
    rig.insert([], isMute: true)
    #expect(rig.show(SlotRig.ATR.contact) == [])
    rig.pass(.seconds(1))
    #expect(rig.begin() == nil)
    // The same, after a connection.
    _ = rig.takeAway()
    rig.insert([], isMute: true)
    rig.pass(.seconds(1))
    _ = rig.begin()
    #expect(!rig.slot.powered(SlotRig.ATR.contact).isContactless)
    #expect(rig.slot.ignore(at: rig.now) == [])
    #expect(rig.begin() == nil)
  }

  // MARK: Resets by this process

  /// Works on a tag, and resets it.
  private func reset() -> SlotRig {
    var rig = SlotRig.reading()
    rig.slot.expectReturn(at: rig.now)
    return rig
  }

  @Test func `a card that the reader reports as another one after a reset is the same by its identity`() {
    var rig = reset()
    rig.pass(.milliseconds(200))
    #expect(rig.takeAway() == [])
    #expect(rig.slot.isGone)
    #expect(rig.slot.mayReturnUntil != nil)
    rig.pass(.milliseconds(200))
    #expect(rig.insert() == [])
    #expect(!rig.slot.isGone && rig.slot.hasReturned)
    let isSame = rig.slot.verify(true)
    #expect(isSame && !rig.slot.hasReturned)
    #expect(rig.slot.read(at: rig.now) == [])
    #expect(rig.takeAway() == [.removed(1)])
  }

  @Test func `another card after a reset is another placement`() {
    var rig = reset()
    #expect(rig.takeAway() == [])
    #expect(rig.insert() == [])
    let isSame = rig.slot.verify(false)
    #expect(!isSame)
    #expect(rig.slot.isGone)
    #expect(rig.slot.failed(at: rig.now) == [.removed(1)])
    #expect(rig.begin() == 2)
    #expect(rig.identify(other).0 == .new)
  }

  @Test func `a card that comes after a reset and is not identified again is another placement`() {
    var rig = reset()
    #expect(rig.takeAway() == [])
    #expect(rig.insert() == [])
    #expect(rig.slot.read(at: rig.now) == [.removed(1)])
    #expect(rig.begin() == 2)
  }

  @Test func `a card that is removed after a reset is gone`() {
    var rig = reset()
    #expect(rig.takeAway() == [])
    rig.pass(.seconds(2))
    #expect(rig.slot.failed(at: rig.now) == [.removed(1)])
    #expect(rig.slot.state == .empty)
  }

  @Test func `a card that comes long after a reset is another one`() {
    var rig = reset()
    rig.pass(.seconds(2))
    #expect(rig.takeAway() == [])
    #expect(rig.insert() == [])
    #expect(rig.slot.isGone)
  }

  /// Resets and reads a tag, and begins with the card that comes after this time.
  private func returned(after pause: Duration = .zero) -> SlotRig {
    var rig = reset()
    #expect(rig.slot.read(at: rig.now) == [])
    #expect(rig.takeAway() == [.removed(1)])
    rig.pass(pause)
    rig.insert()
    #expect(rig.begin() == 2)
    return rig
  }

  @Test func `a tag that comes back right after a reset and its reading is not announced again`() {
    var rig = returned()
    #expect(rig.identify(tag) == (.known, [.known(2, tag)]))
  }

  @Test(arguments: [true, false])
  func `another tag, and one that comes back late, is announced`(isLate: Bool) {
    var rig = returned(after: isLate ? .seconds(2) : .zero)
    #expect(rig.identify(isLate ? tag : other).0 == .new)
  }

  @Test func `a tag that is reported after each identification is left alone the second time`() {
    var rig = returned()
    rig.slot.expectReturn(at: rig.now)
    #expect(rig.identify(tag) == (.known, [.known(2, tag)]))
    #expect(rig.takeAway() == [.removed(2)])
    rig.insert()
    #expect(rig.begin() == nil)
    #expect(rig.takeAway() == [])
    rig.pass(.seconds(2))
    rig.insert()
    #expect(rig.begin() == 3)
    #expect(rig.identify(tag).0 == .new)
  }

  @Test func `a tag that leaves once more before it is identified is the same when it is back`() {
    var rig = returned()
    #expect(rig.takeAway() == [])
    rig.insert()
    #expect(rig.slot.failed(at: rig.now) == [])
    #expect(rig.begin() == 3)
    #expect(rig.identify(tag) == (.known, [.known(3, tag)]))
    // pcscd had switched the card off before, and the reader reports it again.
    #expect(rig.takeAway() == [.removed(3)])
    rig.insert()
    #expect(rig.begin() == 4)
    #expect(rig.identify(tag).0 == .known)
    rig.pass(.seconds(2))
    #expect(rig.takeAway() == [.removed(4)])
    rig.insert()
    #expect(rig.begin() == 5)
    #expect(rig.identify(tag).0 == .new)
  }

  @Test func `a tag that could not be read is read when it comes back`() {
    var rig = reset()
    rig.slot.expectReturn(false, at: rig.now)
    #expect(rig.slot.read(at: rig.now) == [])
    #expect(rig.takeAway() == [.removed(1)])
    rig.insert()
    #expect(rig.begin() == 2)
    #expect(rig.identify(tag).0 == .new)
  }

  @Test(arguments: [SlotRig.ATR.type4, SlotRig.ATR.contact])
  func `a card of another kind after a reset is another one`(atr: [UInt8]) {
    var rig = reset()
    #expect(rig.takeAway() == [])
    #expect(rig.insert(atr) == [])
    #expect(rig.slot.isGone)
    #expect(rig.slot.failed(at: rig.now) == [.removed(1)])
  }

  // MARK: Any order

  @Test(arguments: 1...200) func `any events lead to one removal for each named placement`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var rig = SlotRig.scanning()
    var named: [UInt64: Int] = [:]
    var removed: [UInt64: Int] = [:]
    func note(_ outcomes: [CardSlot.Outcome]) {
      for outcome in outcomes {
        switch outcome {
        case .removed(let number): removed[number, default: 0] += 1
        case .known(let number, _): named[number, default: 0] += 1
        }
      }
    }
    for _ in 0..<200 {
      switch UInt8.random(in: 0...11, using: &generator) {
      case 0, 1: note(rig.insert())
      case 2, 3: note(rig.takeAway())
      case 4: note(rig.insert([], isMute: true))
      case 5: note(rig.slot.readerLeft())
      case 6: note(rig.slot.stop())
      case 7: rig.slot.scan(for: Set(TagType.readable))
      case 8: rig.slot.expectReturn(at: rig.now)
      case 9: note(rig.show())
      default:
        guard let number = rig.begin() else { break }
        let (identity, outcomes) = rig.identify(Bool.random(using: &generator) ? tag : other)
        note(outcomes)
        guard identity == .new else { break }
        named[number, default: 0] += 1
        if Bool.random(using: &generator) { note(rig.takeAway()) }
        switch UInt8.random(in: 0...3, using: &generator) {
        case 0, 1: note(rig.slot.read(at: rig.now))
        case 2: note(rig.slot.refused(at: rig.now).1)
        default: note(rig.slot.interrupted(at: rig.now))
        }
      }
      rig.pass(.milliseconds(Int64.random(in: 0...900, using: &generator)))
    }
    note(rig.slot.readerLeft())
    note(rig.slot.stop())
    #expect(named.values.allSatisfy { $0 == 1 })
    #expect(named == removed)
  }
}
