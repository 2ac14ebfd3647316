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
    // English, as our own words are then.
    (["LC_ALL": "C", "LANGUAGE": "ko"], ["en"]), (["LANG": "C"], ["en"]), (["LANG": "POSIX"], ["en"]),
    (["LANG": ""], ["en"]), (["LANG": "_@.:"], ["en"]), (["LANG": "de@"], ["de"]), ([:], ["en"]),
  ])
  func `languages are named as tags name them`(environment: [String: String], codes: [String]) {
    #expect(UserLanguages.codes(in: environment) == codes)
  }
}
