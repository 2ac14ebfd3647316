package import Names

/// What is known of a model of PC/SC reader: how it is recognised, and which commands it knows beyond those that every
/// reader has.
///
/// The rows are in `ReaderModel.all`. They come from the makers' manuals, from the drivers' lists of readers and from
/// published programs. No row was ever tried on hardware.
package struct ReaderModel: Sendable, Hashable {
  /// The numbers of a USB device.
  package struct Identifier: Sendable, Hashable {
    package let vendor: UInt16
    package let product: UInt16

    /// The device with these numbers.
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

    /// Whether the card can be polled for a system.
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
    /// There is one slot, or the name of every other slot says what it is for.
    case single
    /// There are several, and the name of the slot with the antenna says so.
    case named
  }

  /// For people: "ACS ACR1252U".
  package let title: String
  /// The USB devices of this model; empty if one shares its numbers with a reader without an antenna.
  package let identifiers: [Identifier]
  /// Parts of the names that pcscd has for the model.
  package let names: [String]

  package internal(set) var rawFrames = RawFrames.none
  /// The ways to a FeliCa card, the most likely one first; empty if there are none.
  package internal(set) var feliCa: [FeliCaAccess] = []
  package internal(set) var type1 = Type1Access.none
  package internal(set) var classic = ClassicAccess.keys
  package internal(set) var type5 = Type5Access.none
  /// The last page of a Type 2 tag that FF B0 reads.
  package internal(set) var lastType2Page = 0xFF
  /// Whether the reader answers every failed exchange with 63 00, also with a Type 4 card.
  package internal(set) var hasOneFailureWord = false
  package internal(set) var feedback = Feedback.Means.none
  package internal(set) var slots = Slots.single
  /// What users should know, as a sentence without a full stop; empty if there is nothing.
  package internal(set) var note = ""

  /// A row of the table: a model with these names and numbers that knows the commands of every reader. `change` adds
  /// what else it knows.
  init(
    _ title: String, _ identifiers: [Identifier] = [], _ names: [String] = [], _ change: (inout Self) -> Void = { _ in }
  ) {
    self.title = title
    self.identifiers = identifiers
    self.names = names
    change(&self)
  }

  /// Whether a FeliCa card can be polled for a system.
  package var canPoll: Bool { feliCa.contains(where: \.canPoll) }

  /// The types of tags that can be read on the reader, in the order of all lists. A Type 5 or FeliCa tag on a reader that
  /// is not known is only a try.
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
  /// A model that is not known: the commands of PC/SC part 3, and a transparent session for FeliCa cards.
  package static let generic = ReaderModel("PC/SC reader", [], [], triesAll)

  /// Adds the access that is tried with an unknown reader.
  static func triesAll(_ model: inout ReaderModel) {
    model.feliCa = [.transparent]
    model.type5 = .blocks(lock: .partThree)
  }

  /// All known models.
  package static let all: [ReaderModel] = acs + others

  /// The model of a USB device; nil if it is not known, or if the numbers do not show that it is a contactless reader.
  package static func find(vendor: UInt16, product: UInt16) -> ReaderModel? {
    let identifier = Identifier(vendor, product)
    return all.first { $0.identifiers.contains(identifier) }
  }

  /// The model of a reader with this name, as pcscd has it; nil if it is not known.
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
  /// The first version of libccid with a driver for a device; nil if every supported one has it, or none.
  package static func firstCCID(vendor: UInt16, product: UInt16) -> String? {
    // The ACR1552U (ChangeLog of CCID 1.5.3). Its other devices are in the list of ACS's driver alone.
    [Identifier(0x072F, 0x2303), Identifier(0x072F, 0x2308)].contains(Identifier(vendor, product)) ? "1.5.3" : nil
  }
}

/// Devices that have, or may have, an antenna, but do not read NFC tags on Linux.
extension ReaderModel {
  /// The product numbers of Broadcom's 5880 and 58200 in laptops. Their contactless slot works on Windows alone
  /// (pcsc-tools, issue 49).
  private static let broadcom: [UInt16] = [
    0x5800, 0x5801, 0x5802, 0x5803, 0x5804, 0x5805, 0x5832, 0x5833, 0x5834, 0x5842, 0x5843, 0x5844, 0x5845,
  ]

