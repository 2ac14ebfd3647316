/// The kind of a FeliCa card, and the contents of its attribute information block.
package struct Type3Options: Sendable, Hashable {
  /// Kinds of FeliCa cards.
  package enum Model: String, Sendable, Hashable, CaseIterable {
    /// FeliCa Lite-S: system 88B4 and, under the same identifier, 12FC; 13 data blocks. Reads four blocks at once and
    /// writes one.
    case liteS = "lite-s"
    /// FeliCa Standard with the NDEF system first.
    case standard
    /// FeliCa Standard with another system (FE00) first. The NDEF system is the second, with a different identifier.
    case standardWithSeveralSystems = "several-systems"
    /// A phone that emulates a Type 3 tag. Its identifier changes each time the field comes on.
    case phone
  }

  package var model: Model
  /// Nbr: the most blocks that one Check reads.
  package var maximumRead: Int
  /// Nbw: the most blocks that one Update writes.
  package var maximumWrite: Int
  /// Nmaxb: the number of blocks for the message.
  package var blockCount: Int
  /// Whether the attribute information block declares the tag read-only.
  package var isReadOnly = false
  /// A false length for Ln; nil for the true one.
  package var declaredLength: Int?
  /// The whole attribute information block, 16 bytes, which overrides the other properties; nil to derive it from them.
  package var attributeInformation: [UInt8]?

  /// The usual parameters of a kind of card.
  package init(_ model: Model) {
    self.model = model
    switch model {
    case .liteS: (maximumRead, maximumWrite, blockCount) = (4, 1, 13)
    case .standard, .standardWithSeveralSystems: (maximumRead, maximumWrite, blockCount) = (12, 8, 400)
    case .phone: (maximumRead, maximumWrite, blockCount) = (15, 12, 100)
    }
  }
}

extension SimulatedTag {
  /// A Type 3 tag that holds an encoded NDEF message; empty for a formatted tag without one. `idm` has 8 bytes, and is
  /// random if nil. Fails if the message does not fit, or the options contradict one another.
  package static func type3(
    message: [UInt8], idm: [UInt8]? = nil, options: Type3Options = Type3Options(.liteS)
  ) throws(SimulatorError) -> SimulatedTag {
    let idm = try identifier(idm)
    let blocks = try ndefBlocks(message, idm, options)
    // System 0 is the whole card; the first half-byte of an identifier is the number of the system.
    func system(_ codes: [[UInt8]], number: UInt8) -> FeliCaSystem {
      // The limits of a Lite are fixed. They do not depend on its attribute information block.
      let isLite = options.model == .liteS
      return FeliCaSystem(
        codes: codes, idm: [idm[0] & 0x0F | number << 4] + idm.dropFirst(), services: FeliCaSystem.ndefServices,
        blocks: blocks, maximumRead: isLite ? 4 : options.maximumRead, maximumWrite: isLite ? 1 : options.maximumWrite,
        isLite: isLite)
    }
    switch options.model {
    case .liteS: return felica([system([[0x88, 0xB4], FeliCaSystem.ndefCode], number: 0)], icCode: 0xF1)
    case .standard: return felica([system([FeliCaSystem.ndefCode], number: 0)])
    case .standardWithSeveralSystems:
      let common = FeliCaSystem.locked([0xFE, 0x00], idm: idm, number: 0)
      return felica([common, system([FeliCaSystem.ndefCode], number: 1)])
    case .phone:
      var phone = system([FeliCaSystem.ndefCode], number: 0)
      // A Type 3 tag platform (NFC Forum Digital Protocol, NFCID2).
      phone.idm.replaceSubrange(0..<2, with: [0x02, 0xFE])
      return felica([phone], icCode: 0xFF, hasRandomIdentifier: true)
    }
  }

  /// A card with these systems. The manufacture parameters hold the IC code in the second byte, and response times.
  static func felica(
    _ systems: [FeliCaSystem], icCode: UInt8 = 0x0D, hasRandomIdentifier: Bool = false
  ) -> SimulatedTag {
    let pmm: [UInt8] = [icCode < 0xF0 ? 0x03 : 0x00, icCode, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]
    return SimulatedTag(tag: SimulatedFeliCa(systems: systems, pmm: pmm, hasRandomIdentifier: hasRandomIdentifier))
  }

  static func identifier(_ idm: [UInt8]?) throws(SimulatorError) -> [UInt8] {
    let idm = idm ?? [0x01, 0x2E] + (0..<6).map { _ in UInt8.random(in: 0...0xFF) }
    guard idm.count == 8 else { throw SimulatorError("an IDm has 8 bytes, not \(idm.count)") }
    return idm
  }

