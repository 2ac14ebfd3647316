/// Models by other makers. The names are those of libccid's list.
extension ReaderModel {
  static let others: [ReaderModel] = hid + identiv + [sony, springCard] + plain

  private static func devices(_ vendor: UInt16, _ products: UInt16...) -> [Identifier] {
    products.map { Identifier(vendor, $0) }
  }

  // MARK: HID

  /// HID's sample code for the OMNIKEY 5022, 5023, 5422 and 5427 has no raw frames for FeliCa or Type 2. It reads and
  /// writes tags of ISO/IEC 15693 by block.
  private static let hid: [ReaderModel] = [
    omnikey("HID OMNIKEY 5022 CL", [0x5022], "OMNIKEY 5022"),
    omnikey("HID OMNIKEY 5023", [0x5023], "OMNIKEY 5023"),
    omnikey("HID OMNIKEY 5427 CK", [0x5427, 0x5127], "OMNIKEY 5427", "OMNIKEY 5127"),
    omnikey("HID OMNIKEY 5321", [0x5321, 0x5121], "CardMan 5321", "CardMan 5121"),
    omnikey("HID OMNIKEY 5421", [0x5421], "OMNIKEY 5421"),
    omnikey("HID OMNIKEY 6321", [0x6321], "OMNIKEY 6321"),
    omnikey("HID OMNIKEY 5122", [0x5412, 0x5432], slots: .named, "OMNIKEY 5122"),
    // "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL Smartcard Reader]", and without CL for the other slot.
    omnikey("HID OMNIKEY 5422", [0x5422], slots: .named, "OMNIKEY 5422"),
  ]

  private static func omnikey(
    _ title: String, _ products: [UInt16], slots: Slots = .single, _ names: String...
  ) -> ReaderModel {
    ReaderModel(title, products.map { Identifier(0x076B, $0) }, names) {
      $0.type5 = .blocks(lock: .partThree)
      $0.slots = slots
    }
  }

  // MARK: Identiv

  /// uTrust 3700 F and 4700 F reference manuals; liblogicalaccess for the older SDI011 and SCL010.
  private static let identiv: [ReaderModel] = [
    ReaderModel("Identiv uTrust 3700 F", devices(0x04E6, 0x5790, 0x5791), ["uTrust 3700 F", "uTrust 3701 F"]) {
      $0.usesIdentivCommands()
    },
    ReaderModel("Identiv uTrust 3720 F", devices(0x04E6, 0x5612, 0x5613), ["uTrust 3720", "uTrust 3721"]) {
      $0.usesIdentivCommands()
      $0.type5 = .identiv
    },
    ReaderModel(
      "Identiv uTrust 4700 F", devices(0x04E6, 0x5720, 0x5721, 0x5724, 0x5725),
      ["uTrust 4700", "uTrust 4701", "uTrust 4711", "CLOUD 4500", "CLOUD 4510", "CLOUD 4700", "CLOUD 4710"]
    ) {
      $0.usesIdentivCommands()
      $0.slots = .named
    },
    ReaderModel(
      "Identiv SCL010", devices(0x04E6, 0x5291, 0x5293, 0x512B, 0x512C), ["SCL010", "SCL01x", "SCL011", "SDI011"]
    ) {
      $0.feliCa = [.identiv]
      $0.classic = .keysBySlot
    },
  ]

  private mutating func usesIdentivCommands() {
    feliCa = [.identiv]
    type1 = .identiv
    classic = .keysBySlot
  }

  // MARK: One model each

  /// Published programs use the transparent session for FeliCa. They are for Windows and WebUSB.
  private static let sony = ReaderModel(
    "Sony RC-S300", devices(0x054C, 0x0DC8, 0x0DC9, 0x0D8F), ["FeliCa RC-S300", "RC-S300", "RC-S660"]
  ) {
    $0.feliCa = [.transparent]
  }

  /// SpringCard's SDK for PC/SC: NfcTagType2, NfcTagType5; SpringCore and CSB6 developers' manuals.
  private static let springCard = ReaderModel(
    "SpringCard",
    devices(
      0x1C34, 0x6012, 0x601A, 0x6112, 0x611A, 0x6122, 0x612A, 0x6132, 0x613A, 0x7113, 0x7121, 0x7123, 0x7124, 0x7136,
      0x7138, 0x7141, 0x8141, 0x91B1, 0xA1A1),
    ["SpringCard"]
  ) {
    $0.rawFrames = .springCard
    $0.feliCa = [.springCard]
    $0.classic = .keysInTwoRows
    $0.type5 = .blocks(lock: .springCard)
  }

  // MARK: The commands of every reader

