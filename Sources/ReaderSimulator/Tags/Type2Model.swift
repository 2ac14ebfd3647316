/// A chip that speaks NFC Forum Type 2, with what its data sheet says of its memory.
public struct Type2Model: Sendable, Hashable {
  /// The name on the control line: `ultralight`, `ntag213`, `ntag215`, `ntag216`.
  public let name: String
  /// Pages of four bytes, those of the configuration included.
  public let pageCount: Int
  /// The answer to GET_VERSION, nil where the chip does not know the command, nor FAST_READ.
  public let version: [UInt8]?
  /// The third byte of the capability container: bytes for TLVs from page 4 on, divided by eight.
  let capacityCode: UInt8
  /// The page of the dynamic lock bytes, nil where there are none.
  let dynamicLockPage: Int?
  /// How many pages one dynamic lock bit locks.
  let pagesPerLockBit: Int

  /// MIFARE Ultralight, MF0ICU1: 64 bytes, 48 of them for TLVs.
  public static let ultralight = Type2Model(
    name: "ultralight", pageCount: 16, version: nil, capacityCode: 0x06, dynamicLockPage: nil, pagesPerLockBit: 0)
  /// NTAG213: 180 bytes, 144 of them for TLVs.
  public static let ntag213 = Type2Model(
    name: "ntag213", pageCount: 45, version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03],
    capacityCode: 0x12, dynamicLockPage: 0x28, pagesPerLockBit: 2)
  /// NTAG215: 540 bytes, 496 of them for TLVs.
  public static let ntag215 = Type2Model(
    name: "ntag215", pageCount: 135, version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03],
    capacityCode: 0x3E, dynamicLockPage: 0x82, pagesPerLockBit: 16)
  /// NTAG216: 924 bytes, 872 of them for TLVs. (Its container says 109 times eight.)
  public static let ntag216 = Type2Model(
    name: "ntag216", pageCount: 231, version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x13, 0x03],
    capacityCode: 0x6D, dynamicLockPage: 0xE2, pagesPerLockBit: 16)

  /// Every model there is.
  public static let all: [Type2Model] = [.ultralight, .ntag213, .ntag215, .ntag216]

  /// Bytes for TLVs, from page 4 on.
  public var capacity: Int { Int(capacityCode) * 8 }

  /// The page behind the last one that holds TLVs.
  var endOfTLVs: Int { 4 + capacity / 4 }
}
