/// Models by Advanced Card Systems (vendor 072F). libccid and ACS's own driver have different names for some of them.
extension ReaderModel {
  static let acs: [ReaderModel] = [acr122, acr1222, acr1251, acr1252, acr1255, acr1281, acr1552, otherACS].map { row in
    var model = row
    model.hasOneFailureWord = true
    return model
  }

  private static func devices(_ products: UInt16...) -> [Identifier] { products.map { Identifier(0x072F, $0) } }

  /// The PN532 in it is open to programs (ACR122U API 2.04). A Touchatag is the same, but has the numbers and the name of
  /// a reader for contact cards, 072F:90CC, so that it cannot be recognised.
  private static let acr122 = ReaderModel(
    "ACS ACR122U", devices(0x2200, 0x0102, 0x0103), ["ACR122", "ACR122U", "AET62"]
  ) {
    $0.usesPN532()
    $0.feedback = .lightAndBuzzer
    $0.note = "Drivers of pcscd list it as unsupported; libnfc drives it as well"
  }

  /// A PN532 as well (libnfc drives it as an ACR122; ACR1222L manual).
  private static let acr1222 = ReaderModel(
    "ACS ACR1222", devices(0x2214, 0x1280, 0x2207, 0x222B, 0x2206), ["ACR1222", "ACR1222L"]
  ) {
    $0.usesPN532()
  }

  private mutating func usesPN532() {
    rawFrames = .pn532
    feliCa = [.pn532]
    type1 = .pn532
    classic = .pn532
  }

  /// ACR1251U reference manual: FeliCa frames, no transparent session.
  private static let acr1251 = ReaderModel(
    "ACS ACR1251U",
    devices(0x221A, 0x2229, 0x222D, 0x2218, 0x221B, 0x2232, 0x2242, 0x2238, 0x225F, 0x224F), ["ACR1251"]
  ) {
    $0.feliCa = [.frame]
    $0.feedback = .buzzer
  }

  /// ACM1252U-Y3 reference manual: transparent session (5.2.3), FeliCa frames (5.2.6), LED and buzzer (5.6.1).
  private static let acr1252 = ReaderModel(
    "ACS ACR1252U", devices(0x223B, 0x223E, 0x2244, 0x2259, 0x225B, 0x226B), ["ACR1252", "ACR1252U", "WalletMate"]
  ) {
    $0.rawFrames = .transparent
    $0.feliCa = [.frame]
    $0.feedback = .lightOrBuzzer
  }

  /// ACR1255U-J1 reference manual. It also has Bluetooth, which pcscd does not use.
  private static let acr1255 = ReaderModel(
    "ACS ACR1255U-J1", devices(0x223F, 0x2239), ["ACR1255U-J1", "ACR1255", "ACR1256U"]
  ) {
    $0.rawFrames = .transparent
    $0.feliCa = [.frame]
    $0.feedback = .buzzer
  }

  /// ACR1281U-C1 reference manual: cards of ISO/IEC 14443 alone. A third slot is always present and mute.
  private static let acr1281 = ReaderModel(
    "ACS ACR1281U",
    devices(
      0x2224, 0x220F, 0x2217, 0x2223, 0x2208, 0x0901, 0x220A, 0x2215, 0x2220, 0x2233, 0x2234, 0x2235, 0x2236),
    ["ACR1281"]
  ) {
    $0.feedback = .buzzer
  }

  /// ACR1552U reference manual: requests of ISO/IEC 15693 (5.3.4.2). Published programs use the transparent session for
  /// tags of Type 2 and Type 5.
  private static let acr1552 = ReaderModel(
    "ACS ACR1552U", devices(0x2303, 0x2308, 0x2307, 0x2401, 0x230A, 0x2301, 0x230B),
    ["ACR1552", "ACR1555", "ACR1581", "WalletMate II", "AIR60"]
  ) {
    $0.rawFrames = .transparent
    $0.feliCa = [.frame, .transparent]
    $0.type5 = .acr1552
    $0.feedback = .buzzerWithPause
    $0.note = "Needs a driver that knows it: libccid 1.5.3 or later, or a recent driver of ACS"
  }

  /// Contactless models that are known only from the list of ACS's driver.
  private static let otherACS = ReaderModel(
    "ACS contactless reader", devices(0x222E, 0x2237, 0x2211, 0x2252, 0x2100, 0x2213, 0x222C, 0x2258, 0x224A),
    ["ACR123", "ACR1261", "ACR128U", "ACR1283", "ACR1311", "AMR220"], triesAll)
}
