import Testing

@testable import ReaderSimulator

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
      ("ff00480000", Hexadecimal.string(Array("ACR122U214".utf8))), ("ff005200 00", "9000"),
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
