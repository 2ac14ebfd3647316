import NDEF
import Testing

@Suite struct SmartPosterRecordTests {
  /// Smart Poster RTD 1.0, appendix A.1: only a URI.
  @Test func `the example of the specification is read and written`() throws {
    let encoded = bytes("D1 02 12 5370  D1 01 0E 55 01 6E66632D666F72756D2E6F7267")
    let record = try #require(try NDEFMessage(decoding: encoded).records.first)
    let poster = try SmartPosterRecord(record)
    #expect(poster == SmartPosterRecord(uri: "http://www.nfc-forum.org"))
    #expect(try NDEFMessage(records: [poster.record()]).encoded() == encoded)
  }

  static let icon = NDEFRecord(typeNameFormat: .mediaType, type: Array("Image/png".utf8), payload: [0x89])
  static let full = SmartPosterRecord(
    uri: "https://example.com/menu",
    titles: [TextRecord("Menu", language: "en"), TextRecord("Speisekarte", language: "de", encoding: .utf16)],
    action: .save,
    icons: [icon],
    size: 0x0102_0304,
    mediaType: "text/html",
    others: [NDEFRecord(typeNameFormat: .external, type: Array("example.com:x".utf8), payload: [1])])

  @Test func `every field is written and read`() throws {
    let record = try Self.full.record(id: [0x31])
    #expect(record.id == [0x31])
    #expect(try SmartPosterRecord(record) == Self.full)
    let types = try NDEFMessage(decoding: record.payload).records.map { String(decoding: $0.type, as: UTF8.self) }
    #expect(types == ["U", "T", "T", "act", "Image/png", "s", "t", "example.com:x"])
  }

  @Test func `the order of the records does not matter`() throws {
    let payload = bytes("91 03 01 616374 02  11 01 04 73 00000100  51 01 02 55 05 31")
    let poster = try SmartPosterRecord(.wellKnown("Sp", payload: payload))
    #expect(poster == SmartPosterRecord(uri: "tel:1", action: .edit, size: 256))
  }

  @Test func `a reserved action is kept`() throws {
    let poster = SmartPosterRecord(uri: "tel:1", action: .init(rawValue: 7))
    #expect(try SmartPosterRecord(poster.record()) == poster)
  }

  @Test func `a title is chosen by language`() {
    #expect(Self.full.title(inPreferred: ["fr", "DE"])?.text == "Speisekarte")
    #expect(Self.full.title(inPreferred: ["fr"])?.text == "Menu")
    #expect(SmartPosterRecord(uri: "tel:1").title(inPreferred: ["fr"]) == nil)
  }

  @Test(arguments: [
    // 3.3: the payload is a message.
    ("", NDEFError.Code.noRecords, 0), ("91 01 02 55 05 31", .messageEnd, 6),
    // 3.3.1: exactly one URI.
    ("D0 00 00", .nestedRecord, 3), ("91 01 02 55 05 31  51 01 02 55 05 31", .nestedRecord, 10),
    ("D1 01 00 55", .truncated, 4), ("D1 01 03 55 05 31 FF", .characterEncoding, 6),
    // 3.3.2: one title per language, ignoring case.
    ("91 01 02 55 05 31  11 01 03 54 02656E  51 01 03 54 02454E", .nestedRecord, 17),
    // 3.3.3: an action of one byte, once.
    ("91 01 02 55 05 31  51 03 00 616374", .nestedRecord, 12),
    ("91 01 02 55 05 31  51 03 02 616374 0000", .nestedRecord, 12),
    ("91 01 02 55 05 31  11 03 01 616374 00  51 03 01 616374 00", .nestedRecord, 19),
    // 3.3.5: a size of four bytes, once.
    ("91 01 02 55 05 31  51 01 03 73 000000", .nestedRecord, 10),
    ("91 01 02 55 05 31  11 01 04 73 00000000  51 01 04 73 00000000", .nestedRecord, 18),
    // 3.3.6: a media type in UTF-8, once.
    ("91 01 02 55 05 31  51 01 01 74 FF", .characterEncoding, 10),
    ("91 01 02 55 05 31  11 01 00 74  51 01 00 74", .nestedRecord, 14),
    // An invalid poster within the poster.
    ("91 01 02 55 05 31  51 02 03 5370 D00000", .nestedRecord, 14),
  ])
  func `malformed posters are rejected with offset and reason`(hex: String, code: NDEFError.Code, offset: Int) {
    let error = #expect(throws: NDEFError.self) { try SmartPosterRecord(.wellKnown("Sp", payload: bytes(hex))) }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(error?.offset == offset, "\(String(describing: error))")
  }

  @Test(arguments: [
    SmartPosterRecord(uri: "tel:1", titles: [TextRecord("a", language: "")]),
    SmartPosterRecord(uri: "tel:1", titles: [TextRecord("a", language: "en"), TextRecord("b", language: "EN")]),
    SmartPosterRecord(uri: "tel:1", icons: [NDEFRecord(typeNameFormat: .mediaType, type: Array("text/html".utf8))]),
    SmartPosterRecord(uri: "tel:1", others: [icon]),
    SmartPosterRecord(uri: "tel:1", others: [URIRecord("tel:2").record()]),
    SmartPosterRecord(uri: "tel:1", others: [NDEFRecord(typeNameFormat: .unchanged)]),
  ])
  func `a poster that could not be read back is not written`(poster: SmartPosterRecord) {
    #expect(throws: NDEFError.self) { try poster.record() }
  }

  @Test func `the nesting of posters is limited`() throws {
    var poster = SmartPosterRecord(uri: "tel:1")
    for _ in 1..<4 { poster = SmartPosterRecord(uri: "tel:1", others: [try poster.record()]) }
    let four = try poster.record()
    #expect(try SmartPosterRecord(four) == poster)

    let outer = NDEFMessage(records: [URIRecord("tel:1").record(), four])
    let five = NDEFRecord.wellKnown("Sp", payload: try outer.encoded())
    #expect(throws: NDEFError.self) { try SmartPosterRecord(five) }
    #expect(try SmartPosterRecord(five, limits: NDEFLimits(nesting: 5)).others == [four])
    let error = #expect(throws: NDEFError.self) { try SmartPosterRecord(four, limits: NDEFLimits(nesting: 0)) }
    #expect(error?.code == .limit)
  }

  @Test func `a record of another type is rejected`() {
    let error = #expect(throws: NDEFError.self) { try SmartPosterRecord(URIRecord("tel:1").record()) }
    #expect(error?.code == .wrongType)
  }
}
