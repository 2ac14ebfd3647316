/// A MIFARE card of ISO/IEC 14443-4 that has commands of its own besides APDUs.
package enum MIFAREProduct: Sendable {
  /// DESFire.
  case desfire
  /// Plus.
  case plus

  /// Recognizes a card of Type 4A by the historical bytes of its answer to select (NXP AN10833). Nil if it is another.
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
