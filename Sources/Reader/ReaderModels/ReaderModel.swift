package import Names

/// A model of PC/SC reader: how it is recognised, and which commands it knows beyond those that every reader has.
///
/// The rows are in `ReaderModel.all`. They come from the makers' manuals, from the drivers' lists of readers, from
/// published programs and from published recordings; docs/readers.md says which. We tried none of them on hardware.
package struct ReaderModel: Sendable, Hashable {
  /// Of a USB device.
  package struct Identifier: Sendable, Hashable {
    package let vendor: UInt16
    package let product: UInt16

    package init(_ vendor: UInt16, _ product: UInt16) {
      self.vendor = vendor
      self.product = product
    }
  }

  /// How commands that the reader does not know itself reach a tag of Type 2.
  package enum RawFrames: Sendable, Hashable {
    case none
    /// `FF 00 00 00 Lc D4 …`: commands of the PN532 in the reader.
    case pn532
    /// `FF C2`: the transparent session of PC/SC part 3.
    case transparent
    /// `FF FE 01 08`, which checks and removes the CRC. So it passes on no acknowledgement of four bits.
    case springCard
  }

  /// How the commands of JIS X 6319-4 reach a FeliCa card.
  package enum FeliCaAccess: Sendable, Hashable {
    /// InDataExchange of the PN532 in the reader.
    case pn532
    /// `FF 00 00 00 Lc` and a frame with its length byte.
    case frame
    /// `FF 46` and `FF 48`: Check and Update.
    case identiv
    /// `FF FB FC 01` selects a service; FF B0 and FF D6 read and write its blocks.
    case springCard
    /// `FF C2`, switched to FeliCa.
    case transparent

    /// The card can be polled for a system.
    var canPoll: Bool {
      switch self {
      case .pn532, .frame, .transparent: true
      case .identiv, .springCard: false
      }
    }
  }

  /// How the commands of a Type 1 tag reach it.
  package enum Type1Access: Sendable, Hashable {
    case none
    case pn532
    /// `FF 50` to `FF 60`, one instruction for each command.
    case identiv
  }

  /// How a sector of a MIFARE Classic is opened.
  package enum ClassicAccess: Sendable, Hashable {
    case pn532
    /// FF 82 and FF 86, with two places for keys: 00 and 01.
    case keys
    /// As `keys`, but the number of the place is the slot of the key: 60 for A, 61 for B.
    case keysBySlot
    /// As `keys`, but the places for key B begin at 10.
    case keysInTwoRows
  }

  /// How the requests of ISO/IEC 15693 reach a Type 5 tag.
  package enum Type5Access: Sendable, Hashable {
    case none
    /// FF B0 and FF D6 for single blocks; `lock` tells how a block is locked.
    case blocks(lock: Lock)
    /// `FF FB 00 00`, else a transparent session.
    case acr1552
    /// `FF FC` for the commands that the reader knows, `FF FD` for others.
    case identiv

    package enum Lock: Sendable, Hashable {
      /// `FF 30 00 02` (PC/SC part 3, 3.2.2.1.10).
      case partThree
      /// `FF F6 22`.
      case springCard
    }
  }

  /// How pcscd names the slots of the device.
  package enum Slots: Sendable, Hashable {
    /// There is one slot, or the name of every other slot tells its purpose.
    case single
    /// There are several, and the name of the slot with the antenna says so.
    case named
    /// There are several of one name. Only the number that pcscd appends tells which one has the antenna.
    case numbered(antenna: UInt8)
  }

  /// For people: "ACS ACR1252U".
  package let title: String
  /// USB devices; empty if one shares its numbers with a reader without an antenna.
  package let identifiers: [Identifier]
  /// Parts of pcscd's names of the model.
  package let names: [String]

  package internal(set) var rawFrames = RawFrames.none
  /// The most likely one first; empty if there are none.
  package internal(set) var feliCa: [FeliCaAccess] = []
  package internal(set) var type1 = Type1Access.none
  package internal(set) var classic = ClassicAccess.keys
  package internal(set) var type5 = Type5Access.none
  /// Of a Type 2 tag, with FF B0.
  package internal(set) var lastType2Page = 0xFF
  /// 63 00 for every failed exchange, also with a Type 4 card.
  package internal(set) var hasOneFailureWord = false
  package internal(set) var feedback = Feedback.Means.none
  /// Programs can switch the reader's own polling off and on.
  package internal(set) var hasSwitchForPolling = false
  package internal(set) var slots = Slots.single
  /// For users, as a sentence without a full stop; empty if there is none.
  package internal(set) var note = ""

  /// A row of the table. `change` adds what the model knows beyond the commands of every reader.
  init(
    _ title: String, _ identifiers: [Identifier] = [], _ names: [String] = [], _ change: (inout Self) -> Void = { _ in }
  ) {
    self.title = title
    self.identifiers = identifiers
    self.names = names
    change(&self)
  }

  /// A FeliCa card can be polled for a system.
  package var canPoll: Bool { feliCa.contains(where: \.canPoll) }

  /// In the order of all lists. A Type 5 or FeliCa tag on a reader that is not known is only a try.
  package var types: [TagType] {
    TagType.readable.filter { type in
      switch type {
      case .type1: type1 != .none
      case .type3: !feliCa.isEmpty
      case .type5: type5 != .none
      default: true
      }
    }
  }
}

