/// A Type 2 tag by NXP, with data from its data sheet that the NFC Forum's specification does not define: the location
/// of the dynamic lock bits, the protection of pages by a password or key, and support for FAST_READ.
///
/// | Tag | Data sheet | Pages that READ returns | Lock bits from | AUTH0 in |
/// |---|---|---|---|---|
/// | Ultralight | MF0ICU1 3.9 | 10h | none | none |
/// | Ultralight EV1 of 48 and 128 bytes | MF0ULx1 3.3 | 14h; 29h | none; page 24h | page 10h; 25h |
/// | Ultralight Nano of 40 bytes | MF0UN(H)00 3.1 | 0Eh | none | none |
/// | NTAG210, NTAG212 | NTAG210_212 3.0 | 14h; 29h | none; page 24h | page 10h; 25h |
/// | NTAG210µ | NT2L1001_NT2H1001 3.0 | 10h | none | none |
/// | NTAG213, NTAG215, NTAG216 | NTAG213_215_216 3.2 | 2Dh; 87h; E7h | page 28h; 82h; E2h | page 29h; 83h; E3h |
/// | NTAG213F, NTAG216F | NTAG213F_216F 3.1 (storage size 12h of the 216F: table 26) | as without F | | |
/// | NTAG I²C of 1k and 2k | NT3H1101_1201 | zeros behind the last | page E2h; E0h of sector 1 | none |
/// | NTAG I²C plus | NT3H2111_2211 | zeros behind the last | page E2h | page E3h |
/// | Ultralight C | MF0ICU2 3.3, 7.5.3 and 7.5.8 | 2Ch: not its key | page 28h | page 2Ah |
/// | NTAG203 | NTAG203 3.0 | 2Ah | page 28h | none |
///
/// nfcpy (`tt2_nxp.py`) lists the same pages for those tags that it supports.
struct Type2Model: Sendable {
  /// The pattern that identifies the tag in the answer to GET_VERSION.
  struct Version: Sendable {
    let product: UInt8
    var subtypes: Set<UInt8> = NTAG.subtypes
    var major: ClosedRange<UInt8> = 0...0xFF
    var minor: ClosedRange<UInt8> = 0...0xFF
    let storage: ClosedRange<UInt8>

    enum NTAG {
      static let i2c: Set<UInt8> = [0x05]
      static let subtypes = Set(0...0xFF).subtracting(i2c)
    }

    func fits(_ answer: [UInt8]) -> Bool {
      answer.count == 8 && answer[1] == 0x04 && answer[2] == product && subtypes.contains(answer[3])
        && major.contains(answer[4]) && minor.contains(answer[5]) && storage.contains(answer[6])
    }
  }

  /// Nil for a tag that supports neither GET_VERSION nor FAST_READ.
  let version: Version?
  /// The page behind the last one that READ returns: READ continues with page 0. Nil for a tag that returns zeros. Tags
  /// of different models with the same end have the same memory.
  let end: Int?
  /// Whether every tag of this model that supports GET_VERSION also supports FAST_READ.
  var isFastReadCertain = true
  /// The third byte of its capability container: the size of the data area in units of eight bytes.
  let size: UInt8
  /// The bytes for TLVs, from page 4 on.
  var bytes: Int { Int(size) * 8 }
  /// The lock bits for pages from 16 on, without those that only freeze others.
  let locks: Type2Locks
  /// Nil if the tag has no password or key.
  var protection: Type2Protection.Place?
  /// Nil if the tag never returns other bytes than it holds.
  var mirror: Type2Mirror?

  /// The model of a tag that answers GET_VERSION. Nil if it is not in the table.
  static func ofVersion(_ answer: [UInt8]) -> Type2Model? { all.first { $0.version?.fits(answer) == true } }

  /// The most bytes for TLVs of a tag that is not in the table, from its answer to GET_VERSION: 2 to the power of the
  /// upper seven bits of the storage size. If its lowest bit is set, up to twice as much (NTAG213_215_216 3.2, 10.1).
  static func mostBytes(ofVersion answer: [UInt8]) -> Int {
    guard answer.count == 8, answer[6] < 0x20 else { return .max }
    return 1 << Int(answer[6] >> 1 + answer[6] & 1)
  }

  /// The most bytes for TLVs of an NXP tag that shows no model: the largest size of a model up to this one, which its
  /// container claims. A size that no model has is wrong, and the lock bytes would be inside it.
  static func mostBytes(claimed bytes: Int) -> Int { all.map(\.bytes).filter { $0 <= bytes }.max() ?? bytes }

  /// The model whose memory ends in front of this page.
  static func ending(at end: Int) -> Type2Model? { all.first { $0.end == end } }

