import Testing

@testable import Localization

/// A catalogue is untrusted input.
struct TranslationTests {
  @Test(arguments: [
    ("Open in {app}", "Open in Menu"), ("{app} で開く", "Menu で開く"), ("{app}, {app}!", "Menu, Menu!"), ("{app}", "Menu"),
    // A translation without the name of the app, or with an unknown placeholder, is not used.
    ("Open", nil), ("", nil), ("Open in {name}", nil), ("Open {app} in {}", nil), ("Open {app} in {", nil),
    ("{{app}}", nil), ("%s {app} %n %1$s", "%s Menu %n %1$s"),
  ])
  func `a translation is used only if it has exactly the expected placeholders`(template: String, text: String?) {
    #expect(Translation.filled(template, ["app": "Menu"]) == text)
  }

  @Test func `an inserted value is not expanded again`() {
    let filled = Translation.filled("{domain}: {app}", ["app": "{domain} %s {}", "domain": "{app}"])
    #expect(filled == "{app}: {domain} %s {}")
    #expect(Translation.filled("50 %", [:]) == "50 %" && Translation.filled("{", [:]) == nil)
  }

  @Test func `catalogues are beside the directory of the program, or in one from the environment`() {
    #expect(Translation.directory(environment: [:], beside: "/usr/libexec") == "/usr/libexec/../share/locale")
    #expect(Translation.directory(environment: ["TAGROUTE_LOCALE": "/t"], beside: "/usr/libexec") == "/t")
    #expect(Translation.directory(environment: ["TAGROUTE_LOCALE": "t"], beside: nil) == nil)
  }

  @Test func `a text stays English until a catalogue is loaded`() {
    #expect(Translation.text("Open in {app}", ["app": "Menu"]) == "Open in Menu")
  }
}
