import Testing

@testable import ReaderSimulator

@Suite struct PseudoAPDUTests {
  private static let unlike63: [CardReaderModel] = [.omnikey5022, .uTrust3700, .r502, .rcS300]

  @Test(arguments: CardReaderModel.all.filter { $0.slots[0].kind == .contactless })
  func `every contactless reader tells the UID and reads four pages`(model: CardReaderModel) throws {
    var slot = try SlotDriver(model, try type2())
    try slot.expect([
      ("ffca000000", "041122334455669000"), ("ffca000007", "041122334455669000"),
      ("ffb0000310", "e1103e000303d00000fe0000000000009000"), ("ffb0000304", "e1103e009000"), ("ffca010000", "6a81"),
    ])
  }

  @Test func `a length that is too short is answered with the right one`() throws {
    var slot = try SlotDriver(.acr1252U, try type2())
    #expect(try slot.send("ffca000004") == "6c07")
    #expect(try slot.send("ffca000010") == "041122334455666282")
  }

  @Test func `no reader gives more than 16 bytes at once, each in its own way`() throws {
    var slot = try SlotDriver(.acr1252U, try type2())
    #expect(try slot.send("ffb0000420") == "6c10")
    slot = try SlotDriver(.omnikey5022, try type2())
    #expect(try slot.send("ffb0000420") == "6700")
    slot = try SlotDriver(.acr122U, try type2())
    #expect(try slot.send("ffb0000420") == "6300")
  }

  @Test func `an ACR122U leaves a tag halted that has refused a page`() throws {
    var slot = try SlotDriver(.acr122U, try type2())
    #expect(try slot.send("ffb000f010") == "6300")
    #expect(try slot.send("ffb0000410") == "6300")
    _ = slot.interface.powerUp()
    #expect(try slot.send("ffb0000404") == "0303d0009000")
  }

  @Test(arguments: unlike63)
  func `other readers select the tag again after a refused page`(model: CardReaderModel) throws {
    var slot = try SlotDriver(model, try type2())
    #expect(try slot.send("ffb000f010") == "6a82")
    #expect(try slot.send("ffb0000404") == "0303d0009000")
  }

  @Test func `an R502 refuses the pages from 10h on`() throws {
    var slot = try SlotDriver(.r502, try type2())
    #expect(try slot.send("ffb0000f10").hasSuffix("9000"))
    #expect(try slot.send("ffb0001010") == "6a82")
  }

  @Test func `a page is written`() throws {
    var slot = try SlotDriver(.omnikey5022, try type2())
    try slot.expect([
      ("ffd6000604 01020304", "9000"), ("ffb0000604", "010203049000"), ("ffd6000602 0102", "6700"),
    ])
  }

  @Test func `a block of a MIFARE Classic is read after authentication`() throws {
    let message: [UInt8] = [0xD0, 0x00, 0x00]
    var slot = try SlotDriver(.acr1252U, try .mifareClassic(.classic1K, message: message, uid: .fixed([4, 1, 2, 3])))
    try slot.expect([
      ("ffb0000410", "6300"), ("ff82000006 d3f7d3f7d3f7", "9000"), ("ff86000005 0100046000", "9000"),
      ("ffb0000410", "0303d00000fe" + String(repeating: "0", count: 20) + "9000"), ("ff880004 6000", "9000"),
      ("ff86000005 0100046001", "6300"),
    ])
    slot = try SlotDriver(.rcS300, try .mifareClassic(.classic1K, message: message, uid: .fixed([4, 1, 2, 3])))
    #expect(try slot.send("ff82000006 d3f7d3f7d3f7") == "6a81")
  }

  @Test func `an APDU reaches the card, and a storage card takes none`() throws {
    var slot = try SlotDriver(.omnikey5022, try .type4(message: [0xD0, 0x00, 0x00]))
    #expect(try slot.send("00a4040007d276000085010100") == "9000")
    #expect(try slot.send("00a4000c02e103") == "9000")
    #expect(try slot.send("00b000000f").hasSuffix("9000"))
    slot = try SlotDriver(.omnikey5022, try type2())
    #expect(try slot.send("00a4040007d276000085010100") == "6e00")
  }

  @Test func `the answer to select is told by ACS alone`() throws {
    var slot = try SlotDriver(.acr1252U, try .type4(message: []))
    #expect(try slot.send("ffca010000") == "0675778102809000")
    slot = try SlotDriver(.omnikey5022, try .type4(message: []))
    #expect(try slot.send("ffca010000") == "6a81")
  }
}