extension ReaderModel {
  /// An unknown model: the commands of PC/SC part 3, and a transparent session for FeliCa cards.
  package static let generic = ReaderModel("PC/SC reader", [], [], triesAll)

  /// Adds the access that is tried with an unknown reader.
  static func triesAll(_ model: inout ReaderModel) {
    model.feliCa = [.transparent]
    model.type5 = .blocks(lock: .partThree)
  }

  package static let all: [ReaderModel] = acs + others

  /// Nil if the model is not known, or if the numbers do not show that it is a contactless reader.
  package static func find(vendor: UInt16, product: UInt16) -> ReaderModel? {
    let identifier = Identifier(vendor, product)
    return all.first { $0.identifiers.contains(identifier) }
  }

  /// As pcscd has it; nil if the model is not known.
  package static func find(readerName: String) -> ReaderModel? {
    let name = SlotName(readerName)
    var best: (model: ReaderModel, length: Int)?
    for model in all {
      for part in model.names where part.utf8.count > best?.length ?? 0 && name.contains(part) {
        best = (model, part.utf8.count)
      }
    }
    return best?.model
  }
}

/// Models that are newer than the libccid of some supported distributions.
extension ReaderModel {
  /// Nil if every supported version has a driver for the device, or none.
  package static func firstCCID(vendor: UInt16, product: UInt16) -> String? {
    // The ACR1552U (ChangeLog of CCID 1.5.3). Its other devices are in the list of ACS's driver alone.
    [Identifier(0x072F, 0x2303), Identifier(0x072F, 0x2308)].contains(Identifier(vendor, product)) ? "1.5.3" : nil
  }
}

/// Devices that Tagroute uses only if the configuration names them.
extension ReaderModel {
  /// The product numbers of Broadcom's 5880 and 58200 in Dell laptops. The antenna of most is off until a program turns
  /// it on (jacekkow/controlvault2-nfc-enable), and some stop reading after a few cards (LudovicRousseau/CCID#187). So
  /// such a device would look like a working reader, and does not justify starting pcscd.
  private static let broadcom: [UInt16] = [
    0x5800, 0x5801, 0x5802, 0x5803, 0x5804, 0x5805, 0x5832, 0x5833, 0x5834, 0x5842, 0x5843, 0x5844, 0x5845, 0x5864,
    0x5865, 0x5866, 0x5867,
  ]

  /// Broadcom's readers, and HID's readers for 125 kHz: OMNIKEY 5025 CL and CardMan 5125.
  static let optIn: [Identifier] =
    broadcom.map { Identifier(0x0A5C, $0) } + [Identifier(0x076B, 0x502A), Identifier(0x076B, 0x5125)]

  /// Parts of pcscd's names of these.
  static let optInNames = ["Broadcom Corp", "OMNIKEY 5025", "CardMan 5125"]
}

