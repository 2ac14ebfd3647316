import Names
import Testing

@testable import PCSCReader
@testable import ReaderModels

@Suite struct ReaderModelTests {
  @Test(
    arguments: [
      (0x072F, 0x2200, "ACS ACR122U"), (0x072F, 0x0102, "ACS AET62"), (0x072F, 0x223B, "ACS ACR1252U"),
      (0x072F, 0x223E, "ACS ACR1252U"),
      (0x072F, 0x223F, "ACS ACR1255U-J1"), (0x072F, 0x2303, "ACS ACR1552U"), (0x072F, 0x2308, "ACS ACR1552U"),
      (0x076B, 0x5022, "HID OMNIKEY 5022 CL"), (0x076B, 0x5422, "HID OMNIKEY 5422"),
      (0x076B, 0x5427, "HID OMNIKEY 5427 CK"), (0x04E6, 0x5790, "Identiv uTrust 3700 F"),
      (0x04E6, 0x5720, "Identiv uTrust 4700 F"), (0x054C, 0x0DC8, "Sony RC-S300"), (0x054C, 0x0DC9, "Sony RC-S300"),
      (0x1C34, 0x7141, "SpringCard"), (0x096E, 0x060D, "Feitian R502"), (0x09D8, 0x0427, "Elatec TWN4"),
    ] as [(UInt16, UInt16, String)])
  func `a device has the model of its numbers`(_ vendor: UInt16, _ product: UInt16, _ title: String) {
    #expect(ReaderModel.find(vendor: vendor, product: product)?.title == title)
  }

  @Test(
    arguments: [
      (0x072F, 0x90CC), (0x072F, 0xB100), (0x1050, 0x0407), (0x08E6, 0x3437), (0x0A5C, 0x5832), (0x076B, 0x502A),
      (0x076B, 0x3021), (0, 0),
    ] as [(UInt16, UInt16)])
  func `a reader without an antenna has no model, and neither has one that is not for NFC`(
    _ vendor: UInt16, _ product: UInt16
  ) {
    #expect(ReaderModel.find(vendor: vendor, product: product) == nil)
  }

  @Test(
    arguments: [
      ("ACS ACR122U PICC Interface 00 00", "ACS ACR122U"), ("ACS ACR122U 01 00", "ACS ACR122U"),
      ("ACS AET62 PICC Reader 00 00", "ACS AET62"), ("ACS ACR1222 1SAM PICC Reader 00 00", "ACS ACR1222"),
      ("ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00", "ACS ACR1252U"),
      ("ACS ACR1252 1S CL Reader [ACR1252 1S CL Reader PICC] (serial) 00 00", "ACS ACR1252U"),
      ("ACS ACR1252IMP Reader 00 00", "ACS ACR1252U"), ("ACS WalletMate 1S CL Reader 00 00", "ACS ACR1252U"),
      ("ACS WalletMate II 1S CL Reader 00 00", "ACS ACR1552U"), ("ACS ACR1552 CL Reader 00 00", "ACS ACR1552U"),
      ("HID Global OMNIKEY 5022 Smart Card Reader [OMNIKEY 5022 Smart Card Reader] (KX1) 00 00", "HID OMNIKEY 5022 CL"),
      ("hid global omnikey 5422 smartcard reader [OMNIKEY 5422CL Smartcard Reader] 00 00", "HID OMNIKEY 5422"),
      ("Identiv uTrust 3700 F CL Reader [uTrust 3700 F CL Reader] 00 00", "Identiv uTrust 3700 F"),
      ("Identiv Identiv uTrust 4701 F Dual Interface Reader 00 00", "Identiv uTrust 4700 F"),
      ("SONY FeliCa RC-S300/S (0) 00 00", "Sony RC-S300"), ("SpringCard Prox'N'Roll 00 00", "SpringCard"),
      ("Feitian R502 [R502 Contactless Reader] 00 00", "Feitian R502"), ("DUALi DE-620 Combi 00 00", "Duali DE-620"),
    ])
  func `a reader has the model of its name`(_ name: String, _ title: String) {
    #expect(ReaderModel.find(readerName: name)?.title == title)
  }

  @Test(
    arguments: [
      "", "ACS ACR39U ICC Reader 00 00", "ACS ACR1220 00 00", "XACR122U 00 00", "Yubico YubiKey OTP+FIDO+CCID 00 00",
      "Gemalto PC Twin Reader 00 00", "HID Global OMNIKEY 3x21 Smart Card Reader 00 00", "\u{1F4A9} [", "[](", "]",
    ])
  func `another reader has no model`(_ name: String) {
    #expect(ReaderModel.find(readerName: name) == nil)
  }

  @Test func `no two models share a number or a name, and every one has a title`() {
    let identifiers = ReaderModel.all.flatMap(\.identifiers)
    #expect(Set(identifiers).count == identifiers.count)
    #expect(Set(identifiers).isDisjoint(with: ReaderModel.optIn))
    let names = ReaderModel.all.flatMap(\.names).map { $0.lowercased() }
    #expect(Set(names).count == names.count)
    let titles = ReaderModel.all.map(\.title)
    #expect(Set(titles).count == titles.count && !titles.contains(""))
    for model in ReaderModel.all {
      #expect(!model.names.isEmpty && !model.identifiers.isEmpty, "\(model.title)")
      for name in model.names { #expect(ReaderModel.find(readerName: name)?.title == model.title, "\(name)") }
    }
  }

  @Test func `each model reads the types that it has commands for`() {
    #expect(ReaderModel.acr122.types == [.type1, .type2, .type3, .type4A, .type4B, .mifareClassic])
    #expect(ReaderModel.acr1252.types == [.type2, .type3, .type4A, .type4B, .mifareClassic])
    #expect(ReaderModel.acr1552.types == [.type2, .type3, .type4A, .type4B, .type5, .mifareClassic])
    #expect(ReaderModel.omnikey.types == [.type2, .type4A, .type4B, .type5, .mifareClassic])
    #expect(ReaderModel.uTrust3700.types == [.type1, .type2, .type3, .type4A, .type4B, .mifareClassic])
    #expect(ReaderModel.r502.types == [.type2, .type4A, .type4B, .mifareClassic])
  }

  // MARK: Feedback

  @Test func `an ACR122U beeps once in green, and twice in red`() {
    #expect(ReaderModel.acr122.commands(for: .success) == [.apdu(hex("FF 00 40 AE 04 01 00 01 01"))])
    #expect(ReaderModel.acr122.commands(for: .failure) == [.apdu(hex("FF 00 40 54 04 01 01 02 01"))])
  }

  @Test func `other readers of ACS beep by escape commands`() {
    #expect(ReaderModel.acr1552.commands(for: .success) == [.escape(hex("E0 00 00 28 03 0A 0A 01"))])
    #expect(ReaderModel.acr1552.commands(for: .failure) == [.escape(hex("E0 00 00 28 03 0A 0A 02"))])
    #expect(ReaderModel.titled("ACS ACR1251U").commands(for: .success) == [.escape(hex("E0 00 00 28 01 0A"))])
    #expect(
      ReaderModel.acr1252.commands(for: .failure)
        == [.apdu(hex("FF 00 40 54 04 01 01 02 01")), .escape(hex("E0 00 00 28 01 28"))])
  }

  @Test func `a reader without a known command shows nothing, and success differs from failure`() {
    for model in ReaderModel.all + [.generic] {
      #expect((model.commands(for: .success) == model.commands(for: .failure)) == (model.feedback == .none))
    }
    #expect(ReaderModel.generic.commands(for: .success).isEmpty)
  }
}
