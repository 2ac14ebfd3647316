import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Each kind of radio fault at every exchange, while the tag stays on the reader.
///
/// Reading returns the message, or it fails and the next attempt returns the message. Writing leaves the old message,
/// the new one or none.
@Suite struct RadioFaultTests {
  /// A kind of tag and the size of its messages. A message is large enough that reading or writing it takes several
  /// exchanges.
  struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let modulation: Modulation
    var unfinished: String?
    var size = 40
    let tag: @Sendable (_ message: [UInt8]) throws -> SimulatedTag

    static let all = [
      Kind(testDescription: "Type 1, static", modulation: .jewel, size: 12) { try .type1(.topaz96, message: $0) },
      Kind(testDescription: "Type 1, dynamic", modulation: .jewel, size: 120) { try .type1(.topaz512, message: $0) },
      Kind(testDescription: "Type 2, READ", modulation: .typeA) { try .type2(.ultralight, message: $0) },
      Kind(testDescription: "Type 2, FAST_READ", modulation: .typeA, size: 60) { try .type2(.ntag215, message: $0) },
      Kind(testDescription: "Type 2, sectors", modulation: .typeA) { try .type2(.ntagI2C2k, contents: overBorder($0)) },
      Kind(testDescription: "Type 3, Lite", modulation: .felica212, unfinished: unfinishedType3) {
        try .type3(message: $0, options: Type3Options(.liteS))
      },
      Kind(testDescription: "Type 3, several systems", modulation: .felica424, unfinished: unfinishedType3, size: 400) {
        try .type3(message: $0, options: Type3Options(.standardWithSeveralSystems))
      },
      Kind(testDescription: "Type 4A", modulation: .typeA, size: 150) { try .type4(message: $0, options: openCard) },
      Kind(testDescription: "Type 4B", modulation: .typeB, size: 150) { try .type4B(message: $0, options: openCard) },
      Kind(testDescription: "MIFARE Classic 1K", modulation: .typeA, size: 60) {
        try .mifareClassic(.mini, message: $0, sectors: [1, 2])
      },
      Kind(testDescription: "MIFARE Classic 4K", modulation: .typeA, size: 60) {
        try .mifareClassic(.classic4K, message: $0, sectors: [15, 17])
      },
    ]

    private static let unfinishedType3 = "damaged: the tag was removed while it was written"

    private static var openCard: Type4Options { Type4Options { $0.containerIsWritable = true } }

    /// A message that crosses the border between two sectors, behind a proprietary TLV block.
    private static func overBorder(_ message: [UInt8]) -> [UInt8] {
      let skipped = 1024 - 16 - 20 - 4
      return [0xFD, 0xFF, UInt8(skipped >> 8), UInt8(skipped & 0xFF)] + [UInt8](repeating: 0x55, count: skipped)
        + [0x03, UInt8(message.count)] + message + [0xFE]
    }
  }

  private func walk(_ kind: Kind, _ message: [UInt8]) -> TearWalk {
    TearWalk(kind.modulation, unfinished: kind.unfinished, accidents: TearWalk.Accident.radioFaults) {
      try kind.tag(message)
    }
  }

  @Test(arguments: Kind.all) func `reading returns the message or a temporary failure`(kind: Kind) throws {
    let message = ndefMessage(ofSize: kind.size)
    let report = try walk(kind, message).reading(message)
    #expect(report.findings.isEmpty)
  }

  @Test(arguments: Kind.all) func `writing leaves the old message, the new one or none`(kind: Kind) throws {
    let old = ndefMessage(ofSize: kind.size - 3, filledWith: 0x42)
    let report = try walk(kind, old).writing(ndefMessage(ofSize: kind.size), over: old)
    #expect(report.findings.isEmpty)
  }

  @Test(arguments: Kind.all) func `locking keeps the message`(kind: Kind) throws {
    let message = ndefMessage(ofSize: kind.size)
    let report = try walk(kind, message).locking(message)
    #expect(report.findings.isEmpty)
  }
}
