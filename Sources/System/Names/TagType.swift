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

  /// In the order of all lists.
  package static let readable: [TagType] = allCases.filter { $0 != .peer }

  package var description: String { rawValue }
}

/// A MIFARE card of ISO/IEC 14443-4 that has its own commands besides APDUs.
package enum MIFAREProduct: Sendable {
  case desfire
  case plus

  /// Uses the historical bytes of the answer to select (NXP AN10833). Nil if it is another card.
  package init?(historicalBytes: [UInt8]) {
    if historicalBytes == [0x80] {
      self = .desfire
    } else if historicalBytes.starts(with: [0xC1, 0x05]) {
      self = .plus
    } else {
      return nil
    }
  }
}

/// The spelling of a tag's UID for people, in files and on the command line: `04A2195A`.
package enum UIDText {
  /// In bytes.
  package static let lengths = 4...10

  package static func text(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes) }

  /// `04-A2-19-5A`, for programs: MQTT and `TAGROUTE_UID` have this form, as ESPHome does.
  package static func dashed(_ bytes: [UInt8]) -> String {
    bytes.map { Hexadecimal.text($0) }.joined(separator: "-")
  }

  /// Accepts a hyphen, a colon or a space between bytes; nil if the text is not a UID.
  package static func bytes(_ text: String) -> [UInt8]? {
    guard text.utf8.count <= 3 * lengths.upperBound else { return nil }
    var bytes: [UInt8] = []
    for part in text.split(omittingEmptySubsequences: false, whereSeparator: { "-: ".contains($0) }) {
      guard let part = Hexadecimal.bytes(String(part)) else { return nil }
      bytes += part
    }
    return lengths.contains(bytes.count) ? bytes : nil
  }

  /// Whether the tag chooses a new UID at each activation: four bytes, the first of them 08 (ISO/IEC 14443-3, section
  /// 6.5.4). Phones and bank cards do.
  package static func isRandom(_ bytes: [UInt8]) -> Bool { bytes.count == 4 && bytes.first == 0x08 }

  /// True for a random UID, and for the PUPI of a Type B tag, which may be generated dynamically (ISO/IEC 14443-3,
  /// section 7.9.2).
  package static func mayChange(_ bytes: [UInt8], technology: String) -> Bool {
    isRandom(bytes) || technology == TagType.type4B.rawValue
  }

  /// Why a rule with a UID might not find the tag again.
  package enum Obstacle: Sendable, Hashable {
    /// The tag has another UID at each tap, or none.
    case changes
    /// A Type B tag may have another UID at each tap.
    case mayChange
  }

  /// Nil if a rule can have the UID. The technology is empty if it is not known.
  package static func obstacle(toRuleWith bytes: [UInt8], technology: String = "") -> Obstacle? {
    guard lengths.contains(bytes.count), !isRandom(bytes) else { return .changes }
    return mayChange(bytes, technology: technology) ? .mayChange : nil
  }
}
