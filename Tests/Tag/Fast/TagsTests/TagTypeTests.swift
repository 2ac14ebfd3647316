import Names
import Testing

@testable import Tags

@Suite struct TagTypeTests {
  @Test(
    arguments: [
      (0x00, TagType.type2), (0x20, .type4A), (0x28, .type4A), (0x60, .type4A), (0x40, .peer), (0x08, .mifareClassic),
      (0x18, .mifareClassic), (0x09, .mifareClassic), (0x04, .type2),
    ] as [(UInt8, TagType)])
  func `the select acknowledge determines the tag type`(_ sak: UInt8, _ type: TagType) {
    #expect(TypeAActivation(atqa: [0, 4], sak: sak, uid: [1, 2, 3, 4]).type == type)
  }

  @Test func `a reader may report the type without SAK, ATQA and ATS`() {
    let card = TypeAActivation(type: .type4A, uid: [4, 1, 2, 3, 4, 5, 6], historicalBytes: [0x80])
    #expect(card.type == .type4A && card.sak == nil && card.atqa.isEmpty && card.ats.isEmpty)
    #expect(card.historicalBytes == [0x80] && card.hasValidATS)
    #expect(TagActivation.typeA(card).type == .type4A && TagActivation.typeA(card).identifier == card.uid)
    #expect(TypeAActivation(type: .type2, uid: [1, 2, 3, 4]).historicalBytes.isEmpty)
    // The number of sectors of a MIFARE Classic is then unknown, and its directory limits them.
    #expect(MIFAREClassicSector.count(sak: nil) == 40 && MIFAREClassicSector.count(sak: 0x08) == 16)
  }

  /// The first byte of an answer to select is its length.
  @Test(
    arguments: [
      ([], [], true), ([1], [], true), ([2, 0x75], [], true), ([6, 0x75, 0x77, 0x81, 0x02, 0x80], [0x80], true),
      ([4, 0x05, 1, 2], [1, 2], true), ([3, 0x75, 0x77], [], true), ([9, 0x75, 0x77], [], false), ([0], [], false),
    ] as [([UInt8], [UInt8], Bool)])
  func `the historical bytes of a valid ATS follow the interface bytes`(
    ats: [UInt8], historical: [UInt8], isValid: Bool
  ) {
    let card = TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: [1, 2, 3, 4], ats: ats)
    #expect(card.historicalBytes == historical && card.hasValidATS == isValid)
  }

  @Test func `a tag of ISO 15693 is of Type 5`() {
    #expect(TagActivation.type5.type == .type5)
    #expect(TagActivation.type5.identifier == [0xE0, 4, 1, 2, 3, 4, 5, 6])
    #expect(TagType.readable.contains(.type5) && TagType(rawValue: "type-5") == .type5)
  }

  @Test func `a peer device is unsupported and gets no command`() throws {
    var channel = ScriptedChannel([])
    let device = TagActivation.typeA(TypeAActivation(atqa: [0, 4], sak: 0x40, uid: [8, 2, 3, 4]))
    #expect(try device.readNDEF(over: &channel).problem?.code == .unsupported)
    #expect(channel.count == 0)
  }
}