/// Which readers and slots have an antenna. Tagroute leaves all others alone.
extension ReaderModel {
  /// In the name of a slot with an antenna.
  private static let antenna: Set<String> = ["picc", "cl", "nfc", "rfid", "contactless", "cless"]
  /// In the name of a slot of a security module, or of a card with contacts in a device with several slots.
  private static let module: Set<String> = ["sam", "icc", "sim"]
  private static let contacts: Set<String> = ["contact", "contacted"]
  /// In names of security keys, besides words that end with "key". Some name NFC: another reader can read them.
  private static let tokens: Set<String> = ["token", "fido", "fido2", "u2f", "epass", "epass2003"]
  /// Yubico makes no readers.
  private static let yubico: UInt16 = 0x1050

  /// As far as its name tells: `ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00`. False for the slots of
  /// security modules and contact cards.
  package static func isContactlessName(_ name: String) -> Bool {
    let slot = SlotName(name)
    guard !optInNames.contains(where: slot.contains), !isToken(slot) else { return false }
    if let isContactless = hasAntenna(slot.interface) ?? hasAntenna(slot.friendly) { return isContactless }
    switch find(readerName: name)?.slots {
    case .single: return true
    case .numbered(let antenna): return slot.number == antenna
    case .named, nil: return false
    }
  }

  /// `names` are its known names: the one in pcscd's driver, and the one that the device itself tells.
  ///
  /// It is for the decision to start pcscd. That takes the device from other programs, such as GnuPG, so a security key
  /// or a reader for contact cards alone must not cause it.
  package static func isContactlessDevice(vendor: UInt16, product: UInt16, names: [String] = []) -> Bool {
    guard vendor != yubico, !optIn.contains(Identifier(vendor, product)) else { return false }
    if find(vendor: vendor, product: product) != nil { return true }
    return names.contains { name in
      let slot = SlotName(name)
      guard !optInNames.contains(where: slot.contains), !isToken(slot) else { return false }
      return hasAntenna(slot.interface + slot.friendly) == true || find(readerName: name) != nil
    }
  }

  /// Nil if the words do not tell. A word for a module is used only if it comes last: `ACR1252 1S CL Reader SAM`.
  private static func hasAntenna(_ words: [String]) -> Bool? {
    let positive = words.lastIndex { antenna.contains($0) || isNumberWithCL($0) }
    let negative = words.lastIndex { word in
      module.contains(word) || word.hasPrefix("sam") && word.dropFirst(3).allSatisfy(\.isNumber)
    }
    if let negative, negative > positive ?? -1 { return false }
    if positive != nil { return true }
    return words.contains(where: contacts.contains) ? false : nil
  }

  /// `5422CL`: HID's word for the slot with the antenna.
  private static func isNumberWithCL(_ word: String) -> Bool {
    word.hasSuffix("cl") && !word.dropLast(2).isEmpty && word.dropLast(2).allSatisfy(\.isNumber)
  }

  private static func isToken(_ slot: SlotName) -> Bool {
    let words = slot.interface + slot.friendly
    guard !words.contains("reader") else { return false }
    return words.contains { tokens.contains($0) || $0.hasSuffix("key") && $0 != "omnikey" }
  }
}

/// The name of a reader, as pcscd composes it: `FRIENDLY [interface] (serial) 00 01`. The parts in brackets may be
/// missing.
///
/// Names may have any content. A device can choose its own, so a name is a hint and no proof.
struct SlotName {
  private let text: [UInt8]
  /// Of the interface's name, in lower case.
  let interface: [String]
  /// In front of the brackets, in lower case.
  let friendly: [String]
  /// Of the slot in its device, the last two digits; nil if the name ends in another way.
  let number: UInt8?

  init(_ name: String) {
    text = Array(name.lowercased().utf8)
    let opening = text.firstIndex(of: UInt8(ascii: "[")) ?? text.endIndex
    let closing = text[opening...].lastIndex(of: UInt8(ascii: "]")) ?? opening
    let end = min(opening, text.firstIndex(of: UInt8(ascii: "(")) ?? text.endIndex)
    interface = Self.words(text[opening..<closing])
    friendly = Self.words(text[..<end])
    number = Names.PCSC.withoutNumbers(name) == name ? nil : UInt8(name.suffix(2), radix: 16)
  }

