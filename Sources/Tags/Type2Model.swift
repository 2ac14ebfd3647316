/// A Type 2 tag of NXP's, by what its data sheet says that the NFC Forum's specification does not: where its dynamic lock bits are,
/// whether a password or key may protect pages, and whether it knows FAST_READ.
///
/// | Tag | Data sheet | Lock bits from | AUTH0 in |
/// |---|---|---|---|
/// | Ultralight EV1 of 48 and 128 bytes | MF0ULx1 3.3 | none; page 24h | page 10h; 25h |
/// | Ultralight Nano of 40 bytes | MF0UN(H)00 3.1 | none | none: there are 14 pages |
/// | NTAG210, NTAG212 | NTAG210_212 3.0 | none; page 24h | page 10h; 25h |
/// | NTAG210µ | NT2L1001_NT2H1001 3.0 | none | none: there are 16 pages |
/// | NTAG213, NTAG215, NTAG216 | NTAG213_215_216 3.2 | page 28h; 82h; E2h | page 29h; 83h; E3h |
/// | NTAG213F, NTAG216F | NTAG213F_216F 3.1 (storage size 12h of the 216F: table 26) | page 28h; E2h | page 29h; E3h |
/// | NTAG I²C of 1k and 2k | NT3H1101_1201 | page E2h; E0h of sector 1 | none |
/// | NTAG I²C plus | NT3H2111_2211 | page E2h | page E3h |
/// | Ultralight C | MF0ICU2 3.3, 7.5.3 and 7.5.8 | page 28h | page 2Ah |
/// | NTAG203 | NTAG203 3.0 | page 28h | none |
///
/// nfcpy (`tt2_nxp.py`) has the same pages for all of these that it knows.
struct Type2Model: Sendable {
  /// What tells it apart in the answer to GET_VERSION.
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

  /// Nil for a tag that does not know GET_VERSION, nor FAST_READ.
  let version: Version?
  /// Whether a tag that knows GET_VERSION is sure to know FAST_READ, too.
  var isFastReadCertain = true
  /// The third byte of the capability container that it is formatted with: bytes of its data area, divided by eight.
  let size: UInt8
  /// For the pages from 16 on. Bits that only freeze others are left out.
  let locks: Type2Locks
  /// Nil where it has no password or key.
  var protection: Type2Protection.Place?

  /// The tag that tells its version.
  ///
  /// - Parameter answer: to GET_VERSION.
  /// - Returns: nil for one that is not known here.
  static func telling(_ answer: [UInt8]) -> Type2Model? { all.first { $0.version?.fits(answer) == true } }

  /// The tag of NXP's that does not tell its version.
  ///
  /// - Parameter size: of the capability container.
  /// - Returns: nil where all of that size that are known here tell it.
  static func silent(size: UInt8) -> Type2Model? { all.first { $0.version == nil && $0.size == size } }

  /// - Parameter size: of the capability container.
  /// - Returns: whether all tags of NXP's of that size know FAST_READ.
  static func knowFastRead(size: UInt8) -> Bool {
    let models = all.filter { $0.size == size }
    return !models.isEmpty && models.allSatisfy { $0.version != nil && $0.isFastReadCertain }
  }

  private static let all: [Type2Model] = [
    // Ultralight Nano, Ultralight EV1
    Type2Model(
      version: Version(product: 0x03, major: 2...2, storage: 0x0B...0x0B), isFastReadCertain: false, size: 0x05,
      locks: .none),
    Type2Model(
      version: Version(product: 0x03, storage: 0x0B...0x0B), size: 0x06, locks: .none, protection: .atEnd(ofPage: 0x10)),
    Type2Model(
      version: Version(product: 0x03, storage: 0x0E...0x0E), size: 0x10, locks: .from(page: 0x24, 0xFF, 0x03),
      protection: .atEnd(ofPage: 0x25)),
    // NTAG210µ, NTAG210, NTAG212
    Type2Model(version: Version(product: 0x04, major: 2...2, storage: 0x0B...0x0B), size: 0x06, locks: .none),
    Type2Model(
      version: Version(product: 0x04, storage: 0x0B...0x0B), size: 0x06, locks: .none, protection: .atEnd(ofPage: 0x10)),
    Type2Model(
      version: Version(product: 0x04, storage: 0x0E...0x0E), size: 0x10, locks: .from(page: 0x24, 0xFF, 0x03),
      protection: .atEnd(ofPage: 0x25)),
    // NTAG213, NTAG215, NTAG216
    Type2Model(
      version: Version(product: 0x04, storage: 0x0F...0x0F), size: 0x12, locks: .from(page: 0x28, 0xFF, 0x0F),
      protection: .atEnd(ofPage: 0x29)),
    Type2Model(
      version: Version(product: 0x04, storage: 0x11...0x11), size: 0x3E, locks: .from(page: 0x82, 0xFF),
      protection: .atEnd(ofPage: 0x83)),
    Type2Model(
      version: Version(product: 0x04, storage: 0x12...0x13), size: 0x6D, locks: .from(page: 0xE2, 0xFF, 0x3F),
      protection: .atEnd(ofPage: 0xE3)),
    // NTAG I²C, NTAG I²C plus
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.NTAG.i2c, minor: 1...1, storage: 0x13...0x13), size: 0x6D,
      locks: .from(page: 0xE2, 0xFF, 0x3F)),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.NTAG.i2c, minor: 1...1, storage: 0x15...0x15), size: 0xEA,
      locks: .from(page: 0x1E0, 0xFF, 0x7F)),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.NTAG.i2c, minor: 2...2, storage: 0x13...0x15), size: 0x6D,
      locks: .from(page: 0xE2, 0xFF, 0x3F), protection: .atEnd(ofPage: 0xE3)),
    // Ultralight C and NTAG203, which has no AUTH0. Of lock byte 2 the bits 1 to 3 lock the pages 16, 20 and 24 and the three behind
    // each, the bits 5 to 7 the pages 28, 32 and 36; 0 and 4 freeze the three that follow. Of lock byte 3 the upper four bits lock
    // the counter, AUTH0, AUTH1 and the key, which the lower four freeze: none of them is about the message. 30h in AUTH0 says that
    // nothing is protected.
    Type2Model(
      version: nil, size: 0x12, locks: .from(page: 0x28, 0xEE),
      protection: Type2Protection.Place(page: 0x28, address: 0x2A * 4, valid: 0x03...0x2F)),
    // Ultralight
    Type2Model(version: nil, size: 0x06, locks: .none),
  ]
}
