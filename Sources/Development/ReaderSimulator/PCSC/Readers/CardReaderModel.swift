/// A model of PC/SC reader: its names and numbers, and how it treats the pseudo-APDUs of class FF.
///
/// The rows follow the makers' reference manuals and reports of users. None was compared with hardware.
package struct CardReaderModel: Sendable, Hashable {
  /// One slot, which pcscd lists as a reader.
  package struct Slot: Sendable, Hashable {
    /// What a slot takes.
    package enum Kind: Sendable, Hashable {
      case contactless
      case contact
    }

    /// The name of the USB interface, which pcscd puts into the reader's name; nil if the device tells none.
    package let interfaceName: String?
    package let kind: Kind
    /// Whether the slot is for a security module, inside the reader.
    package var isForModules: Bool { interfaceName?.hasSuffix("SAM") ?? false }
  }

  /// A technology that the reader looks for.
  enum Technology: Hashable {
    case typeA
    case typeB
    case felica
    case jewel
    case vicinity
  }

  /// How a program reaches the commands of a tag itself.
  enum RawFrames: Hashable {
    case none
    /// `FF 00 00 00 Lc D4 …`: commands of the PN532 inside.
    case chip
    /// `FF C2`: the transparent session of PC/SC part 3.
    case transparent
  }

  /// How a program sends commands of FeliCa cards, apart from raw frames.
  enum FeliCaCommands: Hashable {
    case none
    /// `FF 00 00 00 Lc`, and a frame with its length byte.
    case frame
    /// `FF 40` to `FF 4A`, one instruction for each command.
    case instructions
  }

  /// The answer to a request for more bytes than the reader gives at once.
  enum LengthError: Hashable {
    /// `6C` and the length that is right.
    case rightLength
    /// `67 00`.
    case wrongLength
    /// `63 00`, as for every failure.
    case failure
  }

  /// The name on the control line.
  package private(set) var name: String
  /// The vendor number of the USB device.
  package let vendor: UInt16
  /// The product number of the USB device.
  package let product: UInt16
  /// The maker, as the device tells it.
  package let manufacturer: String
  /// The name in the list of the driver libccid. pcscd's name begins with it.
  package private(set) var friendlyName: String
  /// The slots, the contactless one first. Each is an interface of the USB device.
  package private(set) var slots: [Slot]

  /// Vendor and product as udev writes them, for example `072f:223b`.
  package var usbIdentity: String {
    "\(HexText.string(BigEndian.bytes(vendor))):\(HexText.string(BigEndian.bytes(product)))"
  }

  // The rest describes the contactless slot.
  var technologies: [Technology] = [.typeA, .typeB, .felica]
  var rawFrames = RawFrames.none
  var felicaCommands = FeliCaCommands.none
  /// The codes of FeliCa commands that the transparent session refuses with `6A 80`.
  var refusedFeliCaCodes: Set<UInt8> = []
  /// Whether `FF 50` and the next ones send commands of Type 1 tags.
  var hasType1Commands = false
  /// Whether there are keys and authentication for MIFARE Classic.
  var hasClassic = true
  /// Whether `FF CA 01` tells the answer to select, and the PMm of a FeliCa card.
  var tellsAnswerToSelect = true
  /// The most bytes that one `FF B0` reads from a Type 2 tag.
  var longestRead = 16
  var lengthError = LengthError.rightLength
  /// Whether each failure is answered with `63 00`.
  var hasOneFailure = false
  /// The last page of a Type 2 tag that `FF B0` reads.
  var lastPage = 0xFF
  /// Whether the reader selects a tag again after it has refused a command. Otherwise the tag stays halted until its
  /// power is cut.
  var selectsAgain = true
  /// Whether the reader names a FeliCa card as the ACR122U does: as a card of ISO/IEC 14443-3 Type A.
  var namesFeliCaAsTypeA = false
  /// Whether `FF CA` tells the UID of ISO/IEC 15693 with its lowest byte first.
  var reversesVicinityUID = false
  /// Whether the reader has LED, buzzer and polling at `FF 00 40` to `FF 00 52`.
  var hasChipPeripherals = false
  /// Whether the reader takes ACS's escape commands, which begin with `E0 00 00`.
  var hasEscapes = false
  /// dwMaxAPDUDataSize: 0 if the reader takes short APDUs only.
  var maximumAPDU: UInt32 = 0
  /// How often the reader looks for cards, if that is known.
  private(set) var pollingInterval: Duration?
  /// The version of the device, in BCD.
  var version: UInt16 = 0x0100

  /// The row of one model, with the names of the interfaces of its slots.
  init(
    _ name: String, _ vendor: UInt16, _ product: UInt16, by manufacturer: String, _ friendlyName: String,
    contactless: [String?] = [], contact: [String?] = [], _ change: (inout CardReaderModel) -> Void = { _ in }
  ) {
    self.name = name
    self.vendor = vendor
    self.product = product
    self.manufacturer = manufacturer
    self.friendlyName = friendlyName
    slots =
      contactless.map { Slot(interfaceName: $0, kind: .contactless) }
      + contact.map { Slot(interfaceName: $0, kind: .contact) }
    change(&self)
  }

  /// When the reader looks for cards next; nil if its interval is not known. `now` is the time since it began.
  func untilNextLook(at now: Duration) -> Duration? {
    pollingInterval.map { $0 * (1 - (now / $0).truncatingRemainder(dividingBy: 1)) }
  }
}