  /// The part begins at the start of a word, and no digit follows it.
  func contains(_ part: String) -> Bool {
    let part = Array(part.lowercased().utf8)
    guard let first = part.first, part.count <= text.count else { return false }
    return text.indices.contains { start in
      let end = start + part.count
      guard text[start] == first, end <= text.count, text[start..<end].elementsEqual(part) else { return false }
      let isStart = start == 0 || !Self.isInWord(text[start - 1])
      return isStart && (end == text.count || !Self.isDigit(text[end]) || !Self.isDigit(text[end - 1]))
    }
  }

  private static func words(_ text: ArraySlice<UInt8>) -> [String] {
    text.split { !isInWord($0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isInWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte >= 0x80
  }
}

/// The result of a tap, for the reader's LED and buzzer.
package enum Feedback: Sendable, Hashable, CaseIterable {
  /// One short beep, and a green light if the reader has one.
  case success
  /// Two beeps, or a long one if the reader cannot repeat it, and a red light if the reader has one.
  case failure

  /// A command to the reader. Its effect is over after half a second.
  package enum Command: Sendable, Hashable {
    /// An APDU for the connected card's slot. A reader that knows it answers 90 and a second byte, which is the state
    /// of its lights.
    case apdu([UInt8])
    /// For SCardControl: SCARD_CTL_CODE(1) with libccid, SCARD_CTL_CODE(3500) with ACS's own driver. libccid refuses it
    /// unless the administrator has allowed such commands.
    case escape([UInt8])
  }

  package enum Means: Sendable, Hashable {
    case none
    /// `FF 00 40` (ACR122U API 2.04, 6.2).
    case lightAndBuzzer
    /// `FF 00 40` (ACM1252U-Y3 manual, 5.6.1), else a beep by an escape command.
    case lightOrBuzzer
    /// `E0 00 00 28`, with the time of the beep. The LED stays with the reader, which shows the presence of a card.
    case buzzer
    /// `E0 00 00 28`, with the times of beep and pause, and the number of beeps (ACR1552U manual, 6.2.5).
    case buzzerWithPause
  }
}

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
      0x1C34, 0x6012, 0x601A, 0x6112, 0x611A, 0x6122, 0x612A, 0x6132, 0x613A, 0x6212, 0x621A, 0x7113, 0x7121, 0x7123,
      0x7124, 0x7136, 0x7138, 0x7141, 0x8141, 0x91B1, 0xA1A1),
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
  static let acs: [ReaderModel] = [acr122, aet62, acr1222, acr1251, acr1252, acr1255, acr1281, acr1552, otherACS].map {
    row in
    var model = row
    model.hasOneFailureWord = true
    return model
  }

  private static func products(_ products: UInt16...) -> [Identifier] { products.map { Identifier(0x072F, $0) } }

  /// The PN532 in it is open to programs (ACR122U API 2.04). A Touchatag is the same, but has the numbers and the name
  /// of a reader for contact cards, 072F:90CC, so that it cannot be recognised.
  private static let acr122 = ReaderModel(
    "ACS ACR122U", products(0x2200), ["ACR122", "ACR122U"]
  ) {
    $0.hasInterfaceOfACR122U()
    $0.note = "Drivers of pcscd list it as unsupported; libnfc drives it as well"
  }

  /// With a fingerprint sensor. AET62 reference manual 1.00, 7: the commands of the ACR122U. libnfc does not list it.
  private static let aet62 = ReaderModel("ACS AET62", products(0x0102, 0x0103), ["AET62"]) {
    $0.hasInterfaceOfACR122U()
    $0.note = "Needs ACS's own driver for pcscd"
  }

  private mutating func hasInterfaceOfACR122U() {
    usesPN532()
    hasSwitchForPolling = true
    feedback = .lightAndBuzzer
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

  /// ACR1281U-C1 reference manual: cards of ISO/IEC 14443 alone. Of the three slots, the first is for contact cards, and
  /// the third, for a security module, is always present and mute.
  private static let acr1281 = ReaderModel(
    "ACS ACR1281U",
    products(
      0x2224, 0x220F, 0x2217, 0x2223, 0x2208, 0x0901, 0x220A, 0x2215, 0x2220, 0x2233, 0x2234, 0x2235, 0x2236),
    ["ACR1281"]
  ) {
    $0.slots = .numbered(antenna: 1)
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
