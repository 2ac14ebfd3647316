import Testing

@testable import Agent

/// The language in which a tag with several languages is shown.
struct UserLanguagesTests {
  @Test(arguments: [
    (["LANG": "de_AT.UTF-8@euro"], ["de-AT", "de"]),
    (["LANG": "pt_BR.UTF-8"], ["pt-BR", "pt"]),
    (["LANG": "zh_TW.UTF-8"], ["zh-TW", "zh-Hant", "zh"]),
    (["LANG": "sr_RS@latin"], ["sr-Latn", "sr-RS", "sr"]),
    // gettext's order: LANGUAGE, LC_ALL, LC_MESSAGES, LANG. In the C locale none of them applies.
    (["LANG": "en_GB.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"], ["fr-FR", "fr"]),
    (["LANG": "en_GB", "LC_MESSAGES": "fr_FR", "LC_ALL": "de_DE"], ["de-DE", "de"]),
    (["LANG": "en_GB.UTF-8", "LANGUAGE": "ja:pt_BR:en"], ["ja", "pt-BR", "pt", "en", "en-GB"]),
    (["LC_ALL": "C.UTF-8", "LANGUAGE": "ko"], ["ko"]),
    // English, as our own texts in that case.
    (["LC_ALL": "C", "LANGUAGE": "ko"], ["en"]), (["LANG": "C"], ["en"]), (["LANG": "POSIX"], ["en"]),
    (["LANG": ""], ["en"]), (["LANG": "_@.:"], ["en"]), (["LANG": "de@"], ["de"]), ([:], ["en"]),
  ])
  func `language codes have the form that tags use`(environment: [String: String], codes: [String]) {
    #expect(UserLanguages.codes(in: environment) == codes)
  }
}
