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
