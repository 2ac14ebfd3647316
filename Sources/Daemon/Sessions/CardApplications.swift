import ReaderLink

/// Which applications of cards a client may declare: never a payment application.
enum CardApplications {
  /// The NDEF application (NFC Forum Type 4 Tag, 5.4) of mapping versions 2 and 1. Every client may select it.
  static let ndef: [[UInt8]] = [
    [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01], [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00],
  ]

  /// The system of NDEF on FeliCa (NFC Forum Type 3 Tag, 5.3).
  static let ndefSystem: UInt16 = 0x12FC

  /// The beginnings of the identifiers of the payment directories (EMV Book 1, 11.3 and 12.2).
  private static let directories = [Array("1PAY.".utf8), Array("2PAY.".utf8)]

  /// The registered identifiers of payment schemes: the first five bytes of an application identifier.
  private static let paymentProviders: [[UInt8]] = [
    // Visa, Mastercard, Maestro UK, American Express, LINK, Carte Bancaire, JCB, Visa's common debit.
    [0xA0, 0x00, 0x00, 0x00, 0x03], [0xA0, 0x00, 0x00, 0x00, 0x04], [0xA0, 0x00, 0x00, 0x00, 0x05],
    [0xA0, 0x00, 0x00, 0x00, 0x25], [0xA0, 0x00, 0x00, 0x00, 0x29], [0xA0, 0x00, 0x00, 0x00, 0x42],
    [0xA0, 0x00, 0x00, 0x00, 0x65], [0xA0, 0x00, 0x00, 0x00, 0x98],
    // Dankort, PagoBANCOMAT, Discover and Diners Club, Banrisul, FISC, SPAN, Interac.
    [0xA0, 0x00, 0x00, 0x01, 0x21], [0xA0, 0x00, 0x00, 0x01, 0x41], [0xA0, 0x00, 0x00, 0x01, 0x52],
    [0xA0, 0x00, 0x00, 0x01, 0x54], [0xA0, 0x00, 0x00, 0x01, 0x72], [0xA0, 0x00, 0x00, 0x02, 0x28],
    [0xA0, 0x00, 0x00, 0x02, 0x77],
    // Discover, UnionPay, GIM-UEMOA, girocard, Verve, eftpos, RuPay, NETS, NSICC, MyDebit, Elo, Mir, Troy, TPN, NAPAS,
    // Meeza.
    [0xA0, 0x00, 0x00, 0x03, 0x24], [0xA0, 0x00, 0x00, 0x03, 0x33], [0xA0, 0x00, 0x00, 0x03, 0x37],
    [0xA0, 0x00, 0x00, 0x03, 0x59], [0xA0, 0x00, 0x00, 0x03, 0x71], [0xA0, 0x00, 0x00, 0x03, 0x84],
    [0xA0, 0x00, 0x00, 0x05, 0x24], [0xA0, 0x00, 0x00, 0x05, 0x41], [0xA0, 0x00, 0x00, 0x06, 0x02],
    [0xA0, 0x00, 0x00, 0x06, 0x15], [0xA0, 0x00, 0x00, 0x06, 0x51], [0xA0, 0x00, 0x00, 0x06, 0x58],
    [0xA0, 0x00, 0x00, 0x06, 0x72], [0xA0, 0x00, 0x00, 0x06, 0x77], [0xA0, 0x00, 0x00, 0x07, 0x27],
    [0xA0, 0x00, 0x00, 0x07, 0x32],
    // German banks, BC Card, BankAxept.
    [0xD2, 0x76, 0x00, 0x00, 0x25], [0xD4, 0x10, 0x00, 0x00, 0x03], [0xD5, 0x78, 0x00, 0x00, 0x02],
  ]

  /// The beginnings of the identifiers of passports, residence permits and driving licences (ICAO Doc 9303-10, 4.5;
  /// ISO/IEC 18013-2), and of European identity cards (BSI TR-03110-4).
  private static let documents: [[UInt8]] = [
    [0xA0, 0x00, 0x00, 0x02, 0x47], [0xA0, 0x00, 0x00, 0x02, 0x48], [0xE8, 0x07, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x03],
  ]

  /// Whether one of the declared applications is that of an identity document. Its card may want PACE first.
  static func includeDocument(_ applications: [[UInt8]]) -> Bool {
    applications.contains { application in documents.contains { application.starts(with: $0) } }
  }

  /// Whether an identifier belongs to a payment application, or is the beginning of such an identifier.
  static func isPayment(_ identifier: [UInt8]) -> Bool {
    (directories + paymentProviders).contains { identifier.starts(with: $0) || $0.starts(with: identifier) }
  }

  /// Whether the bytes contain the beginning of a payment application's identifier at any position.
  static func hold(payment bytes: [UInt8]) -> Bool {
    (directories + paymentProviders).contains { pattern in
      bytes.indices.contains { bytes[$0...].starts(with: pattern) }
    }
  }

  /// Why an identifier may not be declared; nil if it may.
  static func problem(declaring identifier: [UInt8]) -> String? {
    let length = ReaderLimits.applicationIdentifier
    guard length.contains(identifier.count) else {
      return "an identifier has \(identifier.count) bytes: \(length.lowerBound) to \(length.upperBound) are allowed"
    }
    guard !isPayment(identifier) else { return "payment applications are never selected" }
    return nil
  }

  /// Why a FeliCa system code may not be declared; nil if it may.
  static func problem(declaring systemCode: UInt16) -> String? {
    guard ReaderSessionOptions.isExact(systemCode) else {
      return "a FeliCa system code with a byte FF means any system: give the exact codes"
    }
    return nil
  }
}
