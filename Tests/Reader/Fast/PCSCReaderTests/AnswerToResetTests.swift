import Names
import Rig
import Testing

@testable import PCSCReader

@Suite struct AnswerToResetTests {
  @Test func `a memory card has a standard and a name`() {
    let ultralight = hex("3B 8F 80 01 80 4F 0C A0 00 00 03 06 03 00 03 00 00 00 00 68")
    #expect(AnswerToReset(ultralight).kind == .storage(StorageCard(standard: .typeA, name: 0x0003)))
    let feliCa = hex("3B 8F 80 01 80 4F 0C A0 00 00 03 06 11 00 3B 00 00 00 00 42")
    #expect(AnswerToReset(feliCa).kind == .storage(StorageCard(standard: .feliCa, name: 0x003B)))
    let icode = hex("3B 8F 80 01 80 4F 0C A0 00 00 03 06 0B 00 14 00 00 00 00 77")
    #expect(AnswerToReset(icode).kind == .storage(StorageCard(standard: .iso15693, name: 0x0014)))
  }

  @Test(
    arguments: [
      ("3B 80 80 01 01", ""), ("3B 81 80 01 80 80", "80"),
      ("3B 8D 80 01 80 73 C0 21 C0 57 59 75 62 69 4B 65 79 F9", "80 73 C0 21 C0 57 59 75 62 69 4B 65 79"),
    ])
  func `a card of ISO-DEP has historical bytes`(_ atr: String, _ historicalBytes: String) {
    #expect(AnswerToReset(hex(atr)).kind == .isoDEPTypeA(historicalBytes: hex(historicalBytes)))
    #expect(AnswerToReset(hex(atr)).kind.isContactless)
  }

  @Test func `a card of Type B has application data and protocol info`() {
    let kind = AnswerToReset(checked("3B 88 80 01 1C 2D 94 11 F7 71 85 00")).kind
    #expect(
      kind
        == .isoDEPTypeB(
          applicationData: hex("1C 2D 94 11"), protocolInfo: hex("F7 71 85"), attribResponse: 0x00))
  }

  @Test(arguments: ["41 42 43 44 45 46 47 48", "00 00 00 00 00 08 81 00", "00 00 00 00 00 81 81 05"])
  func `eight historical bytes that no card of Type B has are of Type A`(_ bytes: String) {
    #expect(AnswerToReset(checked("3B 88 80 01 " + bytes)).kind == .isoDEPTypeA(historicalBytes: hex(bytes)))
  }

  @Test(
    arguments: [
      "3B FD 13 00 00 81 31 FE 15 80 73 C0 21 C0 57 59 75 62 69 4B 65 79 40", "3B 02 14 50",
      "3F 65 25 08 65 04 6C 90 00", "3B", "3B 80 80 01",
    ])
  func `a card with contacts is left alone`(_ atr: String) {
    #expect(AnswerToReset(hex(atr)).kind == .contact)
    #expect(!AnswerToReset(hex(atr)).kind.isContactless)
  }

  @Test func `an ATR without data is a placeholder, not a card`() {
    #expect(AnswerToReset(hex("3B 00")).kind == .placeholder)
    #expect(!AnswerToReset(hex("3B 00")).kind.isContactless)
  }

  @Test(arguments: [0x0D, 0x0E, 0x0F, 0x10] as [UInt8])
  func `a memory card with contacts is left alone`(_ standard: UInt8) {
    let atr = hex("3B 8F 80 01 80 4F 0C A0 00 00 03 06") + [standard, 0x00, 0x00, 0, 0, 0, 0]
    #expect(AnswerToReset(atr + [atr.dropFirst().reduce(0, ^)]).kind == .contact)
  }

  @Test(
    arguments: [
      // Nothing, no convention, a wrong checksum, a byte less, a byte more.
      "", "00 00", "FF 8F 80 01 80 00", "3B 80 80 01 02", "3B 82 80 01 80 83", "3B 80 80 01 01 00",
      "3B 8F 80 01 80 4F 0C A0 00 00 03 06 03 00 03 00 00 00 00 67",
      "3B 8F 80 01 80 4F 0C A0 00 00 03 06 03 00 03 00 00 00 68",
      // The greatest length.
      "3B 8F 80 01" + String(repeating: " 00", count: 29),
    ])
  func `an invalid answer is of no kind`(_ atr: String) {
    #expect(AnswerToReset(hex(atr)).kind == .unknown)
  }

  /// The bytes and their check byte.
  private func checked(_ text: String) -> [UInt8] { hex(text) + [hex(text).dropFirst().reduce(0, ^)] }
}

@Suite struct StorageCardTests {
  @Test(
    arguments: [
      ([0x00, 0x01, 0x02, 0x03], [0x0003, 0x003A, 0x003D, 0x0027, 0x0028], .tag(.type2)),
      ([0x00, 0x01, 0x02, 0x03], [0x002F, 0x0030, 0xF004], .tag(.type1)),
      // A MIFARE Classic, and a MIFARE Plus in its first level, are tried with keys.
      ([0x03], [0x0001, 0x0036], .mifareClassic(sak: 0x08)), ([0x03], [0x0002, 0x0037], .mifareClassic(sak: 0x18)),
      ([0x03], [0x0026], .mifareClassic(sak: 0x09)),
      // Page 3 decides about a card without a known name.
      ([0x00, 0x03], [0x0000, 0x0004, 0x0029, 0x002A, 0xFF00, 0x1234], .probe),
      // An ACR122U names a card that it does not know by the select acknowledge.
      ([0x00, 0x03], [0xFF88], .mifareClassic(sak: 0x88)), ([0x03], [0xFF18], .mifareClassic(sak: 0x18)),
      // A card of ISO/IEC 15693 has its standard with any name, or a name.
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
      (0x40, 0x0000), (0x04, 0x0003), (0xFF, 0x0003), (0x03, 0xFF20), (0x03, 0xFF28), (0x03, 0xFF40),
    ] as [(UInt8, UInt16)])
  func `a card that is no NFC tag has a reason`(_ standard: UInt8, _ name: UInt16) throws {
    guard case .none(let reason) = treatment(standard, name) else { throw RigError("\(treatment(standard, name))") }
    #expect(!reason.isEmpty)
  }

  private func treatment(_ standard: UInt8, _ name: UInt16) -> StorageCard.Treatment {
    StorageCard(standard: StorageCard.Standard(standard), name: name).treatment
  }
}
