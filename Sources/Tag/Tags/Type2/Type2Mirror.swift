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

  /// The addresses of these bytes, which `settings`, the page of AUTH0, determines. Empty if the tag returns what it
  /// holds.
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
