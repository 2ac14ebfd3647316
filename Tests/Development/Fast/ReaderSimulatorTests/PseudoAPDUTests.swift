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

/// The ways to a tag's own commands, which differ between models.
@Suite struct RawFrameTests {
  private let idm: [UInt8] = [0x01, 0x2E, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]
  private let parameters = "00f1000000014300"

  private func felica() throws -> SimulatedTag { try .type3(message: [], idm: idm) }

  @Test func `an ACR122U passes commands on to its PN532`() throws {
    var slot = try SlotDriver(.acr122U, try type2())
    #expect(try slot.send("ff00000003 d44260") == "d5430000040402010011039000")
    #expect(try slot.send("ff00000005 d4423a0404") == "d543000303d0009000")
    #expect(try slot.send("ff00000005 d440013003").hasPrefix("d54100e1103e00"))
    try slot.expect([
      ("ff00000002 d402", "d503320106079000"), ("ff00000003 d4ff00", "637f"),
      ("ff00000009 d44a010100ffff0000", "d54b009000"), ("ffc20000028100", "6300"),
      ("ff00480000", HexText.string(Array("ACR122U214".utf8))), ("ff005200 00", "9000"),
    ])
  }

  @Test(arguments: [CardReaderModel.acr1252U, .acr1552U, .rcS300])
  func `a transparent session exchanges frames of Type 2`(model: CardReaderModel) throws {
    var slot = try SlotDriver(model, try type2())
    try slot.expect([
      ("ffc2000103 950160", "c0030169859000"), ("ffc2000002 8100", "c0030090009000"),
      ("ffc2000204 8f020003", "c0030090009000"),
      ("ffc2000103 950160", "c00300900092010096020000970800040402010011039000"),
      // A refusal has four bits.
      ("ffc2000104 950230f0", "c003009000920104960200009701009000"),
      // The tag has left its state, so that it is silent now.
      ("ffc2000103 950160", "c0030164019000"), ("ffc2000204 8f020003", "c0030090009000"),
    ])
    #expect(try slot.send("ffc2000104 95023003").hasPrefix("c003009000920100960200009710e1103e00"))
    #expect(try slot.send("ffc2000002 8200") == "c0030090009000")
  }

  @Test func `a frame of FeliCa goes to an ACR1252U with its length`() throws {
    var slot = try SlotDriver(.acr1252U, try felica())
    #expect(try slot.send("ffca000000") == "012e456789abcdef9000")
    #expect(try slot.send("ff00000006 060012fc0000") == "1201012e456789abcdef\(parameters)9000")
    let check = try slot.send("ff00000010 1006012e456789abcdef010b00018000")
    #expect(check.hasPrefix("1d07012e456789abcdef00000110") && check.hasSuffix("9000"))
    #expect(try slot.send("ff00000006 060012340000") == "6300")
  }

  @Test func `FeliCa in a transparent session needs a switch of the protocol`() throws {
    var slot = try SlotDriver(.rcS300, try felica())
    #expect(try slot.send("ffc2000002 8100") == "c0030090009000")
    #expect(try slot.send("ffc2000204 8f020300") == "c0030090009000")
    let poll = try slot.send("ffc2000108 9506060012fc0000")
    #expect(poll == "c0030090009201009602000097121201012e456789abcdef\(parameters)9000")
  }

  @Test func `an Identiv has an instruction for each command of FeliCa`() throws {
    var slot = try SlotDriver(.uTrust3700, try felica())
    #expect(try slot.send("ff40000004 12fc0000") == "01012e456789abcdef\(parameters)9000")
    let check = try slot.send("ff46010104 0b008000")
    #expect(check.hasPrefix("07012e456789abcdef00000110") && check.hasSuffix("9000"))
  }

  @Test func `a Type 1 tag answers through an ACR122U and an Identiv`() throws {
    let tag = try SimulatedTag.type1(.topaz96, message: [], uid: .fixed([1, 2, 3, 4, 0, 0, 0x25]))
    var slot = try SlotDriver(.acr122U, tag)
    #expect(try slot.send("ff00000004 d4400178").hasSuffix("010203049000"))
    slot = try SlotDriver(.uTrust3700, tag)
    #expect(try slot.send("ff50000000").hasSuffix("010203049000"))
    #expect(try slot.send("ff520000").contains("01020304000025"))
    #expect(throws: SimulatorError.self) { try SlotDriver(.acr1252U, tag) }
  }
}
