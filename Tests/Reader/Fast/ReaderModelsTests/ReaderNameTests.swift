import Testing

@testable import ReaderModels

@Suite struct ReaderNameTests {
  @Test(
    arguments: [
      "ACS ACR122U PICC Interface 00 00", "ACS ACR122U 00 00", "ACS ACR1252 1S CL Reader 00 00",
      "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] (serial) 00 00", "ACS ACR1552 CL Reader 00 00",
      "HID Global OMNIKEY 5022 Smart Card Reader [OMNIKEY 5022 Smart Card Reader] (KX1) 00 00", "HID OMNIKEY 5427 CK",
      "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422CL Smartcard Reader] (KN1) 00 00",
      "HID Global OMNIKEY 5122 Smartcard Reader [OMNIKEY 5122CL Smartcard Reader] (KN1) 00 00",
      "Identiv uTrust 3700 F CL Reader [uTrust 3700 F CL Reader] (535) 00 00",
      "Identiv uTrust 4701 F Dual Interface Reader [uTrust 4701 F Contactless Reader] 00 00",
      "SONY FeliCa RC-S300/S (0) 00 00", "SpringCard Prox'N'Roll 00 00", "Feitian R502 [R502 Contactless Reader] 00 00",
      "Elatec TWN4 SmartCard NFC 00 00", "REINER SCT cyberJack RFID basis 00 00", "Circle CIR215 PICC 00 00",
      "TOKEN2 MFA NFC Reader 00 00", "ACS ACR1281 1S Dual Reader 00 01", "ACS ACR1281 1S Dual Reader 02 01",
      "Feitian VR504 VHBR Contactless & Contact Card Reader 00 00",
    ])
  func `a slot with an antenna is known by its name`(_ name: String) {
    #expect(ReaderModel.isContactlessName(name))
  }

  @Test(
    arguments: [
      "", "ACS ACR39U ICC Reader 00 00", "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00",
      "ACS ACR1252 1S CL Reader SAM 01 00", "ACS ACR1281 1S Dual Reader [ACR1281 1S Dual Reader ICC] 00 00",
      "HID Global OMNIKEY 5422 Smartcard Reader [OMNIKEY 5422 Smartcard Reader] (KN1) 01 00",
      "HID Global OMNIKEY 5122 Smartcard Reader [OMNIKEY 5122 Smartcard Reader] (KN1) 01 00",
      "Identiv uTrust 4701 F Dual Interface Reader [uTrust 4701 F Contact Reader] 01 00",
      "Feitian R502 [R502 Contact Reader] 01 00", "Feitian R502 [R502 SAM1 Reader] 02 00",
      "Yubico YubiKey OTP+FIDO+CCID 00 00", "Yubico YubiKey NEO-N NFC 00 00", "Gemalto PC Twin Reader 00 00",
      "Broadcom Corp 5880 [Contacted SmartCard] (0123456789ABCD) 00 00",
      "Broadcom Corp 5880 [Contactless SmartCard] (0123456789ABCD) 00 01",
      "Broadcom Corp 58200 [Contactless SmartCard] (0123456789ABCD) 01 00", "HID OMNIKEY 5025-CL 00 00",
      "Identiv uTrust 3522 embd SE RFID Token 00 00", "Alcor Micro AU9540 00 00", "CLever Reader 00 00", "[] () 00 00",
      "ACS ACR1281 1S Dual Reader 00 00", "ACS ACR1281 1S Dual Reader 00 02", "ACS ACR1281 1S Dual Reader",
    ])
  func `any other slot is left alone`(_ name: String) {
    #expect(!ReaderModel.isContactlessName(name))
  }

  @Test func `a device is contactless by its numbers, or by a name`() {
    #expect(ReaderModel.isContactlessDevice(vendor: 0x072F, product: 0x2200))
    #expect(ReaderModel.isContactlessDevice(vendor: 0x04E6, product: 0x5724))
    #expect(ReaderModel.isContactlessDevice(vendor: 0x31AA, product: 0x2001, names: ["Circle CIR215 CL"]))
    #expect(
      ReaderModel.isContactlessDevice(vendor: 0xFFFF, product: 0x0001, names: ["A reader", "ACS ACR1252 Dual Reader"]))
  }

  @Test func `no security key and no reader for contact cards is a contactless device`() {
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x1050, product: 0x0407, names: ["YubiKey 5 NFC Reader"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x349E, product: 0x0022, names: ["TOKEN2 FIDO2 NFC Token"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x20A0, product: 0x42B2, names: ["Nitrokey 3 NFC"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x072F, product: 0x90CC, names: ["ACS ACR 38U-CCID"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x08E6, product: 0x3437, names: ["Gemalto PC Twin Reader"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x0A5C, product: 0x5832, names: ["Contactless SmartCard"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x0A5C, product: 0x5865, names: ["Contactless SmartCard"]))
    #expect(!ReaderModel.isContactlessDevice(vendor: 0x072F, product: 0xB100))
  }

  @Test func `a name has parts`() {
    let name = SlotName("ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] (Serial NFC) 00 00")
    #expect(name.friendly == ["acs", "acr1252", "dual", "reader"])
    #expect(name.interface == ["acr1252", "dual", "reader", "picc"])
    #expect(SlotName("Sony (NFC) 00 00").friendly == ["sony"])
    #expect(SlotName("A [B").interface.isEmpty)
    #expect(SlotName("]A[").interface.isEmpty)
  }

  @Test func `a name of any length and content has a result`() {
    for text in [String(repeating: "[", count: 200), String(repeating: "CL", count: 100), "Ж\u{0}[\u{FFFD}]\n"] {
      #expect(ReaderModel.find(readerName: text) == nil)
      #expect(!ReaderModel.isContactlessName(text))
    }
  }
}
