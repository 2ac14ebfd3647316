/// A kind of tag. It determines how the tag is read. The raw value is its name in the configuration, on the bus, in
/// files and in logs.
package enum TagType: String, Sendable, CaseIterable, CustomStringConvertible {
  /// NFC Forum Type 1: Topaz, Jewel.
  case type1 = "type-1"
  /// NFC Forum Type 2: MIFARE Ultralight, NTAG.
  case type2 = "type-2"
  /// NFC Forum Type 3: FeliCa (JIS X 6319-4).
  case type3 = "type-3"
  /// NFC Forum Type 4 over ISO/IEC 14443 A: DESFire, phones, Java cards.
  case type4A = "type-4a"
  /// NFC Forum Type 4 over ISO/IEC 14443 B.
  case type4B = "type-4b"
  /// NFC Forum Type 5 (ISO/IEC 15693): ICODE, ST25, Tag-it.
  case type5 = "type-5"
  /// MIFARE Classic, which uses a proprietary protocol.
  case mifareClassic = "mifare-classic"
  /// Another device that only supports NFC-DEP. It cannot be read.
  case peer = "nfc-dep"

  /// The kinds of tags that can be read, in the order of all lists.
  package static let readable: [TagType] = allCases.filter { $0 != .peer }

  /// The name.
  package var description: String { rawValue }
}
