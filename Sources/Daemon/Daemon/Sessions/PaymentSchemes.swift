/// The payment schemes, by the first five bytes of their applications' identifiers: the registered identifier of the
/// provider (ISO/IEC 7816-4, 12.2.3).
///
/// There is no official public list. The source is the list of the Proxmark3 project (`client/resources/aidlist.json`,
/// rows of the type EMV), with schemes that newer terminals' configurations name. `Packaging/check-payment-schemes`
/// compares this table with a newer list. A provider that also has applications of another kind is in the table: one
/// application that is refused costs less than one payment.
enum PaymentSchemes {
  private static let providers: Set<UInt64> = [
    0xA0_0000_0003,  // Visa
    0xA0_0000_0004,  // Mastercard, Maestro, Cirrus
    0xA0_0000_0005,  // Maestro UK
    0xA0_0000_0010,  // Maestro of Europay
    0xA0_0000_0024,  // Midland Bank
    0xA0_0000_0025,  // American Express
    0xA0_0000_0029,  // LINK
    0xA0_0000_0042,  // Cartes Bancaires
    0xA0_0000_0059,  // electronic cash
    0xA0_0000_0065,  // JCB
    0xA0_0000_0069,  // Moneo
    0xA0_0000_0098,  // US common debit of Visa
    0xA0_0000_0111,  // Postcard of PostFinance
    0xA0_0000_0121,  // Dankort
    0xA0_0000_0141,  // PagoBANCOMAT
    0xA0_0000_0152,  // Diners Club, Discover
    0xA0_0000_0154,  // Banrisul
    0xA0_0000_0172,  // FISC
    0xA0_0000_0185,  // UK Post Office
    0xA0_0000_0188,  // Diners Club Switzerland
    0xA0_0000_0228,  // mada
    0xA0_0000_0277,  // Interac
    0xA0_0000_0315,  // PIN, Chipknip
    0xA0_0000_0324,  // Discover
    0xA0_0000_0333,  // UnionPay
    0xA0_0000_0337,  // GIM-UEMOA
    0xA0_0000_0359,  // EAPS, girocard
    0xA0_0000_0366,  // Postamat
    0xA0_0000_0371,  // Verve
    0xA0_0000_0384,  // eftpos
    0xA0_0000_0427,  // Hipercard
    0xA0_0000_0432,  // PRO100
    0xA0_0000_0436,  // Edenred
    0xA0_0000_0439,  // Accel, Exchange
    0xA0_0000_0442,  // Cabal
    0xA0_0000_0454,  // eTranzact
    0xA0_0000_0494,  // Elo
    0xA0_0000_0524,  // RuPay
    0xA0_0000_0541,  // NETS
    0xA0_0000_0602,  // NSICCS
    0xA0_0000_0615,  // MyDebit
    0xA0_0000_0620,  // US common debit of DNA
    0xA0_0000_0635,  // BancNet
    0xA0_0000_0651,  // Elo
    0xA0_0000_0658,  // Mir
    0xA0_0000_0672,  // Troy
    0xA0_0000_0677,  // TPN
    0xA0_0000_0727,  // NAPAS
    0xA0_0000_0732,  // Meeza
    0xA0_0000_0736,  // PayPak
    0xA0_0000_0770,  // XTRAPOWER
    0xA0_0000_0779,  // Zimswitch
    0xA0_0000_0817,  // found by an audit of these rules; no public list names its owner
    0xA0_0000_0878,  // KLSC
    0xA0_8600_0100,  // HUMO
    0xD0_4000_0001,  // Quick
    0xD0_4000_0003,  // Austrian payments
    0xD0_4000_0004,  // Austrian cash dispensers
    0xD0_4000_0019,  // Austrian Maestro and Mastercard
    0xD2_7600_0025,  // girocard, GeldKarte
    0xD4_1000_0001,  // Korean credit cards
    0xD4_1000_0003,  // T-money
    0xD4_1000_0014,  // Cashbee
    0xD4_1065_0990,  // K-Cash
    0xD5_2800_5021,  // Dutch bank cards
    0xD5_7800_0002,  // BankAxept
    0xD7_5600_0001,  // Reka
    0xD7_5600_0030,  // M-Budget
    0xD8_0400_0001,  // PROSTIR
    0x31_5041_592E,  // 1PAY., the directory of a card with contacts (EMV Book 1, 12.2)
    0x32_5041_592E,  // 2PAY., the directory of a contactless card (EMV Contactless Book B, 3.3)
    0x45_4F50_4343,  // Uzcard
  ]

  /// Also true of the beginning of such an identifier.
  static func include(_ identifier: some Collection<UInt8>) -> Bool {
    let start = identifier.prefix(5)
    let number = start.reduce(0) { $0 << 8 | UInt64($1) }
    if start.count == 5 { return providers.contains(number) }
    return providers.contains { $0 >> (8 * (5 - start.count)) == number }
  }

  /// At any position.
  static func areNamed(in bytes: [UInt8]) -> Bool {
    bytes.count >= 5 && (0...bytes.count - 5).contains { include(bytes[$0..<$0 + 5]) }
  }
}
