/// The kind of card that an answer to reset describes (PC/SC part 3 and its supplement for contactless cards, 3.1.3.2.3).
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
  /// No valid answer to reset. No command is sent.
  case unknown

  /// Whether the card may be connected to.
  var isContactless: Bool {
    switch self {
    case .storage, .isoDEPTypeA, .isoDEPTypeB: true
    case .contact, .unknown: false
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
/// The historical bytes come from the card, so that a card of ISO-DEP may imitate a memory card. It then fails to be read
/// as one.
struct AnswerToReset: Sendable, Hashable {
  /// Direct convention, then inverse convention (ISO/IEC 7816-3, 8.1).
  private static let conventions: Set<UInt8> = [0x3B, 0x3F]
  /// TD1 and TD2 of a contactless card: the protocols T=0 and T=1, without parameters.
  private static let protocols: [UInt8] = [0x80, 0x01]
  /// Tag, length, and the identifier of the PC/SC workgroup.
  private static let storage: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]
  private static let storageSize = 15

  /// The kind of card.
  let kind: CardKind

  /// Bytes from a reader, which may have any length and content.
  init(_ bytes: [UInt8]) { kind = Self.kind(of: bytes) }

  private static func kind(of bytes: [UInt8]) -> CardKind {
    guard let first = bytes.first, conventions.contains(first) else { return .unknown }
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

  /// Whether the bytes have the form of an answer to request of Type B. Three of its bits are reserved and zero, and one
  /// announces ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4). The last byte has the card's number, which is 0, in its low
  /// half (7.11).
  private static func isTypeB(_ bytes: [UInt8]) -> Bool {
    bytes.count == 8 && bytes[4] & 0x08 == 0 && bytes[5] & 0x09 == 0x01 && bytes[7] & 0x0F == 0
  }
}
