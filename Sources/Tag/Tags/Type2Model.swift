import Names

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
/// | Ultralight AES | MF0AES(H)20 | 3Ch | page 28h | page 29h |
/// | NTAG 223 DNA, NTAG 224 DNA | NT2H2331, NT2H2421 | 3Ch; 4Ch | page 28h; 38h | page 29h; 39h |
///
/// nfcpy (`tt2_nxp.py`) lists the same pages for those tags that it supports. The data sheets of the last three are not
/// at hand. Their answers to GET_VERSION, AUTH0 and keys are from proxmark3 (`hf_doegox_auth0.c`,
/// `ntag22x_suncmac_recovery.py`), the other pages from Native-NFC-Package (`DeepScan.java`). That a lock bit of the
/// Ultralight AES locks two pages is from StuStaPay (`MifareUltralightAES.kt`).
struct Type2Model: Sendable {
  struct Version: Sendable {
    let product: UInt8
    let subtypes: Set<UInt8>
    let major: ClosedRange<UInt8>
    var minor: ClosedRange<UInt8> = 0...0xFF
    let storage: ClosedRange<UInt8>

    /// A chip of another subtype is another model, with other pages.
    enum Subtype {
      /// An input capacitance of 17 pF or 50 pF.
      static let usual: Set<UInt8> = [0x01, 0x02]
      /// The same, and field detection: table 26 of NTAG213F_216F has 01, and proxmark3 (`cmdhfmfu.c`) 04.
      static let fieldDetecting: Set<UInt8> = [0x01, 0x02, 0x04]
      static let i2c: Set<UInt8> = [0x05]
      static let ultralightAES: Set<UInt8> = [0x01, 0x02, 0x03]
      /// The second one has StatusDetect.
      static let dna: Set<UInt8> = [0x02, 0x08]
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
  /// Every tag of this model that supports GET_VERSION also supports FAST_READ.
  var isFastReadCertain = true
  /// The third byte of its capability container: the data area in units of eight bytes.
  let size: UInt8
  /// The bytes for TLVs, from page 4 on.
  var bytes: Int { Int(size) * 8 }
  /// Whether a container of this size proves the size on a tag of unknown model. Not for the 224 DNA: a tag with 60
  /// pages and 144 bytes has the last page of this size behind its lock bytes.
  var isSizeBelieved = true
  /// The lock bits for pages from 16 on, without those that only freeze others.
  let locks: Type2Locks
  /// Nil if the tag has no password or key.
  var protection: Type2Protection.Place?
  /// Nil if the tag never returns other bytes than it holds.
  var mirror: Type2Mirror?

  /// For an answer to GET_VERSION. Nil if the tag is not in the table.
  static func ofVersion(_ answer: [UInt8]) -> Type2Model? { all.first { $0.version?.fits(answer) == true } }

  /// The most bytes for TLVs of a tag that is not in the table, from its answer to GET_VERSION: 2 to the power of the
  /// upper seven bits of the storage size. If its lowest bit is set, up to twice as much (NTAG213_215_216 3.2, 10.1).
  /// Lock bytes and passwords may begin far below that.
  static func mostBytes(ofVersion answer: [UInt8]) -> Int {
    guard answer.count == 8, answer[6] < 0x20 else { return .max }
    return 1 << Int(answer[6] >> 1 + answer[6] & 1)
  }

  /// The most bytes for TLVs of a tag that shows no model: the largest size of a model up to this one, which its
  /// container claims. Tags of other manufacturers copy the models of NXP. A size that no model has is wrong, and the
  /// lock bytes would be inside it.
  static func mostBytes(claimed bytes: Int) -> Int {
    all.filter { $0.bytes <= bytes && $0.isSizeBelieved }.map(\.bytes).max() ?? bytes
  }

  /// The model with the end of its memory in front of this page. If there are two, the one with a mirror comes first:
  /// the other one has zeros in its settings.
  static func ending(at end: Int) -> Type2Model? { all.first { $0.end == end } }

