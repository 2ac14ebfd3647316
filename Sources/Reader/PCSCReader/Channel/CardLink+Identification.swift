import Names
import ReaderModels
import Tags

/// What was found out about a card.
enum CardIdentification: Sendable, Hashable {
  case tag(TagActivation)
  /// No tag that can be read. The reason is the end of a sentence: "it is a card with contacts".
  case notSupported(reason: String)
}

/// Finding out which tag it is. A PC/SC reader has already activated the tag. It reports neither SAK nor ATQA nor ATS.
extension CardLink {
  /// The NDEF system of a FeliCa card (Type 3 Tag, 4.3).
  private static var ndefSystem: UInt16 { 0x12FC }
  private static var everySystem: UInt16 { 0xFFFF }

  /// Asks for the identifier of a contactless card, and for more if the answer to reset leaves a doubt. Sends nothing to
  /// a card with contacts.
  ///
  /// `systems` are the system codes to poll a FeliCa card for, in this order. The reader itself has polled for every
  /// system, so that it knows the identifier of the first one only.
  mutating func identify(
    _ kind: CardKind, systems: [UInt16] = [0x12FC, 0xFFFF]
  ) throws(TagChannelError) -> CardIdentification {
    switch kind {
    case .contact: return .notSupported(reason: "it is a card with contacts")
    case .unknown: return .notSupported(reason: "it does not identify itself as a contactless card")
    case .isoDEPTypeA(let historicalBytes):
      identifier = try reportedIdentifier()
      return .tag(.typeA(TypeAActivation(type: .type4A, uid: identifier, historicalBytes: historicalBytes)))
    case .isoDEPTypeB(let applicationData, let protocolInfo, let attribResponse):
      identifier = try reportedIdentifier()
      let bytes = applicationData + protocolInfo + [attribResponse]
      // A UID of Type A may have four bytes too. Only a card of Type A has an answer to select.
      var isTypeA = identifier.count != 4
      if !isTypeA {
        let answer = try ask(.answerToSelect)
        isTypeA = answer.status.isSuccess && !answer.data.isEmpty
      }
      if isTypeA {
        return .tag(.typeA(TypeAActivation(type: .type4A, uid: identifier, historicalBytes: bytes)))
      }
      return .tag(
        .typeB(
          TypeBActivation(
            pupi: identifier, applicationData: applicationData, protocolInfo: protocolInfo,
            attribResponse: [attribResponse])))
    case .storage(let card): return try identify(card, systems)
    }
  }

  private mutating func identify(
    _ card: StorageCard, _ systems: [UInt16]
  ) throws(TagChannelError) -> CardIdentification {
    switch card.treatment {
    case .none(let reason): return .notSupported(reason: reason)
    case .tag(.type1): return try type1()
    case .tag(.type5):
      identifier = try reportedIdentifier()
      guard let uid = Self.uid(ofType5: identifier) else {
        throw TagChannelError(.transmission, "the reader reports an identifier that no ISO/IEC 15693 tag has")
      }
      return .tag(.typeV(TypeVActivation(uid: uid)))
    case .tag(let type):
      identifier = try reportedIdentifier()
      return .tag(.typeA(TypeAActivation(type: type, uid: identifier)))
    case .mifareClassic(let sak):
      identifier = try reportedIdentifier()
      return .tag(.typeA(TypeAActivation(atqa: [], sak: sak, uid: identifier)))
    case .feliCa(let bitRate): return .tag(.felica(try feliCa(bitRate, systems)))
    case .probe:
      identifier = try reportedIdentifier()
      guard try isType2() else {
        return .notSupported(reason: "it is a memory card that the reader cannot name, and not an NFC tag of Type 2")
      }
      return .tag(.typeA(TypeAActivation(type: .type2, uid: identifier)))
    }
  }

  /// Whether it still is the same tag, after a reset. A random UID (ISO/IEC 14443-3, 6.5.4: 08 first) or a PUPI may have
  /// changed. Returns the tag as it is now, or nil.
  mutating func identifyAgain(_ tag: TagActivation) throws(TagChannelError) -> TagActivation? {
    if case .jewel(let jewel) = tag { return try rid() == jewel ? tag : nil }
    let now = try reportedIdentifier()
    switch tag {
    case .typeA(let card) where card.type == .type4A && card.uid.count == 4 && card.uid.first == 0x08:
      guard now.count == 4, now.first == 0x08 else { return nil }
      identifier = now
      return .typeA(TypeAActivation(type: .type4A, uid: now, historicalBytes: card.historicalBytes))
    case .typeB(let card):
      guard now.count == 4 else { return nil }
      identifier = now
      return .typeB(
        TypeBActivation(
          pupi: now, applicationData: card.applicationData, protocolInfo: card.protocolInfo,
          attribResponse: card.attribResponse))
    default: return now == identifier ? tag : nil
    }
  }

