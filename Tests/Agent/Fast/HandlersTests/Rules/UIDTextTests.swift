import Names
import Testing

@Suite struct UIDTextTests {
  @Test(
    arguments: [
      ([0x04, 0xA2, 0x19, 0x5A], "04-A2-19-5A"), ([UInt8](0...9), "00-01-02-03-04-05-06-07-08-09"),
    ] as [([UInt8], String)])
  func `a UID is written in uppercase pairs with hyphens, and read back`(uid: [UInt8], text: String) {
    #expect(UIDText.text(uid) == text)
    for other in [text, text.lowercased(), text.replacing("-", with: ":"), text.replacing("-", with: "")] {
      #expect(UIDText.bytes(other) == uid, "\(other)")
    }
  }

  @Test func `a tag without a UID has an empty text`() { #expect(UIDText.text([]).isEmpty) }

  @Test(arguments: [
    "", "-", "4", "04-A2-19", "04-A2-19-5A-", "-04-A2-19-5A", "04--A2-19-5A", "0x04A2195A", "04-A2-19-5G",
    "04-A2-19-5４", "04-A2-19-5A0", "00-01-02-03-04-05-06-07-08-09-0A",
  ])
  func `any other text names no UID`(text: String) { #expect(UIDText.bytes(text) == nil) }
}
