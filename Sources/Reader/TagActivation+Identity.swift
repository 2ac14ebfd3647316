import ReaderLink
import Tags

/// What tells one tag from another. An identifier is no identity: some tags make up a new one whenever they get power.
extension TagActivation {
  /// Whether the identifier may be another one each time the field comes on.
  ///
  /// Type A: four bytes that begin with 08 (ISO/IEC 14443-3, 6.5.4). Type B: any, since nothing in a PUPI says whether it was
  /// made up (7.9.2). FeliCa: 01FE is a device's NFCID2 (NFC Forum Digital Protocol, SENSF_RES), 02FE a phone's card emulation
  /// (Android's HCE-F).
  var mayChangeIdentifier: Bool {
    switch self {
    case .typeA(let tag): tag.hasRandomUID
    case .typeB: true
    case .felica(let tag): tag.idm.starts(with: [0x01, 0xFE]) || tag.idm.starts(with: [0x02, 0xFE])
    case .jewel: false
    }
  }

  /// Whether it is the same tag, by its kind and its identifier.
  func isSameTag(as other: TagActivation) -> Bool { type == other.type && identifier == other.identifier }

  /// Whether it may be the same tag with another identifier: everything else that they say is the same.
  func isAlike(_ other: TagActivation) -> Bool {
    guard mayChangeIdentifier, other.mayChangeIdentifier else { return false }
    switch (self, other) {
    case (.typeA(let a), .typeA(let b)): return a.atqa == b.atqa && a.sak == b.sak && a.ats == b.ats
    case (.typeB(let a), .typeB(let b)):
      return a.applicationData == b.applicationData && a.protocolInfo == b.protocolInfo
    case (.felica(let a), .felica(let b)): return a.pmm == b.pmm && a.systemCode == b.systemCode
    default: return false
    }
  }

  /// Whether it is the same tag as far as can be told without reading it.
  func isSamePlacement(as other: TagActivation) -> Bool { isSameTag(as: other) || isAlike(other) }

  /// Whether this may be the tag that another process saw.
  func mayBe(_ avoided: AvoidedTag) -> Bool {
    let uid = avoided.uid
    if uid == identifier { return true }
    guard avoided.mayHaveChanged, mayChangeIdentifier, avoided.technology == type.description else { return false }
    switch self {
    case .typeA: return uid.count == 4 && uid.first == 0x08
    case .felica: return uid.count == 8 && uid.prefix(2) == identifier.prefix(2)
    case .typeB: return uid.count == 4
    case .jewel: return false
    }
  }
}

extension Modulation {
  /// Whether an identifier of that length is one of this technology.
  func mayHave(_ identifier: [UInt8]) -> Bool {
    switch self {
    case .typeA: [4, 7, 10].contains(identifier.count)
    case .typeB, .jewel: identifier.count == 4
    case .felica212, .felica424: identifier.count == 8
    }
  }
}
