import NDEF
import Testing

@Suite struct TextRecordTests {
  /// RTD-Text 1.0, appendix A.
  @Test func `the example of the specification is read and written`() throws {
    let encoded = bytes("D1 01 10 54 02 656E 48656C6C6F2C20776F726C6421")
    let record = try #require(try NDEFMessage(decoding: encoded).records.first)
    let text = try TextRecord(record)
    #expect(text == TextRecord("Hello, world!", language: "en"))
    #expect(try NDEFMessage(records: [text.record()]).encoded() == encoded)
  }

  @Test(arguments: [
    // 3.2.1: the reserved bit of the status byte is ignored.
    ("02 656E", "", "en", TextRecord.Encoding.utf8), ("42 656E 61", "a", "en", .utf8),
    ("05 70742D4252 C3A3", "ã", "pt-BR", .utf8),
    // 3.4: the byte order mark gives the order of UTF-16. Without a mark it is big-endian.
    ("82 656E", "", "en", .utf16), ("82 656E FEFF", "", "en", .utf16), ("82 656E 0061 00E3", "aã", "en", .utf16),
    ("82 656E FEFF 0061", "a", "en", .utf16), ("82 656E FFFE 6100", "a", "en", .utf16),
    ("82 656E D83D DE00", "😀", "en", .utf16), ("82 656E FFFE 3DD8 00DE", "😀", "en", .utf16),
    // Only the first one is a byte order mark.
    ("82 656E FEFF FEFF 0061", "\u{FEFF}a", "en", .utf16),
    ("82 656E 0061 FFFE", "a\u{FFFE}", "en", .utf16),
  ])
  func `a text record is read`(hex: String, text: String, language: String, encoding: TextRecord.Encoding) throws {
    let view = try TextRecord(.wellKnown("T", payload: bytes(hex)))
    #expect(Array(view.text.unicodeScalars) == Array(text.unicodeScalars))
    #expect(view.language == language)
    #expect(view.encoding == encoding)
    #expect(try TextRecord(view.record()) == view)
  }

  @Test(arguments: [
    ("", NDEFError.Code.truncated, 0),
    ("02 65", .truncated, 1),
    ("3F", .truncated, 1),
    ("02 65C3", .language, 2),
    ("02 656E 61FF", .characterEncoding, 4),
    ("02 656E EDA080", .characterEncoding, 3),
    ("82 656E 00", .characterEncoding, 3),
    ("82 656E FEFF 00", .characterEncoding, 5),
    ("82 656E 0061 00", .characterEncoding, 5),
    ("82 656E D83D", .characterEncoding, 3),
    ("82 656E 0061 D83D 0061", .characterEncoding, 5),
    ("82 656E 0061 DE00", .characterEncoding, 5),
    ("82 656E FFFE 00DE", .characterEncoding, 5),
    ("82 656E D83D DE", .characterEncoding, 3),
  ])
  func `malformed text is rejected with offset and reason`(hex: String, code: NDEFError.Code, offset: Int) {
    let error = #expect(throws: NDEFError.self) { try TextRecord(.wellKnown("T", payload: bytes(hex))) }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(error?.offset == offset, "\(String(describing: error))")
  }

  @Test func `a record of another type is rejected`() {
    let error = #expect(throws: NDEFError.self) { try TextRecord(URIRecord("tel:1").record()) }
    #expect(error?.code == .wrongType)
  }

  @Test func `UTF-16 is written with a byte order mark`() throws {
    let record = try TextRecord("a😀", language: "en", encoding: .utf16).record(id: [0x31])
    #expect(record.payload == bytes("82 656E FEFF 0061 D83D DE00"))
    #expect(record.id == [0x31])
  }

  /// Section 3.2.2 requires a language, and writers leave it out.
  @Test func `a text without a language is read`() throws {
    #expect(try TextRecord(.wellKnown("T", payload: bytes("00 61"))) == TextRecord("a", language: ""))
    #expect(try TextRecord(.wellKnown("T", payload: bytes("00"))) == TextRecord("", language: ""))
  }

  @Test(arguments: ["", "é", String(repeating: "x", count: 64)])
  func `an empty, non-ASCII or overlong language is not written`(language: String) {
    let error = #expect(throws: NDEFError.self) { try TextRecord("a", language: language).record() }
    #expect(error?.code == .language)
  }

  @Test func `the longest language can be written`() throws {
    let text = TextRecord("a", language: String(repeating: "x", count: 63))
    #expect(try TextRecord(text.record()) == text)
  }
}

/// Chooses one of several texts for a user with these languages.
struct TextLanguageTests {
  @Test(arguments: [
    (["en", "de"], ["de-AT", "de"], "de"), (["en", "DE-at", "de"], ["de-AT", "de"], "DE-at"),
    (["en", "pt-BR"], ["pt"], "pt-BR"), (["en", "pt"], ["pt-BR", "pt"], "pt"),
    // Another variant of the language is better than another language. An exact match is better than both.
    (["en", "pt-PT"], ["pt-BR", "pt", "en"], "pt-PT"), (["pt-BR", "pt"], ["pt"], "pt"),
    (["zh-Hans", "zh-Hant"], ["zh-TW", "zh-Hant", "zh"], "zh-Hant"), (["en", "por"], ["pt"], "en"),
    (["fr", "en"], ["ja"], "fr"), (["fr", "en"], [], "fr"),
  ])
  func `the text in the language of the user is chosen`(texts: [String], languages: [String], shown: String) {
    #expect(texts.map { TextRecord($0, language: $0) }.preferred(in: languages)?.text == shown)
  }

  @Test func `without texts none is chosen`() {
    #expect([TextRecord]().preferred(in: ["de"]) == nil)
  }

  @Test func `the title of a poster is chosen by the same rule`() {
    let poster = SmartPosterRecord(
      uri: "tel:1", titles: [TextRecord("メニュー", language: "ja"), TextRecord("Cardápio", language: "pt-BR")])
    #expect(poster.title(inPreferred: ["pt"])?.text == "Cardápio")
    #expect(poster.title(inPreferred: ["pt-PT"])?.text == "メニュー")
  }
}
