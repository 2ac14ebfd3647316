import NDEF
import Testing

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
