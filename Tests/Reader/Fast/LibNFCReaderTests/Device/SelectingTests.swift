import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

/// One of several tags is selected after the field was off.
@Suite struct SelectingTests {
  /// The cards differ only in their identifiers. The chip does not always find the same one first.
  @Test func `one of two Type B cards is selected again`() throws {
    let reader = try OpenReader()
    for last in 1...2 as ClosedRange<UInt8> {
      _ = reader.place(try .type4B(message: [], pupi: .fixed([0x70, 0x11, 0x22, last])))
    }
    let tags = try reader.device.list(.typeB, atMost: 2)
    #expect(tags.count == 2)
    for _ in 1...60 {
      for tag in tags {
        let again = try #require(try reader.device.selectAnew(tag))
        #expect(again.isSameTag(as: tag))
        // The selected card is the one that answers.
        #expect(try reader.device.isCardPresent())
      }
    }
  }

  @Test func `a card with a random PUPI is selected again beside another card of its make`() throws {
    let reader = try OpenReader()
    let fixed = try TagPUPI.fixed([0x70, 0x11, 0x22, 0x33])
    _ = reader.place(try .type4B(message: [], pupi: .random))
    let random = try #require(try reader.device.select(.typeB))
    let id = reader.place(try .type4B(message: [], pupi: fixed))
    #expect(try reader.device.selectAnew(random)?.isAlike(random) == true)
    _ = reader.remove(id)
    let again = try #require(try reader.device.selectAnew(random))
    #expect(again.isAlike(random) && !again.isSameTag(as: random))
  }

  /// Between two commands, the field may be off for less time than a tag keeps its power.
  @Test(arguments: [Modulation.typeA, .felica212])
  func `a tag has lost its power when it is selected again`(modulation: Modulation) throws {
    let reader = try OpenReader(timing: .immediate.keepingPower)
    _ = reader.place(
      try modulation.isFeliCa
        ? .type3(message: [], options: Type3Options(.phone)) : .type4(message: [], uid: .random))
    var tag = try #require(try reader.device.select(modulation))
    for _ in 1...5 {
      let again = try #require(try reader.device.selectAnew(tag))
      #expect(again.identifier != tag.identifier)
      tag = again
    }
  }
}
