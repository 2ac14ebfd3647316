/// The models. The names are those of libccid's list.
extension CardReaderModel {
  /// ACS ACR122U: a PN532 behind a smart card interface. A tag that has refused a command stays halted.
  package static let acr122U = CardReaderModel(
    "acr122u", 0x072F, 0x2200, by: "ACS", "ACS ACR122U PICC Interface", contactless: [nil]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .jewel]
    $0.rawFrames = .chip
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

  /// HID OMNIKEY 5427 CK: also for tags of ISO/IEC 15693, whose UID it tells with the lowest byte first.
  package static let omnikey5427 = CardReaderModel(
    "omnikey5427", 0x076B, 0x5427, by: "HID Global", "HID OMNIKEY 5427 CK", contactless: [nil]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .vicinity]
    $0.lengthError = .wrongLength
    $0.tellsAnswerToSelect = false
    $0.reversesVicinityUID = true
  }

  /// Identiv uTrust 3700 F: with instructions of its own for FeliCa and Type 1.
  package static let uTrust3700 = CardReaderModel(
    "utrust3700", 0x04E6, 0x5790, by: "Identiv", "Identiv uTrust 3700 F CL Reader",
    contactless: ["uTrust 3700 F CL Reader"]
  ) {
    $0.technologies = [.typeA, .typeB, .felica, .jewel]
    $0.felicaCommands = .instructions
    $0.hasType1Commands = true
  }

  /// Feitian R502: refuses the pages from 10h on.
  package static let r502 = CardReaderModel(
    "r502", 0x096E, 0x060D, by: "Feitian", "Feitian R502", contactless: [nil]
  ) {
    $0.lengthError = .wrongLength
    $0.lastPage = 0x0F
  }

  /// Sony RC-S300/S.
  package static let rcS300 = CardReaderModel(
    "rcs300", 0x054C, 0x0DC8, by: "SONY", "SONY FeliCa RC-S300/S", contactless: [nil]
  ) {
    $0.rawFrames = .transparent
    $0.hasClassic = false
    $0.maximumAPDU = 65_536
  }

  /// Gemalto PC Twin Reader: for cards with contacts.
  package static let pcTwin = CardReaderModel(
    "pctwin", 0x08E6, 0x3437, by: "Gemalto", "Gemalto PC Twin Reader", contact: [nil])

  /// A YubiKey with its smart card; the card has to be inserted like any other.
  package static let yubiKey = CardReaderModel(
    "yubikey", 0x1050, 0x0407, by: "Yubico", "Yubico YubiKey OTP+FIDO+CCID", contact: [nil])

  /// All models.
  package static let all: [CardReaderModel] = [
    .acr122U, .acr1252U, .acr1552U, .omnikey5022, .omnikey5427, .uTrust3700, .r502, .rcS300, .pcTwin, .yubiKey,
  ]

  /// The model with a name of the control line; nil if there is none.
  package static func named(_ name: String) -> CardReaderModel? { all.first { $0.name == name } }
}
