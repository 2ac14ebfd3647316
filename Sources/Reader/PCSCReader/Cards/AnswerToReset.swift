import Names
import Tags

/// The kind of card that an answer to reset describes (PC/SC part 3 and its supplement for contactless cards,
/// 3.1.3.2.3).
enum CardKind: Sendable, Hashable {
  /// A contactless memory card, such as a tag of Type 2. The reader made up the answer to reset.
  case storage(StorageCard)
  /// A card of ISO/IEC 14443-4 over Type A, with at most 15 of the historical bytes of its answer to select.
  case isoDEPTypeA(historicalBytes: [UInt8])
  /// A card of ISO/IEC 14443-4 over Type B: 4 bytes of application data, 3 of protocol info, and the first byte of the
  /// answer to ATTRIB.
  ///
  /// A card of Type A with eight historical bytes may look the same. `CardLink.identify` tells them apart.
  case isoDEPTypeB(applicationData: [UInt8], protocolInfo: [UInt8], attribResponse: UInt8)
  /// A card with contacts. No command is ever sent to it.
  case contact
  /// No card, although the reader reports one: an ACR122U does so after libnfc has switched off its own polling.
  case placeholder
  /// No valid answer to reset. No command is sent.
  case unknown

  /// Only such a card may be connected to.
  var isContactless: Bool {
    switch self {
    case .storage, .isoDEPTypeA, .isoDEPTypeB: true
    case .contact, .placeholder, .unknown: false
    }
  }
}

/// An answer to reset, as the reader reports it. For a contactless card, the reader composes it from the tag's data.
///
///     memory card   3B 8F 80 01 80 4F 0C A0 00 00 03 06 SS NN NN 00 00 00 00 TCK
///     ISO-DEP, A    3B 8n 80 01 <n historical bytes> TCK
///     ISO-DEP, B    3B 88 80 01 <application data, 4> <protocol info, 3> <MBLI and 0> TCK
///
/// SS is the standard, NN the name of the card. TCK is the exclusive or of the bytes from the second one on.
///
/// The historical bytes come from the card, so that a card of ISO-DEP may imitate a memory card. It then fails to be
/// read as one.
struct AnswerToReset: Sendable, Hashable {
  /// Direct convention, then inverse convention (ISO/IEC 7816-3, 8.1).
  private static let conventions: Set<UInt8> = [0x3B, 0x3F]
  /// TD1 and TD2 of a contactless card: the protocols T=0 and T=1, without parameters.
  private static let protocols: [UInt8] = [0x80, 0x01]
  /// Tag, length, and the identifier of the PC/SC workgroup.
  private static let storage: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]
  private static let storageSize = 15
  /// T0 announces neither interface bytes nor historical bytes.
  private static let placeholder: [UInt8] = [0x3B, 0x00]
  let kind: CardKind

  /// From a reader: any length and content.
  init(_ bytes: [UInt8]) { kind = Self.kind(of: bytes) }

  private static func kind(of bytes: [UInt8]) -> CardKind {
    guard let first = bytes.first, conventions.contains(first) else { return .unknown }
    guard bytes != placeholder else { return .placeholder }
    guard first == 0x3B, bytes.count >= 5, bytes[1] & 0xF0 == 0x80, Array(bytes[2...3]) == protocols else {
      return .contact
    }
    let historicalBytes = Array(bytes[4..<bytes.count - 1])
    guard historicalBytes.count == bytes[1] & 0x0F, bytes.dropFirst().reduce(0, ^) == 0 else { return .unknown }
    if historicalBytes.starts(with: storage), historicalBytes.count == storageSize {
      let name = UInt16(historicalBytes[9]) << 8 | UInt16(historicalBytes[10])
      let card = StorageCard(standard: StorageCard.Standard(historicalBytes[8]), name: name)
      return card.standard == .contactMemory ? .contact : .storage(card)
    }
    if isTypeB(historicalBytes) {
      return .isoDEPTypeB(
        applicationData: Array(historicalBytes[..<4]), protocolInfo: Array(historicalBytes[4..<7]),
        attribResponse: historicalBytes[7])
    }
    return .isoDEPTypeA(historicalBytes: historicalBytes)
  }

  /// The form of an answer to request of Type B. Three of its bits are reserved and zero, and one announces ISO/IEC
  /// 14443-4 (ISO/IEC 14443-3, 7.9.4). The last byte has the card's number, which is 0, in its low half (7.11).
  private static func isTypeB(_ bytes: [UInt8]) -> Bool {
    bytes.count == 8 && bytes[4] & 0x08 == 0 && bytes[5] & 0x09 == 0x01 && bytes[7] & 0x0F == 0
  }
}