  /// Broadcom's readers, and HID's readers for 125 kHz: OMNIKEY 5025 CL and CardMan 5125.
  static let unusable: [Identifier] =
    broadcom.map { Identifier(0x0A5C, $0) } + [Identifier(0x076B, 0x502A), Identifier(0x076B, 0x5125)]

  /// Parts of the names that pcscd has for them.
  static let unusableNames = ["Broadcom Corp", "OMNIKEY 5025", "CardMan 5125"]
}

/// Which readers and slots have an antenna. Tagroute leaves all others alone.
extension ReaderModel {
  /// Words for a slot with an antenna.
  private static let antenna: Set<String> = ["picc", "cl", "nfc", "rfid", "contactless", "cless"]
  /// Words for a slot of a security module, or of a card with contacts in a device with several slots.
  private static let module: Set<String> = ["sam", "icc", "sim"]
  private static let contacts: Set<String> = ["contact", "contacted"]
  /// Words of security keys, besides those that end with "key". Some name NFC: another reader can read them.
  private static let tokens: Set<String> = ["token", "fido", "fido2", "u2f", "epass", "epass2003"]
  /// Yubico makes no readers.
  private static let yubico: UInt16 = 0x1050

  /// Whether a reader in pcscd's list has an antenna, as far as its name tells: `ACS ACR1252 Dual Reader [ACR1252 Dual
  /// Reader PICC] 00 00`. False for the slots of security modules and contact cards.
  package static func isContactlessName(_ name: String) -> Bool {
    let slot = SlotName(name)
    guard !unusableNames.contains(where: slot.contains), !isToken(slot) else { return false }
    if let isContactless = hasAntenna(slot.interface) ?? hasAntenna(slot.friendly) { return isContactless }
    return find(readerName: name)?.slots == .single
  }

  /// Whether a USB device is a contactless reader. `names` are the names of it that are known: the one that pcscd's
  /// driver has for it, and the one that the device itself tells.
  ///
  /// It is for the decision to start pcscd. That takes the device from other programs, such as GnuPG, so a security key
  /// or a reader for contact cards alone must not cause it.
  package static func isContactlessDevice(vendor: UInt16, product: UInt16, names: [String] = []) -> Bool {
    guard vendor != yubico, !unusable.contains(Identifier(vendor, product)) else { return false }
    if find(vendor: vendor, product: product) != nil { return true }
    return names.contains { name in
      let slot = SlotName(name)
      guard !unusableNames.contains(where: slot.contains), !isToken(slot) else { return false }
      return hasAntenna(slot.interface + slot.friendly) == true || find(readerName: name) != nil
    }
  }

  /// Nil if the words do not tell. A word for a module counts if it comes last: `ACR1252 1S CL Reader SAM`.
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

/// The name of a reader, as pcscd composes it: `FRIENDLY [interface] (serial) 00 01`. The parts in brackets may be missing.
///
/// Names may have any content. A device can choose its own, so a name is a hint and no proof.
struct SlotName {
  private let text: [UInt8]
  /// The words of the interface's name, in lower case.
  let interface: [String]
  /// The words in front of the brackets, in lower case.
  let friendly: [String]

  init(_ name: String) {
    text = Array(name.lowercased().utf8)
    let opening = text.firstIndex(of: UInt8(ascii: "[")) ?? text.endIndex
    let closing = text[opening...].lastIndex(of: UInt8(ascii: "]")) ?? opening
    let end = min(opening, text.firstIndex(of: UInt8(ascii: "(")) ?? text.endIndex)
    interface = Self.words(text[opening..<closing])
    friendly = Self.words(text[..<end])
  }

  /// Whether a part is in the name. It begins where a word does, and no digit follows it.
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

/// How a tap ended, for the reader's LED and buzzer.
package enum Feedback: Sendable, Hashable, CaseIterable {
  /// One short beep, and a green light where the reader has one.
  case success
  /// Two beeps, or a long one if the reader cannot repeat it, and a red light where the reader has one.
  case failure

  /// A command to the reader. Its effect is over after half a second.
  package enum Command: Sendable, Hashable {
    /// An APDU for the connected card's slot. A reader that knows it answers 90 and a second byte, which is the state of
    /// its lights.
    case apdu([UInt8])
    /// For SCardControl: SCARD_CTL_CODE(1) with libccid, SCARD_CTL_CODE(3500) with ACS's own driver. libccid refuses it
    /// unless the administrator has allowed such commands.
    case escape([UInt8])
  }

  /// What a model has to show it with.
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
