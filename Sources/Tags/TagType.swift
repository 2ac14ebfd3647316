/// A kind of tag, by the way in which it is read.
public struct TagType: Sendable, Hashable, CustomStringConvertible {
  /// The name on the bus and in logs: `type-2`.
  public let description: String

  private init(_ name: String) { description = name }

  /// NFC Forum Type 1: Topaz, Jewel.
  public static let type1 = TagType("type-1")
  /// NFC Forum Type 2: MIFARE Ultralight, NTAG.
  public static let type2 = TagType("type-2")
  /// NFC Forum Type 4 over ISO/IEC 14443 A: DESFire, phones, Java cards.
  public static let type4A = TagType("type-4a")
  /// NFC Forum Type 3: FeliCa (JIS X 6319-4).
  public static let type3 = TagType("type-3")
  /// NFC Forum Type 4 over ISO/IEC 14443 B.
  public static let type4B = TagType("type-4b")
  /// MIFARE Classic, which uses a proprietary protocol.
  public static let mifareClassic = TagType("mifare-classic")
  /// Another device that only supports NFC-DEP.
  public static let peer = TagType("nfc-dep")

  /// Every kind of tag that can be read.
  public static let configurable: [TagType] = [type1, type2, type3, type4A, type4B, mifareClassic]
}
