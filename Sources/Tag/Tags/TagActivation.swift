package import Names

/// The data that a tag sent when it was found, by technology.
package enum TagActivation: Sendable, Hashable {
  case typeA(TypeAActivation)
  case typeB(TypeBActivation)
  case felica(FeliCaActivation)
  case jewel(JewelActivation)
  case typeV(TypeVActivation)

  package var type: TagType {
    switch self {
    case .typeA(let tag): tag.type
    case .typeB: .type4B
    case .felica: .type3
    case .jewel: .type1
    case .typeV: .type5
    }
  }

  /// UID, PUPI or IDm: 4 to 10 bytes.
  package var identifier: [UInt8] {
    switch self {
    case .typeA(let tag): tag.uid
    case .typeB(let tag): tag.pupi
    case .felica(let tag): tag.idm
    case .jewel(let tag): tag.uid
    case .typeV(let tag): tag.uid
    }
  }
}

/// The activation data of a Type A tag (ISO/IEC 14443-3, 6.5).
package struct TypeAActivation: Sendable, Hashable {
  package let type: TagType
  /// Answer to request, two bytes; empty if the reader does not report it. The byte that the standard sends last comes
  /// first: `00 44` for an Ultralight.
  package let atqa: [UInt8]
  /// Select acknowledge; nil if the reader does not report it.
  package let sak: UInt8?
  /// 4, 7 or 10 bytes, without cascade tags.
  package let uid: [UInt8]
  /// Answer to select as received, including its length byte; empty if there is none, or if the reader does not report
  /// it.
  package let ats: [UInt8]
  /// Those after the interface bytes of the answer to select (ISO/IEC 14443-4, 5.2.7).
  package let historicalBytes: [UInt8]

  /// The type and the historical bytes follow from these data; `atqa` has two bytes.
  package init(atqa: [UInt8], sak: UInt8, uid: [UInt8], ats: [UInt8] = []) {
    type = Self.type(sak: sak)
    self.atqa = atqa
    self.sak = sak
    self.uid = uid
    self.ats = ats
    historicalBytes = Self.isValid(ats) ? Self.historicalBytes(of: ats) : []
  }

  /// For a reader that reports neither answer to request nor select acknowledge nor answer to select, such as a PC/SC
  /// reader. `type` is the type that the reader's own report suggests.
  package init(type: TagType, uid: [UInt8], historicalBytes: [UInt8] = []) {
    self.type = type
    atqa = []
    sak = nil
    self.uid = uid
    ats = []
    self.historicalBytes = historicalBytes
  }

  /// The first byte of the answer to select must be its length (ISO/IEC 14443-4, 5.2). True if there is no answer to
  /// select.
  package var hasValidATS: Bool { Self.isValid(ats) }

  private static func isValid(_ ats: [UInt8]) -> Bool { ats.isEmpty || Int(ats.first ?? 0) == ats.count }

  /// NFC Forum Digital Protocol, SEL_RES; NXP AN10833 for MIFARE Classic.
  private static func type(sak: UInt8) -> TagType {
    if sak & 0x20 != 0 { return .type4A }
    if sak & 0x40 != 0 { return .peer }
    return sak & 0x19 != 0 ? .mifareClassic : .type2
  }

  /// T0 says which of the interface bytes TA, TB and TC there are (ISO/IEC 14443-4, 5.2.3).
  private static func historicalBytes(of ats: [UInt8]) -> [UInt8] {
    guard ats.count >= 2 else { return [] }
    return Array(ats.dropFirst(2 + (ats[1] & 0x70).nonzeroBitCount))
  }
}

/// The activation data of a Type B tag (ISO/IEC 14443-3, 7.9 and 7.11).
package struct TypeBActivation: Sendable, Hashable {
  /// Pseudo-unique PICC identifier, 4 bytes. A card may generate a new one at each activation.
  package let pupi: [UInt8]
  /// Application data, 4 bytes.
  package let applicationData: [UInt8]
  /// Protocol info, 3 or 4 bytes.
  package let protocolInfo: [UInt8]
  /// Answer to ATTRIB as received; empty if there is none.
  package let attribResponse: [UInt8]

  package init(pupi: [UInt8], applicationData: [UInt8], protocolInfo: [UInt8], attribResponse: [UInt8]) {
    self.pupi = pupi
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.attribResponse = attribResponse
  }
}

/// The data that a FeliCa tag sends in answer to a poll (JIS X 6319-4).
package struct FeliCaActivation: Sendable, Hashable {
  /// Manufacture ID, 8 bytes.
  package let idm: [UInt8]
  /// Manufacture parameters, 8 bytes; empty if the reader does not report them.
  package let pmm: [UInt8]
  /// The system code that the tag sent, 2 bytes; nil if it sent none, or if the reader does not report it.
  package let systemCode: [UInt8]?
  /// Kilobits per second: 212 or 424.
  package let bitRate: Int

  package init(idm: [UInt8], pmm: [UInt8], systemCode: [UInt8]?, bitRate: Int) {
    self.idm = idm
    self.pmm = pmm
    self.systemCode = systemCode
    self.bitRate = bitRate
  }
}

/// The activation data of a Topaz or Jewel tag.
package struct JewelActivation: Sendable, Hashable {
  /// Answer to request. The byte that the standard sends last comes first: `0C 00` for a Topaz.
  package let atqa: [UInt8]
  /// UID0 to UID3: the part of the UID that commands contain.
  package let uid: [UInt8]

  /// `atqa` has two bytes, `uid` four.
  package init(atqa: [UInt8], uid: [UInt8]) {
    self.atqa = atqa
    self.uid = uid
  }
}

/// The identification of a Type 5 tag (ISO/IEC 15693-3, 4.1).
package struct TypeVActivation: Sendable, Hashable {
  /// 8 bytes. The most significant byte, E0, comes first. On the air it comes last.
  package let uid: [UInt8]

  package init(uid: [UInt8]) { self.uid = uid }
}
