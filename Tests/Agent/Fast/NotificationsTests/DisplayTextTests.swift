import Testing

@testable import Notifications

struct DisplayTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("  two   spaces\tand\u{A0}more  ", "two spaces and more"),
    ("line\r\nbreaks\u{2028}of\u{2029}all\u{85}kinds\u{B}", "line breaks of all kinds"),
    ("\u{1B}[31mred\u{7}\u{0}", "[31mred"),
    ("abc\u{202E}gpj.exe\u{202C}", "abcgpj.exe"),
    ("\u{2066}a\u{2069}\u{200E}b\u{200F}c\u{61C}", "abc"),
    ("zero\u{200B}width\u{FEFF}\u{2060}\u{AD}", "zerowidth"),
    ("tags\u{E0041}\u{E007F}", "tags"),
    ("private\u{E000}\u{10FFFD} and\u{FFFF}", "private and"),
    ("Menu\u{2800}\u{2800}\u{1D159}\u{2800}x", "Menu x"),
    ("hangul\u{3164}filler\u{115F}", "hangulfiller"),
    ("日本語と한국어、עברית, عربى", "日本語と한국어、עברית, عربى"),
    ("می\u{200C}خواهم", "می\u{200C}خواهم"),
    ("👩‍👩‍👧 ❤️ 🇪🇺", "👩‍👩‍👧 ❤️ 🇪🇺"),
    ("\u{301}accent first", "accent first"),
    ("<b>&amp;", "<b>&amp;"),
  ])
  func `control and invisible characters are removed, and text in any language stays`(raw: String, shown: String) {
    #expect(DisplayText(raw).string == shown)
  }

  @Test(arguments: [
    ("one\ntwo", 2, "one\ntwo"), ("one\r\ntwo", 2, "one\ntwo"), ("one \n\t two", 2, "one\ntwo"),
    ("\n\n one\n", 9, "one"), ("one\n\n\n \n\ntwo", 9, "one\n\ntwo"), ("one\ntwo\nthree", 2, "one\ntwo three"),
    ("one\n\ntwo", 2, "one\ntwo"), ("one\u{2028}two\u{2029}three\u{85}four", 9, "one two three four"),
    ("one\n\u{301}two", 2, "one\ntwo"), ("one\ntwo", 1, "one two"), ("one\ntwo", 0, "one two"),
  ])
  func `a text of several lines keeps its line feeds`(raw: String, lines: Int, shown: String) {
    #expect(DisplayText(raw, lines: lines).string == shown)
    #expect(DisplayText(raw, lines: lines).withoutSchemes.string == shown)
  }

  @Test func `line feeds count as characters`() {
    let text = DisplayText(String(repeating: "a\n", count: 100), limit: 10, lines: .max).string
    #expect(text == "a\na\na\na\na…")
  }

  @Test func `long runs of combining marks are cut`() {
    let pile = "a" + String(repeating: "\u{301}", count: 1000) + "b"
    #expect(DisplayText(pile, limit: 100).string.unicodeScalars.count == 6)
  }

  /// Swift treats a run of these as one character, at any length.
  @Test(arguments: ["\u{1100}", "👩\u{200D}", "क\u{94D}", "👍\u{1F3FB}", "\u{FF9E}", "ก\u{E33}", "\u{D4E}"])
  func `a long text that is one Swift character is still cut`(piece: String) {
    let text = DisplayText(String(repeating: piece, count: 960), limit: 60).string
    #expect((1...61).contains(text.count) && text.unicodeScalars.last == "…")
    let isMark: (Unicode.Scalar) -> Bool = {
      [.nonspacingMark, .enclosingMark, .format].contains($0.properties.generalCategory)
    }
    #expect((60...121).contains(text.unicodeScalars.count { !isMark($0) }))
    // A second cut leaves the text unchanged.
    #expect(DisplayText(text, limit: 60).withoutSchemes.string == text)
  }

  @Test func `long text is cut between characters and ends with an ellipsis`() {
    #expect(DisplayText("abcdef", limit: 4).string == "abc…")
    #expect(DisplayText("abcd", limit: 4).string == "abcd")
    #expect(DisplayText("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", limit: 2).string == "👩‍👩‍👧…")
    #expect(DisplayText("abc", limit: 0).string == "")
    #expect(DisplayText("abc", limit: -1).string == "")
    #expect(DisplayText(String(repeating: "x", count: 1 << 20), limit: 10).string.count == 10)
  }

  @Test(arguments: [
    ("https://a.example/b", "a.example/b"), ("x https://a", "x a"), ("://", "://"), ("hue://b/c", "hue://b/c"),
    ("(HTTP://a)", "(a)"), ("no scheme", "no scheme"), ("httphttp://://a", "a"), ("ftp://http://a", "a"),
    ("https://\u{301}a", "a"), ("HtTpS://https:/", "https:/"), ("https:\u{301}//a", "https:\u{301}//a"),
  ])
  func `schemes of addresses that a server may open are removed`(raw: String, shown: String) {
    #expect(DisplayText(raw).withoutSchemes.string == shown)
  }
}