  /// The pages at which the memory of a tag may end if its container has this size, ascending. `isCertain` leaves out
  /// the sizes of tags that refuse to have a page behind their memory read.
  static func ends(upTo size: UInt8, isCertain: Bool) -> [Int] {
    let models = all.filter { model in
      model.size < size || model.size == size && !(isCertain && all.contains { $0.end == nil && $0.size == size })
    }
    return Set(models.compactMap(\.end)).sorted()
  }

  /// Whether all NXP tags of that size, as in the capability container, support FAST_READ.
  static func knowFastRead(size: UInt8) -> Bool {
    let models = all.filter { $0.size == size }
    return !models.isEmpty && models.allSatisfy { $0.version != nil && $0.isFastReadCertain }
  }

  private static let all: [Type2Model] = [
    // Ultralight Nano, Ultralight EV1.
    Type2Model(
      version: Version(product: 0x03, major: 2...2, storage: 0x0B...0x0B), end: 0x0E, isFastReadCertain: false,
      size: 0x05, locks: .none),
    Type2Model(
      version: Version(product: 0x03, storage: 0x0B...0x0B), end: 0x14, size: 0x06, locks: .none,
      protection: .atEnd(ofPage: 0x10)),
    Type2Model(
      version: Version(product: 0x03, storage: 0x0E...0x0E), end: 0x29, size: 0x10,
      locks: .from(page: 0x24, 0xFF, 0x03), protection: .atEnd(ofPage: 0x25)),
    // NTAG210µ, NTAG210, NTAG212.
    Type2Model(
      version: Version(product: 0x04, major: 2...2, storage: 0x0B...0x0B), end: 0x10, size: 0x06, locks: .none),
    Type2Model(
      version: Version(product: 0x04, storage: 0x0B...0x0B), end: 0x14, size: 0x06, locks: .none,
      protection: .atEnd(ofPage: 0x10), mirror: .uid),
    Type2Model(
      version: Version(product: 0x04, storage: 0x0E...0x0E), end: 0x29, size: 0x10,
      locks: .from(page: 0x24, 0xFF, 0x03), protection: .atEnd(ofPage: 0x25), mirror: .uid),
    // NTAG213, NTAG215, NTAG216.
    Type2Model(
      version: Version(product: 0x04, storage: 0x0F...0x0F), end: 0x2D, size: 0x12,
      locks: .from(page: 0x28, 0xFF, 0x0F), protection: .atEnd(ofPage: 0x29), mirror: .configured),
    Type2Model(
      version: Version(product: 0x04, storage: 0x11...0x11), end: 0x87, size: 0x3E, locks: .from(page: 0x82, 0xFF),
      protection: .atEnd(ofPage: 0x83), mirror: .configured),
    Type2Model(
      version: Version(product: 0x04, storage: 0x12...0x13), end: 0xE7, size: 0x6D,
      locks: .from(page: 0xE2, 0xFF, 0x3F), protection: .atEnd(ofPage: 0xE3), mirror: .configured),
    // NTAG I²C, NTAG I²C plus.
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.NTAG.i2c, minor: 1...1, storage: 0x13...0x13), end: nil,
      size: 0x6D, locks: .from(page: 0xE2, 0xFF, 0x3F)),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.NTAG.i2c, minor: 1...1, storage: 0x15...0x15), end: nil,
      size: 0xEA, locks: .from(page: 0x1E0, 0xFF, 0x7F)),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.NTAG.i2c, minor: 2...2, storage: 0x13...0x15), end: nil,
      size: 0x6D, locks: .from(page: 0xE2, 0xFF, 0x3F), protection: .atEnd(ofPage: 0xE3)),
    // Ultralight C and NTAG203. Lock byte 2: bits 1 to 3 lock pages 16, 20 and 24 with the three pages behind each.
    // Bits 5 to 7 lock pages 28, 32 and 36 in the same way. Bits 0 and 4 freeze the three bits that follow. Lock byte
    // 3: the upper four bits lock the counter, and on an Ultralight C AUTH0, AUTH1 and the key; the lower four freeze
    // them. They do not affect the message. A value of 30h in AUTH0 means that no page is protected.
    Type2Model(
      version: nil, end: 0x2C, size: 0x12, locks: .from(page: 0x28, 0xEE),
      protection: Type2Protection.Place(page: 0x28, address: 0x2A * 4, valid: 0x03...0x2F)),
    Type2Model(version: nil, end: 0x2A, size: 0x12, locks: .from(page: 0x28, 0xEE)),
    // Ultralight.
    Type2Model(version: nil, end: 0x10, size: 0x06, locks: .none),
  ]
}
