import Names
import TagrouteClient

/// A tag that a tag session has found (iOS 13).
public enum NFCTag {
  /// FeliCa (JIS X 6319-4).
  case feliCa(any NFCFeliCaTag)
  /// A card of ISO/IEC 14443-4 with a declared application (ISO/IEC 7816-4).
  case iso7816(any NFCISO7816Tag)
  /// NFC Forum Type 5 (ISO/IEC 15693).
  case iso15693(any NFCISO15693Tag)
  /// MIFARE Ultralight, NTAG; DESFire or Plus without a declared application.
  case miFare(any NFCMiFareTag)

  /// Whether the tag is on the reader and its session is active.
  public var isAvailable: Bool {
    switch self {
    case .feliCa(let tag): tag.isAvailable
    case .iso7816(let tag): tag.isAvailable
    case .iso15693(let tag): tag.isAvailable
    case .miFare(let tag): tag.isAvailable
    }
  }

  /// The tag, whatever its kind.
  var any: Any {
    switch self {
    case .feliCa(let tag): tag
    case .iso7816(let tag): tag
    case .iso15693(let tag): tag
    case .miFare(let tag): tag
    }
  }

  /// Nil if a tag session does not know this kind: Topaz, MIFARE Classic, and cards without a declared application
  /// other than DESFire and Plus.
  init?(_ tag: ReaderTag, in session: NFCTagReaderSession) {
    switch TagType(rawValue: tag.technology) {
    case .type2: self = .miFare(MiFareTag(tag, in: session))
    case .type3: self = .feliCa(FeliCaTag(tag, in: session))
    case .type4A, .type4B:
      if !tag.selectedApplication.isEmpty || session.polling.findsEveryCard {
        self = .iso7816(ISO7816Tag(tag, in: session))
      } else if tag.mifareFamily != .unknown {
        self = .miFare(MiFareTag(tag, in: session))
      } else {
        return nil
      }
    case .type5: self = .iso15693(ISO15693Tag(tag, in: session))
    case .type1, .mifareClassic, .peer, nil: return nil
    }
  }
}
