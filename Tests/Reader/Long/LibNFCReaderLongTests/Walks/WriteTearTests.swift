import ReaderSimulator
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

/// Tags that are torn away while they program the bytes of one exchange.
@Suite struct WriteTearTests {
  static let samples: [(TagSample, Int, Int)] = [
    (.type1(.topaz96), 20, 0), (.type1(.topaz96), 6, 8), (.type1(.topaz512), 20, 40), (.type1(.topaz512), 260, 12),
    (.type1Dynamic, 30, 40), (.type2(.ultralight), 20, 24), (.type2(.ntag213, hasLockControl: true), 20, 12),
    (.type2(.ntag215), 0, 12), (.type2(.ntag215), 300, 0), (.type3(.liteS), 40, 20), (.type3(.standard), 150, 40),
    (.type4(.typeA, read: 246, write: 200, file: 400), 280, 300),
    (.type4(.typeA, version: 3, read: 246, write: 200, file: 400), 300, 20),
    (.type4(.typeB, read: 246, write: 200, file: 400), 20, 12),
  ]

  @Test(arguments: samples) func `a tag holds no other message`(tag: TagSample, sizes old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(tag, old, new)
  }

  /// Bytes that the tag already holds are not written, so the length matters most.
  @Test(arguments: 0...3, [(12, 16), (250, 256)])
  func `a Type 2 tag holds no other message wherever its length is`(nulls: Int, sizes: (old: Int, new: Int)) throws {
    try Self.expectNoOtherMessage(.type2(nulls: nulls), sizes.old, sizes.new, filledWith: 0x41)
  }

  /// Bytes that were not programmed keep their old values. A memory that erases the block first could hold the length
  /// and the first bytes of the message, followed by zeros. The layout of the specification cannot rule that out.
  @Test(arguments: [(0, 20), (60, 0), (40, 30), (300, 12)])
  func `a MIFARE Classic tag holds no other message`(old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(.classic(.classic1K), old, new, remainders: [.old])
  }

  private static func expectNoOtherMessage(
    _ tag: TagSample, _ old: Int, _ new: Int, filledWith byte: UInt8 = 0x42,
    remainders: [WriteTear.Remainder] = WriteTear.Remainder.allCases
  ) throws {
    let (old, new) = (ndefMessage(ofSize: old), ndefMessage(ofSize: new, filledWith: byte))
    let report = try tag.walk(old).tearingWrites(of: new, over: old, remainders: remainders)
    #expect(report.findings == [])
    #expect(report.exchanges > 0)
  }
}
