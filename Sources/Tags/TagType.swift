/// A kind of tag, by what has to be done to read it.
public struct TagType: Sendable, Hashable, CustomStringConvertible {
  /// The name on the bus and in logs: `type-2`.
  public let description: String

  private init(_ name: String) { description = name }

  /// NFC Forum Type 2: MIFARE Ultralight, NTAG.
  public static let type2 = TagType("type-2")
  /// NFC Forum Type 4 over ISO/IEC 14443 A: DESFire, phones, Java cards.
  public static let type4A = TagType("type-4a")
  /// MIFARE Classic, which has a protocol of its own.
  public static let mifareClassic = TagType("mifare-classic")
  /// Another device that offers NFC-DEP alone.
  public static let peer = TagType("nfc-dep")
}

/// What a Type A tag says of itself while it is selected (ISO/IEC 14443-3, 6.5).
public struct TypeAActivation: Sendable, Hashable {
  /// Answer to request, the first byte sent last in the standard: `00 44` for an Ultralight.
  public let atqa: [UInt8]
  /// Select acknowledge.
  public let sak: UInt8
  /// 4, 7 or 10 bytes, without cascade tags.
  public let uid: [UInt8]
  /// Answer to select, as it came, its length byte first; empty where there is none.
  public let ats: [UInt8]

  /// - Parameters:
  ///   - atqa: answer to request, two bytes.
  ///   - sak: select acknowledge.
  ///   - uid: 4, 7 or 10 bytes.
  ///   - ats: answer to select, its length byte first; empty where there is none.
  public init(atqa: [UInt8], sak: UInt8, uid: [UInt8], ats: [UInt8] = []) {
    self.atqa = atqa
    self.sak = sak
    self.uid = uid
    self.ats = ats
  }

  /// How the tag is read (NFC Forum Digital Protocol, SEL_RES; NXP AN10833 for the bit of MIFARE Classic).
  public var type: TagType {
    if sak & 0x20 != 0 { return .type4A }
    if sak & 0x40 != 0 { return .peer }
    return sak & 0x19 != 0 ? .mifareClassic : .type2
  }

  /// Whether the UID is random and new at each activation (ISO/IEC 14443-3, 6.5.4: single size, first byte 08).
  public var hasRandomUID: Bool { uid.count == 4 && uid.first == 0x08 }

  /// Whether the answer to select is of the form that ISO/IEC 14443-4, 5.2 demands: it counts its own bytes.
  public var hasValidATS: Bool { ats.isEmpty || Int(ats.first ?? 0) == ats.count }
}

extension TagType {
  /// Reads the NDEF message of a selected tag of this type in as few exchanges as its specification allows. Nothing is written.
  ///
  /// - Parameter channel: the way to the tag.
  /// - Returns: the message, or why there is none.
  /// - Throws: `TagChannelError` where an exchange fails; whether the tag is away or should be tried again, only the caller
  ///   can find out.
  public func readNDEF(over channel: inout some TagChannel) throws(TagChannelError) -> TagContent {
    switch self {
    case .type2: try Type2Tag.readNDEF(over: &channel)
    case .type4A: try Type4Tag.readNDEF(over: &channel)
    case .mifareClassic: .unsupported("MIFARE Classic tags are not read yet")
    case .peer: .unsupported("it is another NFC device, not a tag")
    default: .unsupported("tags of this type are not read yet")
    }
  }
}
