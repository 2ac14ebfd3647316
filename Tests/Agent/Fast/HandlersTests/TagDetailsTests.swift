import Bus
import Testing

@testable import Handlers

@Suite struct TagDetailsTests {
  private static let reader = "/org/tagroute/Tagroute1/readers/0"

  @Test func `a handler gets the same values over D-Bus and in its environment`() {
    let tag = TagDetails(
      uid: [0x04, 0xA2, 0x19, 0x5A], technology: "type-2", reader: Self.reader, time: 1_795_000_000_000_000)
    #expect(
      tag.platformData == [
        "uid": .bytes([0x04, 0xA2, 0x19, 0x5A]), "technology": .string("type-2"), "reader": .string(Self.reader),
        "time": .uint64(1_795_000_000_000_000),
      ])
    #expect(
      tag.environment == [
        "TAGROUTE_UID": "04-A2-19-5A", "TAGROUTE_TECHNOLOGY": "type-2", "TAGROUTE_READER": Self.reader,
        "TAGROUTE_TIME": "1795000000000000",
      ])
  }

  @Test func `an empty value, and a reader that is no object path, are omitted`() {
    for reader in ["", "$(reboot)"] {
      let tag = TagDetails(uid: [], technology: "", reader: reader, time: 0)
      #expect(tag.platformData == ["time": .uint64(0)])
      #expect(tag.environment == ["TAGROUTE_TIME": "0"])
    }
  }

  @Test(arguments: ["two words", "a\nb", "a\0b", "a\u{1B}[2J", "é", String(repeating: "a", count: 256)])
  func `a value that an environment must not contain is omitted`(text: String) {
    let tag = TagDetails(uid: [UInt8](repeating: 4, count: 11), technology: text, reader: "/" + text, time: 1)
    #expect(tag.platformData == ["time": .uint64(1)])
    #expect(tag.environment == ["TAGROUTE_TIME": "1"])
  }
}
