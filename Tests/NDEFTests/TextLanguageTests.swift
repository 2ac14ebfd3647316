import NDEF
import Testing

/// Which of several texts is for a reader of these languages.
struct TextLanguageTests {
  @Test(arguments: [
    (["en", "de"], ["de-AT", "de"], "de"), (["en", "DE-at", "de"], ["de-AT", "de"], "DE-at"),
    (["en", "pt-BR"], ["pt"], "pt-BR"), (["en", "pt"], ["pt-BR", "pt"], "pt"),
    // In another variant rather than in another language, but the very one before it.
    (["en", "pt-PT"], ["pt-BR", "pt", "en"], "pt-PT"), (["pt-BR", "pt"], ["pt"], "pt"),
    (["zh-Hans", "zh-Hant"], ["zh-TW", "zh-Hant", "zh"], "zh-Hant"), (["en", "por"], ["pt"], "en"),
    (["fr", "en"], ["ja"], "fr"), (["fr", "en"], [], "fr"),
  ])
  func `of several texts the one in the user's language is shown`(texts: [String], languages: [String], shown: String) {
    #expect(texts.map { TextRecord($0, language: $0) }.preferred(in: languages)?.text == shown)
  }

  @Test func `where there is no text there is none to show`() {
    #expect([TextRecord]().preferred(in: ["de"]) == nil)
  }

  @Test func `a poster's title is chosen by the same rule`() {
    let poster = SmartPosterRecord(
      uri: "tel:1", titles: [TextRecord("メニュー", language: "ja"), TextRecord("Cardápio", language: "pt-BR")])
    #expect(poster.title(inPreferred: ["pt"])?.text == "Cardápio")
    #expect(poster.title(inPreferred: ["pt-PT"])?.text == "メニュー")
  }
}
