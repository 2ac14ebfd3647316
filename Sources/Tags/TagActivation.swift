/// What a tag said of itself when it was found, by the technology that found it.
public enum TagActivation: Sendable, Hashable {
  case typeA(TypeAActivation)
  case typeB(TypeBActivation)
  case felica(FeliCaActivation)
  case jewel(JewelActivation)

  /// How the tag is read.
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

/// What a Type B tag says of itself while it is selected (ISO/IEC 14443-3, 7.9 and 7.11).
public struct TypeBActivation: Sendable, Hashable {
  /// Pseudo-unique PICC identifier, 4 bytes; a card may make up a new one at each activation.
  public let pupi: [UInt8]
  /// Application data, 4 bytes.
  public let applicationData: [UInt8]
  /// Protocol info, 3 or 4 bytes.
  public let protocolInfo: [UInt8]
  /// Answer to ATTRIB, as it came; empty where there is none.
  public let attribResponse: [UInt8]

  /// - Parameters:
  ///   - pupi: 4 bytes.
  ///   - applicationData: 4 bytes.
  ///   - protocolInfo: 3 or 4 bytes.
  ///   - attribResponse: answer to ATTRIB; empty where there is none.
  public init(pupi: [UInt8], applicationData: [UInt8], protocolInfo: [UInt8], attribResponse: [UInt8]) {
    self.pupi = pupi
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.attribResponse = attribResponse
  }
}

/// What a FeliCa tag says of itself when it is polled (JIS X 6319-4).
public struct FeliCaActivation: Sendable, Hashable {
  /// Manufacture ID, 8 bytes.
  public let idm: [UInt8]
  /// Manufacture parameters, 8 bytes.
  public let pmm: [UInt8]
  /// The system that answered, 2 bytes; nil where the tag did not say.
  public let systemCode: [UInt8]?
  /// Kilobits a second: 212 or 424.
  public let bitRate: Int

  /// - Parameters:
  ///   - idm: 8 bytes.
  ///   - pmm: 8 bytes.
  ///   - systemCode: 2 bytes, or nil.
  ///   - bitRate: 212 or 424.
  public init(idm: [UInt8], pmm: [UInt8], systemCode: [UInt8]?, bitRate: Int) {
    self.idm = idm
    self.pmm = pmm
    self.systemCode = systemCode
    self.bitRate = bitRate
  }
}

/// What a Topaz or Jewel tag says of itself when it is found.
public struct JewelActivation: Sendable, Hashable {
  /// Answer to request, the first byte sent last in the standard: `0C 00` for a Topaz.
  public let atqa: [UInt8]
  /// UID0 to UID3: the part of the UID that commands carry.
  public let uid: [UInt8]

  /// - Parameters:
  ///   - atqa: two bytes.
  ///   - uid: 4 bytes.
  public init(atqa: [UInt8], uid: [UInt8]) {
    self.atqa = atqa
    self.uid = uid
  }
}
