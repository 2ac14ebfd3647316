import ReaderSimulator
import Tags
import Testing

@testable import Reader

/// One tag of several, selected with the field off before.
@Suite(.timeLimit(.minutes(1))) struct SelectingTests {
  /// They are alike but for their identifiers, and which one the chip finds first differs from look to look.
  @Test func oneOfTwoCardsOfTypeBIsSelectedAnew() async throws {
    try await withOpenReader { reader in
      for last in 1...2 as ClosedRange<UInt8> {
        _ = reader.place(try .type4B(message: [], pupi: .fixed([0x70, 0x11, 0x22, last])))
      }
      let tags = try reader.device.list(.typeB, atMost: 2)
      #expect(tags.count == 2)
      for _ in 1...60 {
        for tag in tags {
          let again = try #require(try reader.device.selectAnew(tag))
          #expect(again.isSameTag(as: tag))
          // It is the one that listens.
          #expect(try reader.device.isCardPresent())
        }
      }
    }
  }

  @Test func aCardThatMakesUpItsIdentifierIsSelectedAnewBesideOneOfItsMake() async throws {
    try await withOpenReader { reader in
      let fixed = try TagPUPI.fixed([0x70, 0x11, 0x22, 0x33])
      _ = reader.place(try .type4B(message: [], pupi: .random))
      let random = try #require(try reader.device.select(.typeB))
      let id = reader.place(try .type4B(message: [], pupi: fixed))
      #expect(try reader.device.selectAnew(random)?.isAlike(random) == true)
      _ = reader.remove(id)
      let again = try #require(try reader.device.selectAnew(random))
      #expect(again.isAlike(random) && !again.isSameTag(as: random))
    }
  }

  /// From one command to the next the field may be off for less time than a tag keeps its power.
  @Test(arguments: [Modulation.typeA, .felica212])
  func aTagHasLostItsPowerWhenItIsSelectedAnew(modulation: Modulation) async throws {
    try await withOpenReader(timing: .immediate.keepingPower) { reader in
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
}