/// The name is enough for the results of tests. All properties would be longer than a line of them may be.
extension CardReaderModel: CustomStringConvertible {
  package var description: String { name }
}

/// The models. The names are those of libccid's list.
extension CardReaderModel {
  /// ACS ACR122U: a PN532 behind a smart card interface. A tag that has refused a command stays halted.
  package static let acr122U = CardReaderModel(
    "acr122u", 0x072F, 0x2200, by: "ACS", "ACS ACR122U PICC Interface", contactless: [nil]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .jewel]
    $0.rawFrames = .chip
    // The time between two WUPA in a published recording of its field.
    $0.pollingInterval = .milliseconds(278)
    $0.lengthError = .failure
    $0.hasOneFailure = true
    $0.selectsAgain = false
    $0.namesFeliCaAsTypeA = true
    $0.hasChipPeripherals = true
    $0.version = 0x0214
  }

  /// ACS ACR1252U: a contactless slot, and a slot for a security module.
  package static let acr1252U = CardReaderModel(
    "acr1252u", 0x072F, 0x223B, by: "ACS", "ACS ACR1252 Dual Reader",
    contactless: ["ACR1252 Dual Reader PICC"], contact: ["ACR1252 Dual Reader SAM"]
  ) {
    $0.rawFrames = .transparent
    $0.felicaCommands = .frame
    $0.hasOneFailure = true
    $0.hasEscapes = true
    $0.maximumAPDU = 65_536
  }

  /// ACS ACR1552U: also for tags of ISO/IEC 15693.
  package static let acr1552U = CardReaderModel(
    "acr1552u", 0x072F, 0x2303, by: "ACS", "ACS ACR1552 CL Reader", contactless: ["ACR1552 CL Reader PICC"],
    contact: ["ACR1552 CL Reader SAM"]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .vicinity]
    $0.rawFrames = .transparent
    $0.felicaCommands = .frame
    $0.hasOneFailure = true
    $0.hasEscapes = true
    $0.maximumAPDU = 65_536
  }

  /// HID OMNIKEY 5022 CL: the commands of PC/SC part 3 alone.
  package static let omnikey5022 = CardReaderModel(
    "omnikey5022", 0x076B, 0x5022, by: "HID Global", "HID Global OMNIKEY 5022 Smart Card Reader",
    contactless: ["OMNIKEY 5022 Smart Card Reader"]
  ) {
    $0.technologies = [.typeA, .typeB]
    $0.lengthError = .wrongLength
    $0.tellsAnswerToSelect = false
    $0.maximumAPDU = 65_536
  }

  /// HID OMNIKEY 5427 CK: also for tags of ISO/IEC 15693. It reports their UID with the lowest byte first.
  package static let omnikey5427 = CardReaderModel(
    "omnikey5427", 0x076B, 0x5427, by: "HID Global", "HID OMNIKEY 5427 CK", contactless: [nil]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .vicinity]
    $0.lengthError = .wrongLength
    $0.tellsAnswerToSelect = false
    $0.reversesVicinityUID = true
  }

  /// Identiv uTrust 3700 F: with the maker's instructions for FeliCa and Type 1.
  package static let uTrust3700 = CardReaderModel(
    "utrust3700", 0x04E6, 0x5790, by: "Identiv", "Identiv uTrust 3700 F CL Reader",
    contactless: ["uTrust 3700 F CL Reader"]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .jewel]
    $0.felicaCommands = .instructions
    $0.hasType1Commands = true
  }

  /// Feitian R502: refuses the pages from 10h on.
  package static let r502 = CardReaderModel("r502", 0x096E, 0x060D, by: "Feitian", "Feitian R502", contactless: [nil]) {
    $0.lengthError = .wrongLength
    $0.lastPage = 0x0F
  }

  /// Sony RC-S300/S.
  package static let rcS300 = CardReaderModel(
    "rcs300", 0x054C, 0x0DC8, by: "SONY", "SONY FeliCa RC-S300/S", contactless: [nil]
  ) {
    $0.rawFrames = .transparent
    // Request Service, Request Response, Search Service Code, Request System Code.
    $0.refusedFeliCaCodes = [0x02, 0x04, 0x0A, 0x0C]
    $0.hasClassic = false
    $0.maximumAPDU = 65_536
  }

  /// Gemalto PC Twin Reader: for cards with contacts.
  package static let pcTwin = CardReaderModel(
    "pctwin", 0x08E6, 0x3437, by: "Gemalto", "Gemalto PC Twin Reader", contact: [nil])

  /// A YubiKey with its smart card; the card has to be inserted like any other.
  package static let yubiKey = CardReaderModel(
    "yubikey", 0x1050, 0x0407, by: "Yubico", "Yubico YubiKey OTP+FIDO+CCID", contact: [nil])

  package static let all: [CardReaderModel] = [
    .acr122U, .acr1252U, .acr1552U, .omnikey5022, .omnikey5427, .uTrust3700, .r502, .rcS300, .pcTwin, .yubiKey,
  ]

  /// A recorded reader with this name in pcscd's list: the model whose name begins like that, or one without numbers, so
  /// that a program knows it only by its name.
  package static func recorded(as name: String) -> CardReaderModel {
    let known = all.first { name.hasPrefix($0.friendlyName) }
    var model = known ?? CardReaderModel("recorded", 0, 0, by: "", name)
    (model.name, model.friendlyName) = ("recorded", name)
    model.slots = [Slot(interfaceName: nil, kind: .contactless)]
    return model
  }

  /// The model with a name of the control line; nil if there is none.
  package static func named(_ name: String) -> CardReaderModel? { all.first { $0.name == name } }
}

