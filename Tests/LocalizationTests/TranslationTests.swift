import Testing

@testable import Localization

/// A catalogue is somebody else's file.
struct TranslationTests {
  @Test(arguments: [
    ("Open in {app}", "Open in Menu"), ("{app} で開く", "Menu で開く"), ("{app}, {app}!", "Menu, Menu!"), ("{app}", "Menu"),
    // Never without the name that the user decides by, nor with a place that nobody fills.
    ("Open", nil), ("", nil), ("Open in {name}", nil), ("Open {app} in {}", nil), ("Open {app} in {", nil),
    ("{{app}}", nil), ("%s {app} %n %1$s", "%s Menu %n %1$s"),
  ])
  func `a translation counts that has just the places that there are values for`(template: String, text: String?) {
    #expect(Translation.filled(template, ["app": "Menu"]) == text)
  }

  @Test func `what takes a place is not looked into`() {
    let filled = Translation.filled("{domain}: {app}", ["app": "{domain} %s {}", "domain": "{app}"])
    #expect(filled == "{app}: {domain} %s {}")
    #expect(Translation.filled("50 %", [:]) == "50 %" && Translation.filled("{", [:]) == nil)
  }

  @Test func `catalogues are beside the program's directory, or where a test says`() {
    #expect(Translation.directory(environment: [:], beside: "/usr/libexec") == "/usr/libexec/../share/locale")
    #expect(Translation.directory(environment: ["TAGROUTE_LOCALE": "/t"], beside: "/usr/libexec") == "/t")
    #expect(Translation.directory(environment: ["TAGROUTE_LOCALE": "t"], beside: nil) == nil)
  }

  @Test func `before the program has begun a text is itself`() {
    #expect(Translation.text("Open in {app}", ["app": "Menu"]) == "Open in Menu")
  }
}
