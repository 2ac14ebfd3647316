/// An NFC Forum Type 2 chip, with the memory layout and the behaviour from its data sheet.
package struct SimulatedType2Model: Sendable, Hashable {
  /// The location of the lock bits for the pages from 16 on, and the pages that each of them locks.
  enum DynamicLocks: Hashable {
    case none
    /// Two bytes of lock bits, each for `pagesPerBit` pages. Each bit of a third byte freezes two of them.
    case uniform(page: Int, pagesPerBit: Int)
    /// The layout of the Ultralight C. Bits 0 and 4 each freeze the next three bits, and each of those locks four
    /// pages.
    case interleaved(page: Int)
  }

  /// The result of a read that starts before the last page and ends after it.
  enum End: Hashable {
    case rollsOver
    case zeros
  }

  /// Which text reads return instead of the memory.
  enum Mirror {
    case none
    /// The UID, if there is a page for it.
    case uid
    /// The UID, the counter or both, as the settings say.
    case configured
  }

  /// The name on the control line, for example `ntag215`.
  package private(set) var name: String
  /// The first byte of the UID.
  private(set) var manufacturer: UInt8 = 0x04
  /// The existing pages, four bytes each, including those of the configuration. Pages from 256 on are in sector 1.
  let pages: [ClosedRange<Int>]
  /// The answer to GET_VERSION; nil if the chip knows neither this command nor FAST_READ.
  package private(set) var version: [UInt8]?
  /// The third byte of the capability container: the bytes for TLVs from page 4 on, divided by eight.
  let capacityCode: UInt8
  let locks: DynamicLocks
  /// The lock control TLV in the factory state.
  let lockControl: [UInt8]
  /// Pages that read as zero: the password and its acknowledgement, or the keys.
  let secrets: ClosedRange<Int>?
  /// The page with AUTH0. The next one has ACCESS. Nil if there is no password, or for an Ultralight C.
  let configuration: Int?
  let lastReadable: Int
  let end: End
  /// Whether the chip stays silent after an unknown command instead of refusing it.
  let isSilentAtUnknownCommands: Bool
  let hasSectors: Bool
  /// Whether the chip has the key of an Ultralight C, and answers the authentication command 1A.
  let hasTripleDES: Bool

  private init(
    _ name: String, pages: [ClosedRange<Int>], version: [UInt8]? = nil, capacityCode: UInt8,
    locks: DynamicLocks = .none,
    lockControl: [UInt8] = [], secrets: ClosedRange<Int>? = nil, configuration: Int? = nil,
    lastReadable: Int? = nil, end: End = .rollsOver, isSilentAtUnknownCommands: Bool = false, hasSectors: Bool = false,
    hasTripleDES: Bool = false
  ) {
    self.name = name
    self.pages = pages
    self.version = version
    self.capacityCode = capacityCode
    self.locks = locks
    self.lockControl = lockControl
    self.secrets = secrets
    self.configuration = configuration ?? secrets.map { $0.lowerBound - 2 }
    self.lastReadable = lastReadable ?? pages.last?.upperBound ?? 0
    self.end = end
    self.isSilentAtUnknownCommands = isSilentAtUnknownCommands
    self.hasSectors = hasSectors
    self.hasTripleDES = hasTripleDES
  }

  /// MIFARE Ultralight, MF0ICU1: 64 bytes, 48 of them for TLVs.
  package static let ultralight = SimulatedType2Model(
    "ultralight", pages: [0...15], capacityCode: 0x06, isSilentAtUnknownCommands: true)
  /// MIFARE Ultralight C, MF0ICU2: 192 bytes, 144 of them for TLVs; the key in the last 16 cannot be read.
  package static let ultralightC = SimulatedType2Model(
    "ultralight-c", pages: [0...47], capacityCode: 0x12, locks: .interleaved(page: 40), lastReadable: 43,
    hasTripleDES: true)
  /// MIFARE Ultralight Nano, MF0UN: 56 bytes, 40 of them for TLVs; unlike the EV1 it has no password.
  package static let ultralightNano = SimulatedType2Model(
    "ultralight-nano", pages: [0...13], version: [0x00, 0x04, 0x03, 0x01, 0x02, 0x00, 0x0B, 0x03], capacityCode: 0x05)
  /// MIFARE Ultralight EV1, MF0UL11: 80 bytes, 48 of them for TLVs.
  package static let ultralightEV1 = SimulatedType2Model(
    "ultralight-ev1", pages: [0...19], version: [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, 0x0B, 0x03], capacityCode: 0x06,
    secrets: 18...19)
  /// MIFARE Ultralight EV1, MF0UL21: 164 bytes, 128 of them for TLVs.
  package static let ultralightEV1Large = SimulatedType2Model(
    "ultralight-ev1-128", pages: [0...40], version: [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, 0x0E, 0x03],
    capacityCode: 0x10, locks: .uniform(page: 36, pagesPerBit: 2), secrets: 39...40)
  /// MIFARE Ultralight AES, MF0AES20: 240 bytes, 144 of them for TLVs.
  package static let ultralightAES = SimulatedType2Model(
    "ultralight-aes", pages: [0...59], version: [0x00, 0x04, 0x03, 0x01, 0x04, 0x00, 0x0F, 0x03], capacityCode: 0x12,
    locks: .uniform(page: 0x28, pagesPerBit: 2), secrets: 0x30...0x37, configuration: 0x29)
  /// NTAG203: 168 bytes, 144 of them for TLVs.
  package static let ntag203 = SimulatedType2Model(
    "ntag203", pages: [0...41], capacityCode: 0x12, locks: .interleaved(page: 40),
    lockControl: [0x01, 0x03, 0xA0, 0x10, 0x44])
  /// NTAG210µ, NT2L1001: 64 bytes, 48 of them for TLVs; unlike the NTAG210 it has no password.
  package static let ntag210Micro = SimulatedType2Model(
    "ntag210-micro", pages: [0...15], version: [0x00, 0x04, 0x04, 0x01, 0x02, 0x00, 0x0B, 0x03], capacityCode: 0x06)
  /// NTAG210: 80 bytes, 48 of them for TLVs.
  package static let ntag210 = SimulatedType2Model(
    "ntag210", pages: [0...19], version: [0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0B, 0x03], capacityCode: 0x06,
    secrets: 18...19)
  /// NTAG212: 164 bytes, 128 of them for TLVs.
  package static let ntag212 = SimulatedType2Model(
    "ntag212", pages: [0...40], version: [0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0E, 0x03], capacityCode: 0x10,
    locks: .uniform(page: 36, pagesPerBit: 2), lockControl: [0x01, 0x03, 0x90, 0x0A, 0x34], secrets: 39...40)
  /// NTAG213: 180 bytes, 144 of them for TLVs.
  package static let ntag213 = SimulatedType2Model(
    "ntag213", pages: [0...44], version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03], capacityCode: 0x12,
    locks: .uniform(page: 0x28, pagesPerBit: 2), lockControl: [0x01, 0x03, 0xA0, 0x0C, 0x34], secrets: 43...44)
  /// NTAG215: 540 bytes, 496 of them for TLVs.
  package static let ntag215 = SimulatedType2Model(
    "ntag215", pages: [0...134], version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03], capacityCode: 0x3E,
    locks: .uniform(page: 0x82, pagesPerBit: 16), secrets: 133...134)
  /// NTAG216: 924 bytes, 872 of them for TLVs. (Its container says 109 times eight.)
  package static let ntag216 = SimulatedType2Model(
    "ntag216", pages: [0...230], version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x13, 0x03], capacityCode: 0x6D,
    locks: .uniform(page: 0xE2, pagesPerBit: 16), secrets: 229...230)
  /// NTAG 224 DNA, NT2H2421: 304 bytes, 208 of them for TLVs. How many pages a lock bit locks is a guess.
  static let ntag224DNA = SimulatedType2Model(
    "ntag224-dna", pages: [0...75], version: [0x00, 0x04, 0x04, 0x02, 0x05, 0x00, 0x10, 0x03], capacityCode: 0x1A,
    locks: .uniform(page: 0x38, pagesPerBit: 4), secrets: 0x44...0x47, configuration: 0x39)
  /// NTAG I2C 1k, NT3H1101: 888 bytes, 872 of them for TLVs.
  package static let ntagI2C1k = SimulatedType2Model(
    "ntag-i2c-1k", pages: [0...0xE2, 0xE8...0xE9], version: [0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x13, 0x03],
    capacityCode: 0x6D, locks: .uniform(page: 0xE2, pagesPerBit: 16), end: .zeros, hasSectors: true)
  /// NTAG I2C 2k, NT3H1201: 1904 bytes in two sectors, 1872 of them for TLVs.
  package static let ntagI2C2k = SimulatedType2Model(
    "ntag-i2c-2k", pages: [0...0x1E0, 0x1E8...0x1E9], version: [0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x15, 0x03],
    capacityCode: 0xEA, locks: .uniform(page: 0x1E0, pagesPerBit: 32), end: .zeros, hasSectors: true)

  /// All models, the smallest memory first.
  package static let all: [SimulatedType2Model] = [
    .ultralightNano, .ultralight, .ntag210Micro, .ntag210, .ultralightEV1, .ntag212, .ultralightEV1Large, .ntag203,
    .ntag213, .ultralightC, .ultralightAES, .ntag215, .ntag216, .ntagI2C1k, .ntagI2C2k,
  ]

  /// The same chip by another manufacturer, Shanghai Feiju Microelectronics. It may not know GET_VERSION and FAST_READ.
  func copied(knowsVersion: Bool) -> SimulatedType2Model {
    var copy = self
    copy.name += knowsVersion ? "-copy" : "-silent-copy"
    copy.manufacturer = 0x53
    copy.version = knowsVersion ? version.map { [$0[0], copy.manufacturer] + $0[2...] } : nil
    return copy
  }

  /// The number of pages of four bytes up to the last one, including the gaps.
  package var pageCount: Int { (pages.last?.upperBound ?? 0) + 1 }

  /// The page of the dynamic lock bytes; nil if there are none.
  var dynamicLockPage: Int? {
    switch locks {
    case .none: nil
    case .uniform(let page, _), .interleaved(let page): page
    }
  }

  /// The number of bytes for TLVs, from page 4 on.
  package var capacity: Int { Int(capacityCode) * 8 }

  /// NTAG210 and NTAG212: the UID. NTAG213, NTAG215 and NTAG216: what the settings say.
  var mirror: Mirror {
    guard let version, version[2] == 0x04, version[4] == 0x01, configuration != nil else { return .none }
    return version[3] == 0x01 ? .uid : .configured
  }

  func hasPage(_ page: Int) -> Bool { pages.contains { $0.contains(page) } }
}
