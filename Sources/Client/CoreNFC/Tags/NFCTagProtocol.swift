public import Foundation

// swift-format-ignore: NoLeadingUnderscores, AlwaysUseLowerCamelCase
/// The kind of a tag. `NFCTag` is the enum that programs use.
public enum __NFCTagType: UInt, Sendable {
  /// NFC Forum Type 5 (ISO/IEC 15693).
  case ISO15693 = 1
  /// FeliCa (JIS X 6319-4).
  case feliCa = 2
  /// ISO/IEC 14443-4 with an application of ISO/IEC 7816-4.
  case iso7816Compatible = 3
  /// MIFARE Ultralight, Plus and DESFire, and NTAG.
  case miFare = 4
}

// swift-format-ignore: NoLeadingUnderscores
/// What every tag of a tag session can do. `NFCTag` is the enum that programs use.
public protocol __NFCTag: NSCopying, NSSecureCoding, NSObjectProtocol {
  /// The kind of the tag.
  var type: __NFCTagType { get }
  /// The session that has found the tag; nil once it has gone.
  var session: (any NFCReaderSessionProtocol)? { get }
  /// Whether the tag is on the reader and its session is active.
  var isAvailable: Bool { get }

  /// The tag as one of ISO/IEC 15693; nil if it is another kind.
  func asNFCISO15693Tag() -> (any NFCISO15693Tag)?
  /// The tag as one of ISO/IEC 7816; nil if it is another kind.
  func asNFCISO7816Tag() -> (any NFCISO7816Tag)?
  /// The tag as a FeliCa card; nil if it is another kind.
  func asNFCFeliCaTag() -> (any NFCFeliCaTag)?
  /// The tag as a MIFARE tag; nil if it is another kind.
  func asNFCMiFareTag() -> (any NFCMiFareTag)?
}

extension __NFCTag {
  /// The tag, if it conforms to `NFCISO15693Tag`.
  public func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self as? any NFCISO15693Tag }

  /// The tag, if it conforms to `NFCISO7816Tag`.
  public func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self as? any NFCISO7816Tag }

  /// The tag, if it conforms to `NFCFeliCaTag`.
  public func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { self as? any NFCFeliCaTag }

  /// The tag, if it conforms to `NFCMiFareTag`.
  public func asNFCMiFareTag() -> (any NFCMiFareTag)? { self as? any NFCMiFareTag }
}
