import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Tags that are torn away while they program the bytes of one exchange, on the simulated chip.
@Suite struct WriteTearTests {
  private static func expectNoOtherMessage(
    _ old: Int, _ new: Int, _ modulation: Modulation, filledWith byte: UInt8 = 0x42,
    remainders: [WriteTear.Remainder] = WriteTear.Remainder.allCases,
    _ makeTag: @escaping ([UInt8]) throws -> SimulatedTag
  ) throws {
    let (old, new) = (ndefMessage(ofSize: old), ndefMessage(ofSize: new, filledWith: byte))
    let report = try TearWalk(modulation) { try makeTag(old) }.tearingWrites(
      of: new, over: old, remainders: remainders)
    #expect(report.findings == [])
    #expect(report.exchanges > 0)
  }

  @Test(arguments: [(Type1Model.topaz96, 20, 0), (.topaz96, 6, 8), (.topaz512, 20, 40), (.topaz512, 260, 12)])
  func `a Type 1 tag holds no other message`(model: Type1Model, old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(old, new, .jewel) { try .type1(model, message: $0) }
  }

  /// The NDEF TLV block lies in memory that is written in blocks of eight bytes.
  @Test func `a Type 1 tag holds no other message behind static memory`() throws {
    let other: [UInt8] = [0xFD, 120] + [UInt8](repeating: 7, count: 120)
    let controls: [UInt8] = [0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03]
    try Self.expectNoOtherMessage(30, 40, .jewel) { old in
      try .type1(.topaz512, contents: controls + other + [0x03, UInt8(old.count)] + old + [0xFE])
    }
  }

  @Test(arguments: [
    (SimulatedType2Model.ultralight, 20, 24, false), (.ntag213, 20, 12, true), (.ntag215, 0, 12, false),
    (.ntag215, 300, 0, false),
  ])
  func `a Type 2 tag holds no other message`(model: SimulatedType2Model, old: Int, new: Int, hasLockControl: Bool)
    throws
  {
    try Self.expectNoOtherMessage(old, new, .typeA) {
      try .type2(model, message: $0, hasLockControl: hasLockControl)
    }
  }

  /// The length lies anywhere in its page or crosses two pages.
  @Test(arguments: 0...3, [(12, 16), (250, 256)])
  func `a Type 2 tag holds no other message wherever its TLV block begins`(nulls: Int, sizes: (old: Int, new: Int))
    throws
  {
    // Bytes that the tag already holds are not written, so the length matters most.
    try Self.expectNoOtherMessage(sizes.old, sizes.new, .typeA, filledWith: 0x41) { old in
      let length = old.count < 255 ? [UInt8(old.count)] : [0xFF, UInt8(old.count >> 8), UInt8(old.count & 0xFF)]
      return try .type2(.ntag215, contents: [UInt8](repeating: 0, count: nulls) + [0x03] + length + old + [0xFE])
    }
  }

  @Test(arguments: [(Type3Options.Model.liteS, 40, 20), (.standard, 150, 40)])
  func `a Type 3 tag holds no other message`(model: Type3Options.Model, old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(old, new, .felica212) {
      try .type3(message: $0, idm: [0x01, 0x2E, 1, 2, 3, 4, 5, 6], options: Type3Options(model))
    }
  }

  @Test(arguments: [(Modulation.typeA, (2, 280, 300)), (.typeA, (3, 300, 20)), (.typeB, (2, 20, 12))])
  func `a Type 4 tag holds no other message`(modulation: Modulation, sizes: (version: Int, old: Int, new: Int)) throws {
    var options = Type4Options()
    (options.maximumRead, options.maximumWrite, options.fileSize) = (246, 200, 400)
    options.mappingVersion = sizes.version
    try Self.expectNoOtherMessage(sizes.old, sizes.new, modulation) { [options] in
      modulation == .typeB
        ? try .type4B(message: $0, pupi: .fixed([1, 2, 3, 4]), options: options)
        : try .type4(message: $0, uid: .fixed([4, 1, 2, 3, 4, 5, 6]), options: options)
    }
  }

  /// Bytes that were not programmed keep their old values. A memory that erases the block first could hold the length
  /// and the first bytes of the message, followed by zeros. The layout of the specification cannot rule that out.
  @Test(arguments: [(0, 20), (60, 0), (40, 30), (300, 12)])
  func `a MIFARE Classic tag holds no other message`(old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(old, new, .typeA, remainders: [.old]) {
      try .mifareClassic(.classic1K, message: $0)
    }
  }
}
