import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Each kind of tag on the simulated chip.
@Suite struct AccessTests {
  /// Kinds of tags, and the longest message that fits.
  static let samples: [(TagSample, Int)] =
    Type1Model.all.map { (.type1($0), $0.capacity) }
    + SimulatedType2Model.all.map { (.type2($0), $0.capacity - ($0.capacity > 256 ? 4 : 2)) }
    + [Type3Options.Model.liteS, .standard, .standardWithSeveralSystems].map {
      (.type3($0), Type3Options($0).blockCount * 16)
    } + [
      (.type4(.typeA, file: 1_000), 998), (.type4(.typeB, file: 1_000), 998), (.classic(.classic1K), 716),
      (.classic(.classic4K), 3_356),
    ]

  /// The sizes are around every border: empty, one page or block, both forms of the length, the second sector.
  @Test(arguments: samples)
  func `messages from empty to full capacity are written`(tag: TagSample, capacity: Int) throws {
    let reader = try OpenReader()
    let id = reader.place(try tag.make(ndefMessage(ofSize: 20)))
    var channel = try reader.select(tag.modulation)
    let status = try channel.tag.queryNDEF(over: &channel)
    #expect(status.access == .readWrite && status.capacity == capacity)
    let sizes = [3, capacity, 0, 1, 12, 13, 15, 16, 17, 40, 80, 90, 91, 254, 255, 256, 300, 1000, 1010, 1500, 5]
    for size in sizes where size <= capacity {
      let message = ndefMessage(ofSize: size, filledWith: UInt8(size & 0xFF) | 1)
      try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
    }
    let before = reader.memory(of: id)
    #expect(throws: TagWriteError.tooLong(capacity: capacity)) {
      try channel.tag.writeNDEF([UInt8](repeating: 0, count: capacity + 1), over: &channel)
    }
    #expect(reader.memory(of: id) == before)
  }

  @Test(arguments: samples.map(\.0) + SimulatedType2Model.all.map { .type2($0, hasLockControl: true) })
  func `a locked tag keeps its message`(tag: TagSample) throws {
    let reader = try OpenReader()
    let message = ndefMessage(ofSize: 30)
    let id = reader.place(try tag.make(message))
    var channel = try reader.select(tag.modulation)
    try channel.tag.lockNDEF(over: &channel)
    let locked = reader.memory(of: id)
    #expect(try channel.tag.queryNDEF(over: &channel).access == .readOnly)
    #expect(throws: TagWriteError.readOnly) { try channel.tag.writeNDEF([], over: &channel) }
    #expect(throws: TagWriteError.readOnly) { try channel.tag.lockNDEF(over: &channel) }
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
    #expect(reader.memory(of: id) == locked)
  }
}