  private static func ndefBlocks(
    _ message: [UInt8], _ idm: [UInt8], _ options: Type3Options
  ) throws(SimulatorError) -> [Int: [UInt8]] {
    let isLite = options.model == .liteS
    guard (1...0xFFFF).contains(options.blockCount), !isLite || options.blockCount <= 13 else {
      throw SimulatorError("\(options.blockCount) blocks are too many or too few: 1 to \(isLite ? 13 : 0xFFFF)")
    }
    guard message.count <= options.blockCount * 16 else {
      throw SimulatorError("\(message.count) bytes do not fit into \(options.blockCount) blocks of 16")
    }
    guard (0...0xFF).contains(options.maximumRead), (0...0xFF).contains(options.maximumWrite) else {
      throw SimulatorError("at most 255 blocks are read or written at once")
    }
    let attributes = options.attributeInformation ?? attributeInformation(message.count, options)
    guard attributes.count == 16 else { throw SimulatorError("the attribute information block has 16 bytes") }
    var blocks = [0: attributes]
    let padded = message + [UInt8](repeating: 0, count: options.blockCount * 16 - message.count)
    for block in 0..<options.blockCount { blocks[block + 1] = Array(padded[(block * 16)..<(block * 16 + 16)]) }
    if isLite {
      let zeros = [UInt8](repeating: 0, count: 16)
      // REG, RC, ID, D_ID, SER_C, SYS_C, CKV and CK (which reads as zero), and MC.
      for block in [0x0E, 0x80, 0x84, 0x86, 0x87] { blocks[block] = zeros }
      for block in [0x82, 0x83] { blocks[block] = idm + zeros[8...] }
      blocks[0x85] = [0x88, 0xB4] + zeros[2...]
      blocks[LiteMemoryConfiguration.block] = LiteMemoryConfiguration.ofNewNDEFTag
    }
    return blocks
  }

  /// The attribute information block (NFC Forum Type 3 Tag Operation Specification 1.1, section 6.1).
  private static func attributeInformation(_ length: Int, _ options: Type3Options) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let fields: [UInt8] =
      [0x10] + bytes(options.maximumRead, 1) + bytes(options.maximumWrite, 1) + bytes(options.blockCount, 2)
      + [0, 0, 0, 0, 0, options.isReadOnly ? 0x00 : 0x01] + bytes(options.declaredLength ?? length, 3)
    return fields + bytes(fields.reduce(0) { $0 + Int($1) }, 2)
  }
}

extension FeliCaSystem {
  /// A system with services that all need keys.
  static func locked(_ code: [UInt8], idm: [UInt8], number: UInt8) -> FeliCaSystem {
    FeliCaSystem(
      codes: [code], idm: [idm[0] & 0x0F | number << 4] + idm.dropFirst(), services: [:], blocks: [:], maximumRead: 12,
      maximumWrite: 8)
  }
}

/// A card for trains and shops: FeliCa Standard without the NDEF system. Everyone can read its journeys and purchases.
extension SimulatedTag {
  /// The service of the history, and how many blocks of it one command can read.
  private static let historyService = 0x090F
  private static let mostAtOnce = 12

  /// A transit card like a Suica. System 0003 has the history in service 090F, which needs no key: 20 blocks of 16
  /// bytes, at most 12 per command. All services of the common system FE00 need keys. `idm` has 8 bytes, and is random
  /// if nil. The history has at most 256 blocks, the newest first; the card is refused if it has more, or if a length
  /// is wrong.
  package static func transitCard(
    idm: [UInt8]? = nil, history: [[UInt8]] = transitHistory()
  ) throws(SimulatorError) -> SimulatedTag {
    let idm = try identifier(idm)
    guard history.count <= 0x100, history.allSatisfy({ $0.count == 16 }) else {
      throw SimulatorError("a history has at most 256 blocks of 16 bytes")
    }
    let blocks = Dictionary(uniqueKeysWithValues: history.enumerated().map { ($0.offset, $0.element) })
    let transit = FeliCaSystem(
      codes: [[0x00, 0x03]], idm: [idm[0] & 0x0F] + idm.dropFirst(), services: [historyService: .readOnly],
      blocks: blocks, maximumRead: mostAtOnce, maximumWrite: 8)
    return felica([transit, .locked([0xFE, 0x00], idm: idm, number: 1)])
  }

  /// The history of a traveller: one journey a day, the newest first, each for 210 yen; at most 28 journeys.
  ///
  /// Each block holds these values: terminal; processing; two bytes 0; date; entry and exit station; balance, its low
  /// byte first; serial number in three bytes; region. Bits 15 to 9 of the date are the year from 2000 on, bits 8 to 5
  /// the month, bits 4 to 0 the day.
  package static func transitHistory(_ count: Int = 20) -> [[UInt8]] {
    (0..<max(0, min(count, 28))).map { age in
      let date = 24 << 9 | 11 << 5 | (28 - age)
      let balance = 1000 + 210 * age
      let bytes: [Int] = [
        0x16, 0x01, 0, 0, date >> 8, date & 0xFF, 0xE3, 0x0F + age, 0xE3, 0x10 + age, balance & 0xFF, balance >> 8,
        0, 1, 0x40 - age, 0,
      ]
      return bytes.map { UInt8(truncatingIfNeeded: $0) }
    }
  }
}
