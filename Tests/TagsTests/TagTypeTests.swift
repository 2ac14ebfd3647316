import Names
import Tags
import Testing

@Suite struct TagTypeTests {
  @Test(
    arguments: [
      (0x00, TagType.type2), (0x20, .type4A), (0x28, .type4A), (0x60, .type4A), (0x40, .peer), (0x08, .mifareClassic),
      (0x18, .mifareClassic), (0x09, .mifareClassic), (0x04, .type2),
    ] as [(UInt8, TagType)])
  func `the select acknowledge determines the tag type`(_ sak: UInt8, _ type: TagType) {
    #expect(TypeAActivation(atqa: [0, 4], sak: sak, uid: [1, 2, 3, 4]).type == type)
  }

  @Test func `the first byte of an ATS is its length`() {
    func isValid(_ ats: [UInt8]) -> Bool {
      TypeAActivation(atqa: [0, 4], sak: 0x20, uid: [1, 2, 3, 4], ats: ats).hasValidATS
    }
    #expect(isValid([]))
    #expect(isValid([1]))
    #expect(isValid([3, 0x75, 0x77]))
    #expect(!isValid([0]))
    #expect(!isValid([9, 0x75]))
  }

  @Test func `a peer device is unsupported and gets no command`() throws {
    var channel = ScriptedChannel([])
    let device = TagActivation.typeA(TypeAActivation(atqa: [0, 4], sak: 0x40, uid: [8, 2, 3, 4]))
    #expect(try device.readNDEF(over: &channel).problem?.code == .unsupported)
    #expect(channel.count == 0)
  }
}
