import Rig
import TagsPages
import Testing

struct TagRoomTests {
  /// The table's longest message of a kind fills the tag.
  @Test func `the room of the tags is that of the table of exchanges`() throws {
    let page = String(decoding: try readFile("\(repositoryRoot)/docs/development/exchanges.md"), as: UTF8.self)
    var sizes: [String: Int] = [:]
    for line in page.split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
      guard cells.count == 4, let size = Int(cells[1]) else { continue }
      sizes[cells[0], default: 0] = max(sizes[cells[0], default: 0], size)
    }
    let names = [
      "MIFARE Ultralight": "Ultralight", "MIFARE Ultralight C": "Ultralight C",
      "NTAG213": "NTAG213 as it leaves the factory", "NTAG215": "NTAG215", "NTAG216": "NTAG216",
      "MIFARE Classic 1K": "MIFARE Classic 1K", "MIFARE Classic 4K": "MIFARE Classic 4K",
    ]
    let compared = TagRoom.common.filter { names[$0.name] != nil }
    #expect(compared.count == names.count)
    for room in compared { #expect(names[room.name].flatMap { sizes[$0] } == room.capacity, "\(room.name)") }
  }

  @Test func `the tags are in the order of their room, and the smallest that fits is named`() {
    let sizes = TagRoom.common.map(\.capacity)
    #expect(sizes == sizes.sorted())
    #expect(TagRoom.summary(46) == "Fits on: MIFARE Ultralight, and on larger tags")
    #expect(TagRoom.summary(138) == "Fits on: MIFARE Ultralight C, and on larger tags")
    #expect(TagRoom.summary(40_000) == "Does not fit on any of these tags")
    #expect(TagRoom.common[0].words(50) == "Does not fit: 4 bytes too long")
    #expect(TagRoom.common[0].words(6) == "Fits: 40 of 46 bytes are left")
  }
}
