/// The product family of a MIFARE tag (iOS 13).
public enum NFCMiFareFamily: UInt, Sendable {
  /// A tag of ISO/IEC 14443 A that is no known product.
  case unknown = 1
  /// MIFARE Ultralight, also NTAG.
  case ultralight = 2
  /// MIFARE Plus.
  case plus = 3
  /// MIFARE DESFire.
  case desfire = 4
}
