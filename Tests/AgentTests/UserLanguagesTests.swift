import NDEF
import Testing

@testable import Agent

/// Whose words are shown of a tag that has them in several languages.
struct UserLanguagesTests {
  @Test(arguments: [
    (["LANG": "de_AT.UTF-8@euro"], ["de-AT", "de"]),
    (["LANG": "pt_BR.UTF-8"], ["pt-BR", "pt"]),
    (["LANG": "zh_TW.UTF-8"], ["zh-TW", "zh-Hant", "zh"]),
    (["LANG": "sr_RS@latin"], ["sr-Latn", "sr-RS", "sr"]),
    // gettext's order: LANGUAGE before LC_ALL before LC_MESSAGES before LANG, and nothing of it in the C locale.
    (["LANG": "en_GB.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"], ["fr-FR", "fr"]),
    (["LANG": "en_GB", "LC_MESSAGES": "fr_FR", "LC_ALL": "de_DE"], ["de-DE", "de"]),
    (["LANG": "en_GB.UTF-8", "LANGUAGE": "ja:pt_BR:en"], ["ja", "pt-BR", "pt", "en", "en-GB"]),
    (["LC_ALL": "C.UTF-8", "LANGUAGE": "ko"], ["ko"]),
    (["LC_ALL": "C", "LANGUAGE": "ko"], []),
    (["LANG": ""], []), (["LANG": "_@.:"], []), (["LANG": "de@"], ["de"]), ([:], []),
  ])
  func `languages are named as tags name them`(environment: [String: String], codes: [String]) {
    #expect(UserLanguages.codes(in: environment) == codes)
  }

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
}