  /// FF CA: a UID of 4, 7 or 10 bytes, a PUPI of 4, or an IDm or UID of 8.
  private mutating func reportedIdentifier() throws(TagChannelError) -> [UInt8] {
    let bytes = try fetch(.identifier)
    guard (4...10).contains(bytes.count) else {
      throw TagChannelError(.transmission, "the reader reports an identifier of \(bytes.count) bytes")
    }
    return bytes
  }

  /// ISO/IEC 15693-3, 4.1: the first byte of a UID is E0. Some readers report the bytes in the order of the air, which
  /// is the reverse.
  static func uid(ofType5 bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count == 8 else { return nil }
    if bytes.first == 0xE0 { return bytes }
    return bytes.last == 0xE0 ? bytes.reversed() : nil
  }

  // MARK: Type 1

  private mutating func type1() throws(TagChannelError) -> CardIdentification {
    guard model.type1 != .none else {
      return .notSupported(reason: "it is a tag of Type 1, which this reader cannot read")
    }
    guard let activation = try rid() else {
      throw TagChannelError(.transmission, "the answer to RID is not of the form that it has")
    }
    identifier = activation.uid
    return .tag(.jewel(activation))
  }

  /// RID: two bytes of header ROM, and UID0 to UID3 (Type 1 Tag, 5.5). The answer to request of a Type 1 tag is always
  /// the same (NFC Digital Protocol, 4.6.3).
  private mutating func rid() throws(TagChannelError) -> JewelActivation? {
    let answer = try exchangeType1([0x78, 0, 0, 0, 0, 0, 0])
    guard answer.count >= 6 else { return nil }
    return JewelActivation(atqa: [0x0C, 0x00], uid: Array(answer[2..<6]))
  }

  // MARK: Type 2

  /// Reads page 3. A silent tag is no Type 2 tag, or was removed.
  private mutating func isType2() throws(TagChannelError) -> Bool {
    do throws(TagChannelError) {
      let pages = try exchangeType2([0x30, 0x03])
      return pages.count >= 16 && pages.first == 0xE1
    } catch {
      guard failure?.endsConnection != true else { throw error }
      return false
    }
  }

  // MARK: FeliCa

  private mutating func feliCa(_ bitRate: Int, _ systems: [UInt16]) throws(TagChannelError) -> FeliCaActivation {
    identifier = try reportedIdentifier()
    guard identifier.count == 8 else {
      throw TagChannelError(.transmission, "the reader reports an identifier that no FeliCa card has")
    }
    if model.canPoll {
      // A card answers this poll for certain. That tells which way to the card works on this reader.
      var first: FeliCaActivation?
      if model.feliCa.count > 1 { first = try poll(for: Self.everySystem, bitRate) }
      for system in systems where system != Self.everySystem || first == nil {
        if let found = try poll(for: system, bitRate) { return found }
      }
      if let first { return first }
    } else if !model.feliCa.isEmpty {
      hasNDEFSystem = try hasNDEFBlock()
    }
    return FeliCaActivation(
      idm: identifier, pmm: [], systemCode: hasNDEFSystem ? [0x12, 0xFC] : nil, bitRate: bitRate)
  }

  /// Nil if no card answers for this system.
  private mutating func poll(for system: UInt16, _ bitRate: Int) throws(TagChannelError) -> FeliCaActivation? {
    let (high, low) = (UInt8(truncatingIfNeeded: system >> 8), UInt8(truncatingIfNeeded: system))
    guard let answer = try answerOrNil([0x00, high, low, 0x01, 0x00]), answer.count >= 17, answer[0] == 0x01 else {
      return nil
    }
    return FeliCaActivation(
      idm: Array(answer[1..<9]), pmm: Array(answer[9..<17]),
      systemCode: answer.count >= 19 ? Array(answer[17..<19]) : nil, bitRate: bitRate)
  }

  /// Whether block 0 of the NDEF service can be read.
  private mutating func hasNDEFBlock() throws(TagChannelError) -> Bool {
    let check = [0x06] + identifier + [0x01, 0x0B, 0x00, 0x01, 0x80, 0x00]
    guard let answer = try answerOrNil(check) else { return false }
    return answer.count >= 28 && answer[9] == 0x00 && answer[10] == 0x00
  }

  private mutating func answerOrNil(_ command: [UInt8]) throws(TagChannelError) -> [UInt8]? {
    do throws(TagChannelError) {
      return try exchangeType3(command)
    } catch {
      guard failure?.endsConnection != true else { throw error }
      return nil
    }
  }
}
