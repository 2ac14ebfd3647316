public import Names

/// The data that a tag sent when it was found, by technology.
public enum TagActivation: Sendable, Hashable {
  case typeA(TypeAActivation)
  case typeB(TypeBActivation)
  case felica(FeliCaActivation)
  case jewel(JewelActivation)

  /// The type that determines how to read the tag.
  public var type: TagType {
    switch self {
    case .typeA(let tag): tag.type
    case .typeB: .type4B
    case .felica: .type3
    case .jewel: .type1
    }
  }

  /// UID, PUPI or IDm: 4 to 10 bytes.
  public var identifier: [UInt8] {
    switch self {
    case .typeA(let tag): tag.uid
    case .typeB(let tag): tag.pupi
    case .felica(let tag): tag.idm
    case .jewel(let tag): tag.uid
    }
  }
}

/// The activation data of a Type A tag (ISO/IEC 14443-3, 6.5).
public struct TypeAActivation: Sendable, Hashable {
  /// Answer to request. The byte that the standard sends last comes first: `00 44` for an Ultralight.
  public let atqa: [UInt8]
  /// Select acknowledge.
  public let sak: UInt8
  /// 4, 7 or 10 bytes, without cascade tags.
  public let uid: [UInt8]
  /// Answer to select as received, including its length byte; empty if there is none.
  public let ats: [UInt8]

  /// A tag with these data; `atqa` has two bytes.
  public init(atqa: [UInt8], sak: UInt8, uid: [UInt8], ats: [UInt8] = []) {
    self.atqa = atqa
    self.sak = sak
    self.uid = uid
    self.ats = ats
  }

  /// The type that determines how to read the tag (NFC Forum Digital Protocol, SEL_RES; NXP AN10833 for MIFARE
  /// Classic).
  public var type: TagType {
    if sak & 0x20 != 0 { return .type4A }
    if sak & 0x40 != 0 { return .peer }
    return sak & 0x19 != 0 ? .mifareClassic : .type2
  }

  /// Whether the first byte of the answer to select is its length, as ISO/IEC 14443-4, 5.2 requires.
  public var hasValidATS: Bool { ats.isEmpty || Int(ats.first ?? 0) == ats.count }
}

/// The activation data of a Type B tag (ISO/IEC 14443-3, 7.9 and 7.11).
public struct TypeBActivation: Sendable, Hashable {
  /// Pseudo-unique PICC identifier, 4 bytes. A card may generate a new one at each activation.
  public let pupi: [UInt8]
  /// Application data, 4 bytes.
  public let applicationData: [UInt8]
  /// Protocol info, 3 or 4 bytes.
  public let protocolInfo: [UInt8]
  /// Answer to ATTRIB as received; empty if there is none.
  public let attribResponse: [UInt8]

  /// A tag with these data.
  public init(pupi: [UInt8], applicationData: [UInt8], protocolInfo: [UInt8], attribResponse: [UInt8]) {
    self.pupi = pupi
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.attribResponse = attribResponse
  }
}

/// The data that a FeliCa tag sends in answer to a poll (JIS X 6319-4).
public struct FeliCaActivation: Sendable, Hashable {
  /// Manufacture ID, 8 bytes.
  public let idm: [UInt8]
  /// Manufacture parameters, 8 bytes.
  public let pmm: [UInt8]
  /// The system code that the tag sent, 2 bytes; nil if it sent none.
  public let systemCode: [UInt8]?
  /// Kilobits per second: 212 or 424.
  public let bitRate: Int

  /// A tag with these data.
  public init(idm: [UInt8], pmm: [UInt8], systemCode: [UInt8]?, bitRate: Int) {
    self.idm = idm
    self.pmm = pmm
    self.systemCode = systemCode
    self.bitRate = bitRate
  }
}

/// The activation data of a Topaz or Jewel tag.
public struct JewelActivation: Sendable, Hashable {
  /// Answer to request. The byte that the standard sends last comes first: `0C 00` for a Topaz.
  public let atqa: [UInt8]
  /// UID0 to UID3: the part of the UID that commands contain.
  public let uid: [UInt8]

  /// A tag with these data; `atqa` has two bytes, `uid` four.
  public init(atqa: [UInt8], uid: [UInt8]) {
    self.atqa = atqa
    self.uid = uid
  }
}