/// A contactless memory card, as the reader describes it in an answer to reset (PC/SC part 3, supplemental document).
struct StorageCard: Sendable, Hashable {
  /// The byte SS.
  enum Standard: Sendable, Hashable {
    case notReported
    /// ISO/IEC 14443 A, part 1, 2 or 3.
    case typeA
    /// ISO/IEC 14443 B, part 1, 2 or 3.
    case typeB
    case iso15693
    /// I²C, two or three wires.
    case contactMemory
    case feliCa
    case lowFrequency
    /// A value that the document does not define.
    case other(UInt8)

    init(_ byte: UInt8) {
      switch byte {
      case 0x00: self = .notReported
      case 0x01...0x03: self = .typeA
      case 0x05...0x07: self = .typeB
      case 0x09...0x0C: self = .iso15693
      case 0x0D...0x10: self = .contactMemory
      case 0x11: self = .feliCa
      case 0x40: self = .lowFrequency
      default: self = .other(byte)
      }
    }
  }

  let standard: Standard
  /// The bytes NN, high byte first. It is a hint: 0000 and unknown values occur.
  let name: UInt16

  /// How to treat a card, as far as its answer to reset tells.
  enum Treatment: Sendable, Hashable {
    /// A tag of this type: 1, 2 or 5.
    case tag(TagType)
    /// A MIFARE Classic with this select acknowledge, which follows from the name.
    case mifareClassic(sak: UInt8)
    /// A FeliCa card. The bit rate is in kilobits per second.
    case feliCa(bitRate: Int)
    /// A Type 2 tag if its page 3 is a capability container.
    case probe
    /// The reason is the end of a sentence.
    case none(reason: String)
  }

  /// The standard decides first, then the name.
  var treatment: Treatment {
    switch standard {
    case .iso15693 where Self.picoPass.contains(name): .none(reason: "it is a PicoPass or iCLASS card, not an NFC tag")
    case .iso15693: .tag(.type5)
    case .feliCa: .feliCa(bitRate: name == Self.feliCa424 ? 424 : 212)
    case .typeB: .none(reason: "it is a memory card of ISO/IEC 14443 B, not an NFC tag")
    case .contactMemory: .none(reason: "it is a card with contacts")
    case .lowFrequency: .none(reason: "it is a low-frequency card, not an NFC tag")
    case .other: .none(reason: "the reader does not report a standard that is known")
    case .notReported where Self.iso15693.contains(name): .tag(.type5)
    case .notReported, .typeA: byName
    }
  }

  /// MIFARE Plus in security level 1 is compatible with MIFARE Classic. Level 2 requires a secret AES key in addition.
  private var byName: Treatment {
    switch name {
    case 0x0001, 0x0036: .mifareClassic(sak: 0x08)
    case 0x0002, 0x0037: .mifareClassic(sak: 0x18)
    case 0x0026: .mifareClassic(sak: 0x09)
    case 0x0038, 0x0039: .none(reason: "it is a MIFARE Plus in security level 2, which requires a key")
    // MIFARE Ultralight, and every NTAG; Infineon my-d move and my-d NFC; Ultralight C and EV1.
    case 0x0003, 0x0027, 0x0028, 0x003A, 0x003D: .tag(.type2)
    // Jewel, Topaz. An ACR122U uses its own name.
    case 0x002F, 0x0030, 0xF004: .tag(.type1)
    case 0x003B, 0xF011: .feliCa(bitRate: 212)
    case Self.feliCa424: .feliCa(bitRate: 424)
    case _ where Self.picoPass.contains(name): .none(reason: "it is a PicoPass or iCLASS card, not an NFC tag")
    case Self.unnamed: bySelectAcknowledge(UInt8(truncatingIfNeeded: name))
    default: .probe
    }
  }

  /// An ACR122U that does not know a card puts FF and the select acknowledge in place of the name.
  private func bySelectAcknowledge(_ sak: UInt8) -> Treatment {
    switch TypeAActivation(atqa: [], sak: sak, uid: []).type {
    case .mifareClassic: .mifareClassic(sak: sak)
    // No card of ISO/IEC 14443-4 has bit 8.
    case .type4A where sak & 0x80 == 0:
      .none(
        reason: "it is a Type 4 card that the reader did not activate; another program may have changed its settings: "
          + "unplug the reader and plug it in again")
    case .peer: .none(reason: "it is a phone or another device in peer-to-peer mode, not a tag")
    default: .probe
    }
  }

  private static let unnamed: ClosedRange<UInt16> = 0xFF00...0xFFFF

  private static let feliCa424: UInt16 = 0xF012
  private static let picoPass: ClosedRange<UInt16> = 0x0017...0x0020
  /// Tag-it, LRI512, ICODE SLI, TempSens, I.CODE1, LRI64, I.CODE UID, LRI12, LRI128, my-d light, ICODE SL2, MLX90129.
  private static let iso15693: Set<UInt16> = [
    0x0012, 0x0013, 0x0014, 0x0015, 0x0016, 0x0021, 0x0022, 0x0024, 0x0025, 0x002B, 0x0035, 0x003C,
  ]
}
