import Testing

@testable import CoreNFC

@Suite struct SheetTextTests {
  @Test(arguments: [
    ("one\ntwo", "one\ntwo"), ("one\r\ntwo", "one\ntwo"), ("one\rtwo", "one\ntwo"), ("one\r\rtwo", "one\n\ntwo"),
    ("one\n\rtwo", "one\n\ntwo"), ("one\u{2028}two\u{2029}three", "one\ntwo\nthree"), ("\r\n\r\n", "\n\n"), ("", ""),
  ])
  func `every line break becomes one line feed`(text: String, plain: String) {
    #expect(SheetText.plain(text) == plain)
  }

  @Test(arguments: [
    ("a\tb", "ab"), ("a\u{7}b\u{0}", "ab"), ("a\u{85}b\u{9B}", "ab"),
    // Cf: direction marks and overrides, a soft hyphen, a byte order mark, an invisible tag.
    ("a\u{202E}b\u{2066}c\u{200F}", "abc"), ("a\u{AD}b\u{FEFF}", "ab"), ("a\u{E0041}b", "ab"),
    // A joiner within one character: the scalars around it stay.
    ("\u{1F469}\u{200D}\u{1F4BB}", "\u{1F469}\u{1F4BB}"), ("e\u{301}", "e\u{301}"), ("日本語", "日本語"),
  ])
  func `other control and format characters are left out`(text: String, plain: String) {
    #expect(Array(SheetText.plain(text).unicodeScalars) == Array(plain.unicodeScalars))
  }

  @Test(arguments: [
    (String(repeating: "a", count: 256), 256), (String(repeating: "a", count: 300), 256),
    (String(repeating: "é", count: 129), 256), ("a" + String(repeating: "é", count: 128), 255),
    (String(repeating: "日", count: 100), 255), (String(repeating: "e\u{301}", count: 100), 255),
    (String(repeating: "\u{1F469}\u{1F3FD}", count: 40), 256), ("e" + String(repeating: "\u{301}", count: 300), 0),
    (String(repeating: "\r\n", count: 300), 256), (String(repeating: "\u{200B}", count: 300) + "end", 3),
  ])
  func `a long text is cut before the character that does not fit`(text: String, bytes: Int) {
    let plain = SheetText.plain(text)
    #expect(plain.utf8.count == bytes)
    #expect(SheetText.plain(plain) == plain)
  }
}
