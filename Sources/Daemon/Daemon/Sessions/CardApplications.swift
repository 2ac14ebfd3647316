import ReaderProtocol

/// Which applications of cards a client may declare: never a payment application.
enum CardApplications {
  /// The NDEF application (NFC Forum Type 4 Tag, 5.4) of mapping versions 2 and 1. Every client may select it.
  static let ndef: [[UInt8]] = [
    [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01], [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00],
  ]

  /// The system of NDEF on FeliCa (NFC Forum Type 3 Tag, 5.3).
  static let ndefSystem: UInt16 = 0x12FC

  /// The beginnings of the identifiers of passports, residence permits and driving licences (ICAO Doc 9303-10, 4.5;
  /// ISO/IEC 18013-2), and of European identity cards (BSI TR-03110-4).
  private static let documents: [[UInt8]] = [
    [0xA0, 0x00, 0x00, 0x02, 0x47], [0xA0, 0x00, 0x00, 0x02, 0x48], [0xE8, 0x07, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x03],
  ]

  /// Whether one of the declared applications is that of an identity document. Its card may want PACE first.
  static func includeDocument(_ applications: [[UInt8]]) -> Bool {
    applications.contains { application in documents.contains { application.starts(with: $0) } }
  }

  /// Nil if the identifier may be declared.
  static func problem(declaring identifier: [UInt8]) -> String? {
    let length = ReaderLimits.applicationIdentifier
    guard length.contains(identifier.count) else {
      return "an identifier has \(identifier.count) bytes: \(length.lowerBound) to \(length.upperBound) are allowed"
    }
    guard !PaymentSchemes.include(identifier) else { return "payment applications are never selected" }
    return nil
  }

  /// Nil if the system code may be declared.
  static func problem(declaring systemCode: UInt16) -> String? {
    guard TagSessionOptions.isExact(systemCode) else {
      return "a FeliCa system code with a byte FF means any system: give the exact codes"
    }
    return nil
  }
}
