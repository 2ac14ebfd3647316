/// A tag that a reader has found and selected.
enum FoundCard: Equatable {
  /// `ats` is the answer to select with its length byte; nil without ISO/IEC 14443-4.
  case typeA(sak: UInt8, uid: [UInt8], ats: [UInt8]?)
  /// `attributeAnswer` is the first byte of the answer to ATTRIB.
  case typeB(pupi: [UInt8], applicationData: [UInt8], protocolInfo: [UInt8], attributeAnswer: UInt8)
  case felica(idm: [UInt8], modulation: RadioModulation)
  /// `uid` is the four bytes that commands carry.
  case jewel(uid: [UInt8])
  /// `uid` is as on the air, the lowest byte first.
  case vicinity(uid: [UInt8], blockSize: Int)

  /// Whether the card takes APDUs.
  var takesAPDUs: Bool {
    switch self {
    case .typeA(_, _, let ats): ats != nil
    case .typeB: true
    case .felica, .jewel, .vicinity: false
    }
  }

  /// Whether the card is a MIFARE Classic, which needs authentication.
  var isClassic: Bool { Self.classicNames[sak ?? 0] != nil }

  private var sak: UInt8? { if case .typeA(let sak, _, nil) = self { sak } else { nil } }

  /// The names of MIFARE Classic 1K, 4K and Mini in the supplement to PC/SC part 3, by SAK.
  private static let classicNames: [UInt8: UInt16] = [0x08: 0x0001, 0x18: 0x0002, 0x09: 0x0026]
}

extension FoundCard {
  private static let standardA3: UInt8 = 0x03
  private static let standardFeliCa: UInt8 = 0x11
  private static let standard15693: UInt8 = 0x0B
  private static let nameOfUltralight: UInt16 = 0x0003
  private static let nameOfTopaz: UInt16 = 0x0030
  private static let nameOfFeliCa: UInt16 = 0x003B
  /// ICODE SLI and Tag-it, by manufacturer. Readers do not know the names of the others.
  private static let vicinityNames: [UInt8: UInt16] = [0x04: 0x0014, 0x07: 0x0012]

  /// The identifier that `FF CA` tells.
  func identifier(by model: CardReaderModel) -> [UInt8] {
    switch self {
    case .typeA(_, let uid, _): uid
    case .typeB(let pupi, _, _, _): pupi
    case .felica(let idm, _): idm
    case .jewel(let uid): uid
    case .vicinity(let uid, _): model.reversesVicinityUID ? uid : uid.reversed()
    }
  }

  /// The answer to reset that a reader of this model makes up.
  func answerToReset(by model: CardReaderModel) -> [UInt8] {
    switch self {
    case .typeA(_, _, let ats?): return AnswerToReset.typeA(historicalBytes: Self.historicalBytes(of: ats))
    case .typeA(let sak, _, nil):
      return AnswerToReset.storage(standard: Self.standardA3, name: Self.classicNames[sak] ?? Self.nameOfUltralight)
    case .typeB(_, let applicationData, let protocolInfo, let attributeAnswer):
      return AnswerToReset.typeB(
        applicationData: applicationData, protocolInfo: protocolInfo, attributeAnswer: attributeAnswer)
    case .felica(_, let modulation) where model.namesFeliCaAsTypeA:
      return AnswerToReset.storage(standard: Self.standardA3, name: modulation == .felica212 ? 0xF011 : 0xF012)
    case .felica: return AnswerToReset.storage(standard: Self.standardFeliCa, name: Self.nameOfFeliCa)
    case .jewel:
      return AnswerToReset.storage(
        standard: Self.standardA3, name: model.namesFeliCaAsTypeA ? 0xF004 : Self.nameOfTopaz)
    case .vicinity(let uid, _):
      return AnswerToReset.storage(standard: Self.standard15693, name: Self.vicinityNames[uid[6]] ?? 0x0000)
    }
  }

  /// The historical bytes of an answer to select (ISO/IEC 14443-4, section 5.2): they follow the format byte T0 and the
  /// interface bytes that it announces.
  static func historicalBytes(of ats: [UInt8]) -> [UInt8] {
    guard ats.count >= 2 else { return [] }
    let interfaceBytes = (ats[1] & 0x70).nonzeroBitCount
    return Array(ats.dropFirst(2 + interfaceBytes))
  }
}
