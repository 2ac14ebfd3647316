import Names
import ReaderProtocol
import Tags
import Testing

@testable import PCSCReader

/// A slot with a clock, and the cards that lie on it.
struct SlotRig {
  var slot = CardSlot()
  var now = SuspendingClock.now
  private var counter: UInt16 = 0

  /// An NTAG, an ISO-DEP card, a Type 5 tag, and a card with contacts, by their answers to reset.
  enum ATR {
    static let type2: [UInt8] = storage(0x03, 0x0003)
    static let type4: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]
    static let type5: [UInt8] = storage(0x0B, 0x0014)
    static let picoPass: [UInt8] = storage(0x0A, 0x0018)
    static let contact: [UInt8] = [0x3B, 0xDA, 0x18, 0xFF, 0x81, 0xB1, 0xFE, 0x75, 0x1F, 0x03, 0x00, 0x31, 0xC5]

    static func storage(_ standard: UInt8, _ name: UInt16) -> [UInt8] {
      let name = [UInt8(name >> 8), UInt8(name & 0xFF)]
      let bytes: [UInt8] =
        [0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 0x03, 0x06, standard] + name + [0, 0, 0, 0]
      return [0x3B] + bytes + [bytes.reduce(0, ^)]
    }
  }

  static let tag = type2([4, 1, 2, 3, 4, 5, 6])
  static let other = type2([4, 9, 9, 9, 9, 9, 9])

  static func type2(_ uid: [UInt8]) -> TagActivation { .typeA(TypeAActivation(type: .type2, uid: uid)) }

  static func phone(_ last: UInt8) -> TagActivation {
    .typeA(TypeAActivation(type: .type4A, uid: [0x08, 0, 0, last]))
  }

  /// A slot without a card, while the reader scans.
  static func scanning() -> SlotRig {
    var rig = SlotRig()
    #expect(rig.slot.know(KnownTags()) == [])
    rig.slot.scan(for: Set(TagType.readable))
    #expect(rig.takeAway() == [])
    return rig
  }

  /// A slot on which `tag` has number 1 and is being read.
  static func reading() -> SlotRig {
    var rig = scanning()
    rig.insert()
    #expect(rig.begin() == 1)
    #expect(rig.identify(tag).0 == .new)
    return rig
  }

  /// A slot on which `tag` rests after it was announced with number 1.
  static func resting() -> SlotRig {
    var rig = reading()
    #expect(rig.slot.read(at: rig.now) == [])
    return rig
  }

  /// pcscd counts an insertion.
  @discardableResult
  mutating func insert(_ atr: [UInt8] = ATR.type2, isMute: Bool = false, isExclusive: Bool = false) -> [CardSlot
    .Outcome]
  {
    counter &+= 1
    return show(atr, isMute: isMute, isExclusive: isExclusive)
  }

  /// pcscd reports the card again, without a new count.
  @discardableResult
  mutating func show(_ atr: [UInt8] = ATR.type2, isMute: Bool = false, isExclusive: Bool = false) -> [CardSlot.Outcome]
  {
    slot.handle(
      SlotState(isPresent: true, counter: counter, atr: atr, isMute: isMute, isExclusive: isExclusive), at: now)
  }

  /// pcscd counts a removal.
  @discardableResult
  mutating func takeAway() -> [CardSlot.Outcome] {
    counter &+= 1
    return slot.handle(SlotState(isPresent: false, counter: counter), at: now)
  }

  /// Another card is there when pcscd looks again.
  mutating func replace() -> [CardSlot.Outcome] {
    counter &+= 2
    return show()
  }

  mutating func begin() -> UInt64? {
    guard slot.next(at: now) == .examine else { return nil }
    return slot.begin()
  }

  mutating func identify(_ tag: TagActivation) -> (CardSlot.Identity, [CardSlot.Outcome]) {
    slot.identified(tag, at: now)
  }

  /// The time until the next attempt to connect; nil if there is none.
  mutating func pause() -> Duration? {
    switch slot.next(at: now) {
    case .examine, .restorePolling: .zero
    case .wait(nil): nil
    case .wait(let end?): now.duration(to: end)
    }
  }

  mutating func pass(_ duration: Duration) { now += duration }

  /// The daemon's list with these tags.
  static func known(
    _ tags: [(UInt64, TagActivation)], isSuspect: Bool = false, includesFirst: Bool = false
  ) -> KnownTags {
    let key = TagFingerprint.Key(low: 1, high: 2)
    return KnownTags(
      key: key,
      tags: tags.map { number, tag in
        KnownTag(
          number: number, fingerprint: TagFingerprint(tag.type, tag.identifier, key), technology: tag.type,
          mayHaveChanged: KnownTag.mayChange(tag.type, tag.identifier), isSuspect: isSuspect)
      }, includesFirst: includesFirst)
  }
}
