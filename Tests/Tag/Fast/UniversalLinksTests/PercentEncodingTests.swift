import Testing

@testable import UniversalLinks

@Suite struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("a", "a"), ("%61", "a"), ("%C3%A9", "é"), ("%e6%97%a5", "日"), ("%F0%9F%98%80", "😀"), ("a%62c", "abc"),
    // Bytes that are not UTF-8. Only these bytes stay encoded.
    ("%FF", "%FF"), ("%ff", "%FF"), ("%62ill%FF", "bill%FF"), ("%FF%62ill", "%FFbill"), ("%C3", "%C3"),
    ("%C3%62", "%C3b"), ("%C3%28%C3%A9", "%C3(é"), ("%A9%C3%A9", "%A9é"), ("%E6%97x", "%E6%97x"),
    ("%E6%97", "%E6%97"),
    ("%F0%9F%98%62", "%F0%9F%98b"),
    // An overlong form, half of a surrogate pair, a value above the last character.
    ("%C0%AF", "%C0%AF"), ("%ED%A0%80", "%ED%A0%80"), ("%F4%90%80%80", "%F4%90%80%80"),
    // Text is decoded only once.
    ("%2561", "%61"), ("%252F", "%2F"),
    // These are not escapes.
    ("%", "%"), ("%6", "%6"), ("%zz", "%zz"), ("%%61", "%a"), ("a%", "a%"),
  ])
  func `only escapes that form valid UTF-8 are decoded`(text: String, expected: String) {
    #expect(PercentEncoding.decoded(text) == expected)
  }

  @Test(arguments: [
    ("%2f", "%2F"), ("%c3%a9", "%C3%A9"), ("%62ill", "bill"), ("%7E%2D%5f%2E%41%39", "~-_.A9"),
    ("%2a%3F%24", "%2A%3F%24"),
    ("%2561", "%2561"), ("%", "%"), ("%6", "%6"), ("%zz%61", "%zza"),
  ])
  func `text that stays encoded has one spelling`(text: String, expected: String) {
    #expect(PercentEncoding.normalized(text) == expected)
    #expect(PercentEncoding.normalized(expected) == expected)
  }

  @Test(arguments: [true, false]) func `no spelling of a link bypasses an exclusion`(isEncoded: Bool) throws {
    let association = try appLinks(
      #"{"/": "/bill*", "exclude": true, "percentEncoded": \#(isEncoded)}, {"/": "*"}"#)
    for path in ["/bill", "/%62ill", "/bil%6C", "/bil%6c/%FF", "/%62%69%6C%6C%C3", "/bill%E6%97", "/bill%2561"] {
      guard case .excluded = association.verdict(on: try URI("https://example.com\(path)"), for: { _ in true }) else {
        Issue.record("\(path) is not excluded")
        continue
      }
    }
  }

  @Test func `names of query items are compared by their bytes`() throws {
    let association = try appLinks(#"{"?": {"caf\u00E9": "1"}}"#)
    func isIn(_ query: String) throws -> Bool { association.opens(try URI("https://example.com/?\(query)")) }
    #expect(try isIn("caf%C3%A9=1"))
    // Swift treats this spelling as the same text, but for a server it is another name.
    #expect(try !isIn("cafe%CC%81=1"))
    #expect(try isIn("caf%C3%A9=1&cafe%CC%81=2"))
  }
}
