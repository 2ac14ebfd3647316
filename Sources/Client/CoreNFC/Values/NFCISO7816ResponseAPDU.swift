public import Foundation

/// The answer of a card (ISO/IEC 7816-4, 5.1; iOS 14).
public struct NFCISO7816ResponseAPDU: Sendable {
  /// The first status byte, SW1.
  public var statusWord1: UInt8
  /// The second status byte, SW2.
  public var statusWord2: UInt8
  /// The data without the status bytes.
  public var payload: Data?

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - statusWord1: the first status byte, SW1.
  ///   - statusWord2: the second status byte, SW2.
  ///   - paylaod: the data without the status bytes. The label is spelt as on iOS.
  public init(statusWord1: UInt8, statusWord2: UInt8, paylaod: Data?) {
    self.statusWord1 = statusWord1
    self.statusWord2 = statusWord2
    payload = paylaod
  }
}
