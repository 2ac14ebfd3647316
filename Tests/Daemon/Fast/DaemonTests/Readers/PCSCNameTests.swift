import Names
import Testing

@Suite struct PCSCNameTests {
  @Test(arguments: [
    ("ACS ACR122U PICC Interface 00 00", "ACS ACR122U PICC Interface"), ("X 0A 1F", "X"), ("X 00", "X 00"),
    (" 00 00", " 00 00"), ("X 0G 00", "X 0G 00"), ("X  00 00", "X "), ("X 000 00", "X 000 00"), ("", ""),
    ("é 00 00", "é"),
  ])
  func `the numbers at the end depend on the order of plugging`(name: String, rest: String) {
    #expect(Names.PCSC.withoutNumbers(name) == rest)
  }

  @Test func `a name without numbers means each reader of the model`() {
    #expect(Names.PCSC.means("X 00 00", "X 00 00"))
    #expect(Names.PCSC.means("X", "X 03 00"))
    #expect(!Names.PCSC.means("X 00 00", "X 01 00"))
    #expect(!Names.PCSC.means("X", "XY 00 00"))
    #expect(!Names.PCSC.means("X", "x 00 00"))
  }

  @Test func `only a device string with the prefix holds a name`() {
    #expect(Names.PCSC.readerName(inDevice: "pcsc:A: B") == "A: B")
    #expect(Names.PCSC.readerName(inDevice: "pcsc:") == "")
    #expect(Names.PCSC.readerName(inDevice: "acr122_pcsc:A") == nil)
  }
}
