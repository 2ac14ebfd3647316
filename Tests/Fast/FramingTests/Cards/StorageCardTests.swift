import Names
import Testing

@testable import Framing

@Suite struct StorageCardTests {
  @Test(
    arguments: [
      (0x0003, .type2), (0x003A, .type2), (0x003D, .type2), (0x0027, .type2), (0x0028, .type2), (0x002F, .type1),
      (0x0030, .type1), (0xF004, .type1),
    ] as [(UInt16, TagType)])
  func `the name tells the type of a card of Type A`(_ name: UInt16, _ type: TagType) {
    for standard in [0x00, 0x01, 0x02, 0x03] as [UInt8] {
      #expect(treatment(standard, name) == .tag(type))
    }
  }

  @Test(
    arguments: [(0x0001, 0x08), (0x0002, 0x18), (0x0026, 0x09), (0x0036, 0x08), (0x0037, 0x18)] as [(UInt16, UInt8)])
  func `a MIFARE Classic and a MIFARE Plus in its first level are tried with keys`(_ name: UInt16, _ sak: UInt8) {
    #expect(treatment(0x03, name) == .mifareClassic(sak: sak))
  }

  @Test(arguments: [0x0000, 0x0004, 0x0029, 0x002A, 0xFF88, 0x1234] as [UInt16])
  func `page 3 decides about a card without a known name`(_ name: UInt16) {
    #expect(treatment(0x03, name) == .probe)
    #expect(treatment(0x00, name) == .probe)
  }

  @Test(arguments: [0x09, 0x0A, 0x0B, 0x0C] as [UInt8])
  func `a card of ISO/IEC 15693 is of Type 5, whatever its name`(_ standard: UInt8) {
    for name in [0x0000, 0x0014, 0x0035, 0x1234] as [UInt16] { #expect(treatment(standard, name) == .tag(.type5)) }
  }

  @Test(arguments: [0x0012, 0x0014, 0x002B, 0x0035, 0x003C] as [UInt16])
  func `the name tells a card of ISO/IEC 15693 without a standard`(_ name: UInt16) {
    #expect(treatment(0x00, name) == .tag(.type5))
  }

  @Test func `a FeliCa card has its standard or a name`() {
    #expect(treatment(0x11, 0x003B) == .feliCa(bitRate: 212))
    #expect(treatment(0x11, 0x0000) == .feliCa(bitRate: 212))
    #expect(treatment(0x03, 0xF011) == .feliCa(bitRate: 212))
    #expect(treatment(0x03, 0xF012) == .feliCa(bitRate: 424))
  }

  @Test(
    arguments: [
      (0x03, 0x0038), (0x03, 0x0039), (0x03, 0x0017), (0x0B, 0x0018), (0x05, 0x0000), (0x07, 0xFFB0), (0x0D, 0x0000),
      (0x40, 0x0000), (0x04, 0x0003), (0xFF, 0x0003),
    ] as [(UInt8, UInt16)])
  func `a card that is no NFC tag has a reason`(_ standard: UInt8, _ name: UInt16) {
    guard case .none(let reason) = treatment(standard, name) else {
      Issue.record("\(treatment(standard, name))")
      return
    }
    #expect(!reason.isEmpty)
  }

  private func treatment(_ standard: UInt8, _ name: UInt16) -> StorageCard.Treatment {
    StorageCard(standard: StorageCard.Standard(standard), name: name).treatment
  }
}
