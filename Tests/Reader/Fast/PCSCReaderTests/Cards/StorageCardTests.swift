import Names
import Testing

@testable import PCSCReader

@Suite struct StorageCardTests {
  @Test(
    arguments: [
      ([0x00, 0x01, 0x02, 0x03], [0x0003, 0x003A, 0x003D, 0x0027, 0x0028], .tag(.type2)),
      ([0x00, 0x01, 0x02, 0x03], [0x002F, 0x0030, 0xF004], .tag(.type1)),
      // A MIFARE Classic, and a MIFARE Plus in its first level, are tried with keys.
      ([0x03], [0x0001, 0x0036], .mifareClassic(sak: 0x08)), ([0x03], [0x0002, 0x0037], .mifareClassic(sak: 0x18)),
      ([0x03], [0x0026], .mifareClassic(sak: 0x09)),
      // Page 3 decides about a card without a known name.
      ([0x00, 0x03], [0x0000, 0x0004, 0x0029, 0x002A, 0xFF88, 0x1234], .probe),
      // A card of ISO/IEC 15693 has its standard, whatever its name, or a name.
      ([0x09, 0x0A, 0x0B, 0x0C], [0x0000, 0x0014, 0x0035, 0x1234], .tag(.type5)),
      ([0x00], [0x0012, 0x0014, 0x002B, 0x0035, 0x003C], .tag(.type5)),
      ([0x11], [0x003B, 0x0000], .feliCa(bitRate: 212)), ([0x03], [0xF011], .feliCa(bitRate: 212)),
      ([0x03], [0xF012], .feliCa(bitRate: 424)),
    ] as [([UInt8], [UInt16], StorageCard.Treatment)])
  func `the standard and the name tell the kind of a card`(
    standards: [UInt8], names: [UInt16], expected: StorageCard.Treatment
  ) {
    for standard in standards {
      for name in names { #expect(treatment(standard, name) == expected, "\(standard), \(name)") }
    }
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
