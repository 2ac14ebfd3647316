import NDEF
import TagrouteClient
import Testing

@testable import CommandLineTool

struct TagValueTests {
  @Test func `hexadecimal bytes are read and printed`() {
    #expect(Hexadecimal.bytes("00ff:1A") == [0, 0xFF, 0x1A])
    #expect(Hexadecimal.text([0, 0xFF, 0x1A]) == "00FF1A")
    for wrong in ["", "0", "0g", "0x12", "é", "+1"] { #expect(Hexadecimal.bytes(wrong) == nil, "\(wrong)") }
  }

  @Test func `a command has placeholders for the IDm and the UID`() throws {
    #expect(try RawCommand("3004").bytes(idm: []) == [0x30, 4])
    #expect(try RawCommand("02idm010F09").bytes(idm: [1, 2]) == [2, 1, 2, 1, 0x0F, 9])
    #expect(try RawCommand("2220uid00").bytes(idm: [], uid: [1, 2]) == [0x22, 0x20, 1, 2, 0])
    #expect(try RawCommand("UIDIDM").bytes(idm: [1], uid: [2]) == [2, 1])
    for wrong in ["", "IDX", "3", "0xIDM", "UI", "22UI", "UIDM", "2UID0"] {
      #expect(throws: Failure.self) { try RawCommand(wrong) }
    }
  }

  /// A Type 4 tag and a FeliCa card only say that they are read-only.
  @Test func `lock promises only what the technology gives`() {
    for technology in ["type-1", "type-2", "type-5", "mifare-classic"] {
      #expect(Command.statement(technology) == "is read-only for ever", "\(technology)")
    }
    for technology in ["type-3", "type-4a", "type-4b"] {
      let statement = Command.statement(technology)
      #expect(
        statement == "says now that it is read-only, and programs for NDEF respect that", "\(technology): \(statement)")
    }
  }

  @Test func `each kind of record is described in one line`() throws {
    let poster = SmartPosterRecord(uri: "https://example.com", titles: [TextRecord("A title", language: "en")])
    let records = [
      URIRecord("https://example.com/\u{202E}").record(), try TextRecord("Grüß Gott", language: "de").record(),
      try poster.record(), NDEFRecord(typeNameFormat: .mediaType, type: Array("image/png".utf8), payload: [1, 2]),
      .empty,
    ]
    let reports = RecordReport.all(in: try NDEFMessage(records: records).encoded())
    #expect(
      reports.map(\.line) == [
        "link: https://example.com/\u{202E}", "text (de): Grüß Gott", "smart poster: https://example.com (A title)",
        "media image/png, 2 bytes", "an empty record",
      ])
    #expect(reports[3].payload == "0102" && reports[3].format == "media" && reports[3].uri == nil)
    #expect(RecordReport.all(in: [1, 2, 3]).isEmpty)
  }

  @Test func `text for the sheet has no control characters and fits`() {
    #expect(Console.forSheet("a\nb\u{202E}") == "a\\u{a}b\\u{202e}")
    let long = Console.forSheet(String(repeating: "é", count: 300))
    #expect(long.utf8.count <= 256 && long.hasSuffix("…"))
  }

  @Test func `the environment of a command names the reader`() {
    #expect(
      Command.environment(["PATH": "/bin", "LIBNFC_AUTO_SCAN": "true"], device: "pn532_uart:/dev/x") == [
        "LIBNFC_AUTO_SCAN=false", "LIBNFC_DEFAULT_DEVICE=pn532_uart:/dev/x", "PATH=/bin",
        "TAGROUTE_DEVICE=pn532_uart:/dev/x",
      ])
    #expect(
      Command.environment(["LIBNFC_DEFAULT_DEVICE": "pn532_uart:/dev/other"], device: "pcsc:Example 00 00") == [
        "LIBNFC_AUTO_SCAN=false", "TAGROUTE_DEVICE=pcsc:Example 00 00",
      ])
  }
}