  /// Whether AUTH0 of a model of this size, as in the capability container, protects the pages from this one on. READ
  /// also continues with page 0 in front of pages that need the password to be read (NTAG213_215_216 3.2, 10.2).
  static func isProtected(from page: Int, size: UInt8, _ memory: TagMemory) -> Bool {
    all.contains { $0.size == size && $0.protection?.firstProtectedPage(memory) == page }
  }

  /// The pages at which the memory of a tag may end if its container has this size, ascending. `isCertain` leaves out
  /// the sizes of tags that refuse to have a page behind their memory read.
  static func ends(upTo size: UInt8, isCertain: Bool) -> [Int] {
    let models = all.filter { model in
      model.size < size || model.size == size && !(isCertain && all.contains { $0.end == nil && $0.size == size })
    }
    return Set(models.compactMap(\.end)).sorted()
  }

  /// Of all NXP tags of that size, as in the capability container.
  static func knowFastRead(size: UInt8) -> Bool {
    let models = all.filter { $0.size == size }
    return !models.isEmpty && models.allSatisfy { $0.version != nil && $0.isFastReadCertain }
  }

  private static let all: [Type2Model] = [
    // NTAG210µ, NTAG210, NTAG212.
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.Subtype.usual, major: 2...2, storage: 0x0B...0x0B), end: 0x10,
      size: 0x06, locks: .none),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.Subtype.usual, major: 1...1, storage: 0x0B...0x0B), end: 0x14,
      size: 0x06, locks: .none, protection: .atEnd(ofPage: 0x10), mirror: .uid),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.Subtype.usual, major: 1...1, storage: 0x0E...0x0E), end: 0x29,
      size: 0x10, locks: .from(page: 0x24, 0xFF, 0x03), protection: .atEnd(ofPage: 0x25), mirror: .uid),
    // Ultralight Nano, Ultralight EV1.
    Type2Model(
      version: Version(product: 0x03, subtypes: Version.Subtype.usual, major: 2...2, storage: 0x0B...0x0B), end: 0x0E,
      isFastReadCertain: false, size: 0x05, locks: .none),
    Type2Model(
      version: Version(product: 0x03, subtypes: Version.Subtype.usual, major: 1...1, storage: 0x0B...0x0B), end: 0x14,
      size: 0x06, locks: .none, protection: .atEnd(ofPage: 0x10)),
    Type2Model(
      version: Version(product: 0x03, subtypes: Version.Subtype.usual, major: 1...1, storage: 0x0E...0x0E), end: 0x29,
      size: 0x10, locks: .from(page: 0x24, 0xFF, 0x03), protection: .atEnd(ofPage: 0x25)),
    // NTAG213 with its variants (major version 3: TagTamper), NTAG215, NTAG216.
    Type2Model(
      version: Version(
        product: 0x04, subtypes: Version.Subtype.fieldDetecting, major: 1...3, storage: 0x0F...0x0F), end: 0x2D,
      size: 0x12, locks: .from(page: 0x28, 0xFF, 0x0F), protection: .atEnd(ofPage: 0x29), mirror: .configured),
    Type2Model(
      version: Version(
        product: 0x04, subtypes: Version.Subtype.fieldDetecting, major: 1...1, storage: 0x11...0x11), end: 0x87,
      size: 0x3E, locks: .from(page: 0x82, 0xFF), protection: .atEnd(ofPage: 0x83), mirror: .configured),
    Type2Model(
      version: Version(
        product: 0x04, subtypes: Version.Subtype.fieldDetecting, major: 1...1, storage: 0x12...0x13), end: 0xE7,
      size: 0x6D, locks: .from(page: 0xE2, 0xFF, 0x3F), protection: .atEnd(ofPage: 0xE3), mirror: .configured),
    // NTAG 223 DNA and NTAG 224 DNA. Which pages their lock bits lock is not known.
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.Subtype.dna, major: 4...4, storage: 0x0F...0x0F), end: 0x3C,
      isFastReadCertain: false, size: 0x12, locks: .from(page: 0x28, 0xFF, 0xFF, 0xFF, areCertain: false),
      protection: .atEnd(ofPage: 0x29), mirror: .sun),
    Type2Model(
      version: Version(product: 0x04, subtypes: Version.Subtype.dna, major: 5...5, storage: 0x10...0x10), end: 0x4C,
      isFastReadCertain: false, size: 0x1A, isSizeBelieved: false,
      locks: .from(page: 0x38, 0xFF, 0xFF, 0xFF, areCertain: false), protection: .atEnd(ofPage: 0x39), mirror: .sun),
    // Ultralight AES.
    Type2Model(
      version: Version(product: 0x03, subtypes: Version.Subtype.ultralightAES, major: 4...4, storage: 0x0F...0x0F),
      end: 0x3C, isFastReadCertain: false, size: 0x12, locks: .from(page: 0x28, 0xFF, 0x0F),
      protection: .atEnd(ofPage: 0x29)),
    // NTAG I²C, NTAG I²C plus.
    Type2Model(
      version: Version(
        product: 0x04, subtypes: Version.Subtype.i2c, major: 2...2, minor: 1...1, storage: 0x13...0x13), end: nil,
      size: 0x6D, locks: .from(page: 0xE2, 0xFF, 0x3F)),
    Type2Model(
      version: Version(
        product: 0x04, subtypes: Version.Subtype.i2c, major: 2...2, minor: 1...1, storage: 0x15...0x15), end: nil,
      size: 0xEA, locks: .from(page: 0x1E0, 0xFF, 0x7F)),
    Type2Model(
      version: Version(
        product: 0x04, subtypes: Version.Subtype.i2c, major: 2...2, minor: 2...2, storage: 0x13...0x15), end: nil,
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

/// Lock bits. Once they are set, they make pages of a Type 2 tag permanently read-only.
struct Type2Locks: Sendable {
  /// The lock bits in each byte.
  let bytes: [(address: Int, mask: UInt8)]
  /// If false, `bytes` has all bits of the lock bytes. One that is set may lock any page, but setting them all may
  /// leave a page writable.
  let areCertain: Bool

  private init(_ address: Int, _ masks: [UInt8], areCertain: Bool = true) {
    self.areCertain = areCertain
    bytes = masks.enumerated().map { (address + $0.offset, $0.element) }
  }

  /// For a tag that only has the static ones.
  static let none = Type2Locks(0, [])

  /// `masks` are the lock bits in each byte from the first byte of `page` on.
  static func from(page: Int, _ masks: UInt8..., areCertain: Bool = true) -> Type2Locks {
    Type2Locks(page * Type2Access.pageSize, masks, areCertain: areCertain)
  }

  /// The static lock bytes in page 2, for pages 3 to 15 (section 2.2). Bits 0 to 2 of the first byte freeze the other
  /// bits.
  static let `static` = Type2Locks(10, [0xF8, 0xFF])

  /// By the static lock bytes, for a page from 3 to 15.
  static func isLocked(_ page: Int, _ memory: TagMemory) -> Bool {
    guard (3...15).contains(page), let low = memory[10], let high = memory[11] else { return false }
    return (UInt16(high) << 8 | UInt16(low)) & 1 << UInt16(page) != 0
  }

  /// Ascending.
  var pages: [Int] { Set(bytes.map { $0.address / Type2Access.pageSize }).sorted() }

  func areAllSet(in memory: TagMemory) -> Bool {
    bytes.allSatisfy { (memory[$0.address] ?? 0) & $0.mask == $0.mask }
  }

  func isAnySet(in memory: TagMemory) -> Bool { bytes.contains { (memory[$0.address] ?? 0) & $0.mask != 0 } }

  /// With all of its lock bits set.
  func locked(_ page: Int, _ memory: TagMemory) -> [UInt8] {
    (page * Type2Access.pageSize..<(page + 1) * Type2Access.pageSize).map { address in
      bytes.filter { $0.address == address }.reduce(memory[address] ?? 0) { $0 | $1.mask }
    }
  }
}

/// The protection of pages by a password (NTAG) or a key (Ultralight C). This code never knows the password or key.
enum Type2Protection {
  static let problem = TagProblem(.protected, "the tag lets itself be written only with its password or key")

  /// The location of AUTH0, the number of the first protected page.
  struct Place: Sendable {
    /// A page from which READ returns AUTH0.
    let page: Int
    let address: Int
    /// Those that protect a page.
    let valid: ClosedRange<Int>

    /// For all tags with a password. The value FFh protects no page.
    static func atEnd(ofPage page: Int) -> Place {
      Place(page: page, address: page * Type2Access.pageSize + 3, valid: 0...0xFE)
    }

    /// `Int.max` if no page is protected. The memory must include `page`.
    func firstProtectedPage(_ memory: TagMemory) -> Int {
      guard let first = memory[address].map(Int.init), valid.contains(first) else { return .max }
      return first
    }
  }
}

/// The bytes that an NTAG returns in the place of those it holds: its UID, the number of its readings, or both, as text
/// (NTAG213_215_216 3.2, section 8.7; NTAG210_212 3.0, section 8.6). The settings are in the page of AUTH0.
enum Type2Mirror {
  /// The UID, if there is a page for it.
  case uid
  /// What the upper two bits of the first byte say.
  case configured
  /// The UID, the number of readings, with StatusDetect its state, and a code: 38 or 49 bytes (NTAG 223 DNA and NTAG
  /// 224 DNA; proxmark3, `ntag22x_suncmac_recovery.py`). The upper three bits of the first byte say which of them.
  case sun

  /// `settings` is the page of AUTH0. Empty if the tag returns the bytes that it holds.
  func addresses(_ settings: [UInt8]) -> Range<Int> {
    guard settings.count == Type2Access.pageSize, settings[2] > 3 else { return 0..<0 }
    let offset = self == .sun ? settings[0] >> 3 & 3 : settings[0] >> 4 & 3
    let start = Int(settings[2]) * Type2Access.pageSize + Int(offset)
    let length =
      switch (self, settings[0] >> 6) {
      case (.uid, _), (.configured, 1): 14
      case (.configured, 2): 6
      case (.configured, 3): 14 + 1 + 6
      case (.sun, _) where settings[0] >> 5 != 0: 49
      default: 0
      }
    return start..<start + length
  }
}

/// Characters that a tag returns in the place of those it holds: its UID, a counter or a code, as hexadecimal digits.
/// On an NTAG213 this is the ASCII mirror (NTAG213_215_216 3.2, section 8.7), on an NTAG 424 DNA secure dynamic
/// messaging (NT4H2421Gx 3.0, section 9.3). The settings of the tag may be unknown.
struct MirroredText {
  private let readings: [[UInt8]]
  /// Where one of them differs from the message.
  private let indices: [Int]

  /// Nil for another difference: of the length, or of bytes that no tag puts there.
  init?(of readings: [[UInt8]], insteadOf message: [UInt8]) {
    guard readings.allSatisfy({ $0.count == message.count }) else { return nil }
    self.readings = readings
    indices = message.indices.filter { index in readings.contains { $0[index] != message[index] } }
    guard readings.allSatisfy({ reading in indices.allSatisfy { Self.isMirrored(reading[$0]) } }) else { return nil }
  }

  /// The digits, and the character between UID and counter.
  private static func isMirrored(_ byte: UInt8) -> Bool { "0123456789ABCDEFx".utf8.contains(byte) }

  /// Whether the tag itself has certainly put the characters there: they change from one reading to the next, or they
  /// are its UID, maybe with a counter.
  func isPlaced(by uid: [UInt8]) -> Bool {
    guard let reading = readings.first, readings.allSatisfy({ $0 == reading }) else { return true }
    let text = Array(Hexadecimal.text(uid).utf8)
    guard !text.isEmpty, let start = reading.firstRange(of: text)?.lowerBound else { return false }
    let counter = reading[start...].dropFirst(text.count).first == UInt8(ascii: "x") ? 1 + 6 : 0
    return indices.allSatisfy { (start..<start + text.count + counter).contains($0) }
  }
}
