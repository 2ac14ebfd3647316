import Names
import Testing

@Suite struct TagUIDTests {
  @Test(
    arguments: [
      ([0x04, 0xA2, 0x19, 0x5A], "04-A2-19-5A"), ([0x00], "00"), ([0xFF, 0x0F], "FF-0F"),
      ([UInt8](0...9), "00-01-02-03-04-05-06-07-08-09"),
    ] as [([UInt8], String)])
  func `a UID is written in uppercase pairs with hyphens, and read back`(uid: [UInt8], text: String) {
    #expect(TagUID.text(uid) == text)
    #expect(TagUID.bytes(text) == uid)
    #expect(TagUID.bytes(text.lowercased()) == uid)
  }

  @Test func `a tag without a UID has an empty text`() { #expect(TagUID.text([]).isEmpty) }

  @Test(arguments: [
    "", "-", "4", "04-", "-04", "04A2", "04--A2", "04:A2", "0x-04", "04-G2", "４４-04",
    "00-01-02-03-04-05-06-07-08-09-0A",
  ])
  func `any other text names no UID`(text: String) { #expect(TagUID.bytes(text) == nil) }
}