  private static let plain: [ReaderModel] = [
    ReaderModel("Elatec TWN4", devices(0x09D8, 0x0427, 0x0428), ["Elatec TWN4"], triesAll),
    // R502_SDK, issues 1 and 3: no raw frames, and no pages from 10h on. The slots are [R502 Contactless Reader], Contact
    // and SAM.
    ReaderModel("Feitian R502", devices(0x096E, 0x060D, 0x0608), ["Feitian R502", "Feitian 502-CL"]) {
      $0.lastType2Page = 0x0F
      $0.note = "Reads only the first 64 bytes of a Type 2 tag"
    },
    ReaderModel("Feitian VR504", devices(0x096E, 0x0622), ["Feitian VR504"], triesAll),
    ReaderModel(
      "Duali DE-620", devices(0x1DB2, 0x0801, 0x080C, 0x088B), ["DUALi DE-", "DUALi DRAGON NFC"],
      triesAll),
    ReaderModel("Gemalto Prox-DU", devices(0x08E6, 0x5503), ["Gemalto Prox Dual", "Prox-DU"], triesAll),
    ReaderModel("Gemalto Prox-SU", devices(0x08E6, 0x5504), ["Gemalto Prox SU", "Prox-SU"], triesAll),
    ReaderModel("Cherry KC 1000 SC/DI", devices(0x046A, 0x00A2, 0x00A5), ["KC 1000 SC/DI"], triesAll),
    ReaderModel("id3 CL1356", devices(0x0B81, 0x0200, 0x0220), ["CL1356T", "CL1356A"], triesAll),
  ]

}

/// Models by Advanced Card Systems (vendor 072F). libccid and ACS's own driver have different names for some of them.
extension ReaderModel {
  static let acs: [ReaderModel] = [acr122, acr1222, acr1251, acr1252, acr1255, acr1281, acr1552, otherACS].map { row in
    var model = row
    model.hasOneFailureWord = true
    return model
  }

  private static func products(_ products: UInt16...) -> [Identifier] { products.map { Identifier(0x072F, $0) } }

  /// The PN532 in it is open to programs (ACR122U API 2.04). A Touchatag is the same, but has the numbers and the name of
  /// a reader for contact cards, 072F:90CC, so that it cannot be recognised.
  private static let acr122 = ReaderModel(
    "ACS ACR122U", products(0x2200, 0x0102, 0x0103), ["ACR122", "ACR122U", "AET62"]
  ) {
    $0.usesPN532()
    $0.feedback = .lightAndBuzzer
    $0.note = "Drivers of pcscd list it as unsupported; libnfc drives it as well"
  }

  /// A PN532 as well (libnfc drives it as an ACR122; ACR1222L manual).
  private static let acr1222 = ReaderModel(
    "ACS ACR1222", products(0x2214, 0x1280, 0x2207, 0x222B, 0x2206), ["ACR1222", "ACR1222L"]
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
    products(0x221A, 0x2229, 0x222D, 0x2218, 0x221B, 0x2232, 0x2242, 0x2238, 0x225F, 0x224F), ["ACR1251"]
  ) {
    $0.feliCa = [.frame]
    $0.feedback = .buzzer
  }

  /// ACM1252U-Y3 reference manual: transparent session (5.2.3), FeliCa frames (5.2.6), LED and buzzer (5.6.1).
  private static let acr1252 = ReaderModel(
    "ACS ACR1252U", products(0x223B, 0x223E, 0x2244, 0x2259, 0x225B, 0x226B), ["ACR1252", "ACR1252U", "WalletMate"]
  ) {
    $0.rawFrames = .transparent
    $0.feliCa = [.frame]
    $0.feedback = .lightOrBuzzer
  }

  /// ACR1255U-J1 reference manual. It also has Bluetooth, which pcscd does not use.
  private static let acr1255 = ReaderModel(
    "ACS ACR1255U-J1", products(0x223F, 0x2239), ["ACR1255U-J1", "ACR1255", "ACR1256U"]
  ) {
    $0.rawFrames = .transparent
    $0.feliCa = [.frame]
    $0.feedback = .buzzer
  }

  /// ACR1281U-C1 reference manual: cards of ISO/IEC 14443 alone. A third slot is always present and mute.
  private static let acr1281 = ReaderModel(
    "ACS ACR1281U",
    products(
      0x2224, 0x220F, 0x2217, 0x2223, 0x2208, 0x0901, 0x220A, 0x2215, 0x2220, 0x2233, 0x2234, 0x2235, 0x2236),
    ["ACR1281"]
  ) {
    $0.feedback = .buzzer
  }

  /// ACR1552U reference manual: requests of ISO/IEC 15693 (5.3.4.2). Published programs use the transparent session for
  /// tags of Type 2 and Type 5.
  private static let acr1552 = ReaderModel(
    "ACS ACR1552U", products(0x2303, 0x2308, 0x2307, 0x2401, 0x230A, 0x2301, 0x230B),
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
    "ACS contactless reader", products(0x222E, 0x2237, 0x2211, 0x2252, 0x2100, 0x2213, 0x222C, 0x2258, 0x224A),
    ["ACR123", "ACR1261", "ACR128U", "ACR1283", "ACR1311", "AMR220"], triesAll)
}