/// What a reader tells about itself: attributes (SCardGetAttrib), features and properties (PC/SC part 10, section 2),
/// and escape commands.
struct CardReaderProperties: Sendable {
  /// CM_IOCTL_GET_FEATURE_REQUEST: SCARD_CTL_CODE(3400).
  private static let featureRequest: UInt32 = 0x4200_0D48
  /// The control codes that libccid gives its features.
  private static let tlvPropertiesCode: UInt32 = 0x4233_0012
  private static let escapeCode: UInt32 = 0x4200_0001
  /// SCARD_CTL_CODE(3500), which ACS's own driver uses.
  private static let vendorEscapeCode: UInt32 = 0x4200_0DAC

  let model: CardReaderModel
  let serial: String?
  /// The number of the USB bus, and of the device on it.
  var bus: UInt8
  var device: UInt8
  /// Whether the driver passes escape commands on. libccid's option for that is off by default.
  var allowsEscapes = false

  /// The value of an attribute (pcsc-lite, reader.h); nil if the reader does not have it. Numbers have the lowest byte
  /// first.
  func attribute(_ tag: UInt32) -> [UInt8]? {
    switch tag {
    // SCARD_ATTR_VENDOR_NAME.
    case 0x0001_0100: Array(model.manufacturer.utf8)
    // SCARD_ATTR_VENDOR_IFD_VERSION.
    case 0x0001_0102: Self.littleEndian(UInt32(model.version) << 16, 4)
    // SCARD_ATTR_VENDOR_IFD_SERIAL_NO.
    case 0x0001_0103: serial.map { Array($0.utf8) }
    // SCARD_ATTR_CHANNEL_ID: 0020 for USB, bus and device.
    case 0x0002_0110: Self.littleEndian(0x0020_0000 | UInt32(bus) << 8 | UInt32(device), 4)
    default: nil
    }
  }

  func control(_ code: UInt32, _ data: [UInt8]) -> DriverAnswer {
    switch code {
    case Self.featureRequest: return .success(features)
    case Self.tlvPropertiesCode: return .success(tlvProperties)
    case Self.escapeCode, Self.vendorEscapeCode:
      guard allowsEscapes else { return .failure(.communicationError) }
      return escape(data)
    default: return .failure(.notSupported)
    }
  }

  /// FEATURE_GET_TLV_PROPERTIES, and FEATURE_CCID_ESC_COMMAND if it is allowed. Control codes have the highest byte
  /// first.
  private var features: [UInt8] {
    [0x12, 0x04] + BigEndian.bytes(Self.tlvPropertiesCode)
      + (allowsEscapes ? [0x13, 0x04] + BigEndian.bytes(Self.escapeCode) : [])
  }

  /// dwMaxAPDUDataSize, wIdVendor, wIdProduct.
  private var tlvProperties: [UInt8] {
    [0x0A, 0x04] + Self.littleEndian(model.maximumAPDU, 4) + [0x0B, 0x02] + Self.littleEndian(UInt32(model.vendor), 2)
      + [0x0C, 0x02] + Self.littleEndian(UInt32(model.product), 2)
  }

  /// ACS's escape commands answer `E1 00 00 00`, a length and the parameter. The ACR122U takes its pseudo-APDUs.
  private func escape(_ data: [UInt8]) -> DriverAnswer {
    if model.hasChipPeripherals, let command = ReaderAPDU(data), command.instruction == 0x00 {
      return .success(CardReaderPeripherals.answer(to: command))
    }
    guard model.hasEscapes, data.count >= 5, data[0] == 0xE0, data.count == 5 + Int(data[4]) else {
      return .failure(.communicationError)
    }
    return .success([0xE1, 0x00, 0x00, 0x00, data[4]] + data[5...])
  }

  private static func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
    Array(BigEndian.bytes(value).reversed().prefix(count))
  }
}
