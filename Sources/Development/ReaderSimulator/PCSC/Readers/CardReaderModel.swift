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
    /// What the slot takes.
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
  package let name: String
  /// The vendor number of the USB device.
  package let vendor: UInt16
  /// The product number of the USB device.
  package let product: UInt16
  /// The maker, as the device tells it.
  package let manufacturer: String
  /// The name in the list of the driver libccid. pcscd's name begins with it.
  package let friendlyName: String
  /// The slots, the contactless one first. Each is an interface of the USB device.
  package let slots: [Slot]

  /// Vendor and product as udev writes them, for example `072f:223b`.
  package var usbIdentity: String {
    "\(Hexadecimal.string(BigEndian.bytes(vendor))):\(Hexadecimal.string(BigEndian.bytes(product)))"
  }

  // The rest describes the contactless slot.
  var technologies: [Technology] = [.typeA, .typeB, .felica]
  var rawFrames = RawFrames.none
  var felicaCommands = FeliCaCommands.none
  /// Whether `FF 50` and the next ones send commands of Type 1 tags.
  var hasType1Commands = false
  /// Whether there are keys and authentication for MIFARE Classic.
  var hasClassic = true
  /// Whether `FF CA 01` tells the answer to select.
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
}

/// The name is enough for the results of tests. All properties would be longer than a line of them may be.
extension CardReaderModel: CustomStringConvertible {
  /// The name.
  package var description: String { name }
}
