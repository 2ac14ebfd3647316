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
