import Rig
import Testing

@testable import UniversalLinks

/// Apple, "Supporting associated domains" and "applinks.Details.Components": `*`, `?` and `?*`. There is no escape
/// character.
@Suite struct LinkPatternTests {
  @Test(arguments: [
    ("/buy/*", "/buy/", true), ("/buy/*", "/buy/shoes/9", true), ("/buy/*", "/buy", false),
    ("/buy/*", "/rebuy/x", false), ("*", "", true), ("*", "/anything", true), ("?", "", false), ("?", "a", true),
    ("?", "ab", false), ("?*", "", false), ("?*", "a", true), ("?*", "abc", true), ("????", "1234", true),
    ("????", "123", false), ("????", "12345", false), ("", "", true), ("", "a", false), ("a*b*c", "aXXbYYc", true),
    ("a*b*c", "aXXbYY", false), ("*a", "aaa", true), ("a", "A", false), ("/a**b", "/ab", true),
    ("$5", "$5", true), ("/x)", "/x)", true),
    // WWDC20-10098: built-in variables.
    ("/$(lang)_CA/*", "/fr_CA/x", true), ("/$(lang)_CA/*", "/xx_CA/x", false), ("/$(lang)/", "/haw/", true),
    ("/$(region)", "/JP", true), ("/$(region)", "/ZZ", false), ("/$(region)", "/jp", false),
    ("$(digit)$(digit)", "42", true), ("$(digit)", "x", false), ("$(digit)", "٤", false),
    ("$(alpha)", "Q", true), ("$(upper)", "q", false), ("$(lower)", "q", true), ("$(alnum)", "7", true),
    ("$(xdigit)", "f", true), ("$(xdigit)", "g", false),
  ])
  func `wildcards and built-in variables match as documented`(pattern: String, text: String, expected: Bool) throws {
    #expect(try LinkPattern(pattern).matches(text) == expected)
  }

  @Test func `a defined variable matches each of its values`() throws {
    var variables = SubstitutionVariables()
    try variables.define("food", as: ["burrito", "pizza", "sushi*", "?eef"])
    let pattern = try LinkPattern("/$(food)/$(food)", variables: variables)
    #expect(pattern.matches("/pizza/burrito"))
    #expect(pattern.matches("/sushi-roll/beef"))
    #expect(!pattern.matches("/pizza/steak"))
    #expect(!pattern.matches("/Pizza/burrito"))
  }

  @Test func `a definition replaces a built-in variable, and without values it never matches`() throws {
    var variables = SubstitutionVariables()
    try variables.define("lang", as: ["tlh"])
    #expect(try LinkPattern("$(lang)", variables: variables).matches("tlh"))
    #expect(try !LinkPattern("$(lang)", variables: variables).matches("en"))
    try variables.define("none", as: [])
    #expect(try !LinkPattern("*$(none)*", variables: variables).matches(""))
  }

  @Test(arguments: ["$(unknown)", "$(Lang)", "$(lang", "$()"])
  func `an unknown or unclosed variable is rejected`(pattern: String) {
    #expect(throws: AssociationError.self) { try LinkPattern(pattern) }
  }

  @Test(arguments: [("a$(b)c", ["x"]), ("b", ["$(digit)"]), ("", ["x"])])
  func `an invalid variable name or value is rejected`(name: String, values: [String]) {
    var variables = SubstitutionVariables()
    #expect(throws: AssociationError.self) { try variables.define(name, as: values) }
  }

  @Test func `a case-insensitive pattern ignores case`() throws {
    let comparison = LinkPattern.Comparison(isCaseSensitive: false)
    for (pattern, text) in [("/BUY/*", "/buy/X"), ("$(upper)", "q"), ("$(region)", "jp"), ("/%c3%A9", "/%C3%a9")] {
      #expect(try LinkPattern(pattern, comparison: comparison).matches(text))
    }
    var variables = SubstitutionVariables()
    try variables.define("food", as: ["Pizza"])
    #expect(try LinkPattern("$(food)", comparison: comparison, variables: variables).matches("pIZZA"))
  }

  @Test func `the percent-encoding setting decides how escapes are compared`() throws {
    #expect(try LinkPattern("/caf%c3%a9").matches("/caf%C3%A9"))
    #expect(try !LinkPattern("/café").matches("/caf%C3%A9"))
    let decoded = LinkPattern.Comparison(isPercentEncoded: false)
    #expect(try LinkPattern("/café", comparison: decoded).matches("/caf%C3%A9"))
    #expect(try LinkPattern("/caf%C3%A9", comparison: decoded).matches("/caf%C3%A9"))
    #expect(try LinkPattern("/caf?", comparison: decoded).matches("/caf%C3%A9"))
    // The character of an escape is not a wildcard.
    #expect(try LinkPattern("/%2A", comparison: decoded).matches("/%2A"))
    #expect(try !LinkPattern("/%2A", comparison: decoded).matches("/abc"))
    // Escapes that are not UTF-8 stay encoded.
    #expect(try LinkPattern("/%FF", comparison: decoded).matches("/%ff"))
  }

  /// A second implementation by backtracking, for short texts only.
  private func slow(_ pattern: Substring, _ text: Substring) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" { return slow(pattern.dropFirst(), text) || !text.isEmpty && slow(pattern, text.dropFirst()) }
    guard let character = text.first, first == "?" || first == character else { return false }
    return slow(pattern.dropFirst(), text.dropFirst())
  }

  @Test func `matching agrees with backtracking on short texts`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<5_000 {
      let pattern = String(
        (0..<Int.random(in: 0...8, using: &random)).map { _ in "ab*?".randomElement(using: &random) ?? "a" })
      let text = String(
        (0..<Int.random(in: 0...10, using: &random)).map { _ in "ab".randomElement(using: &random) ?? "a" })
      #expect(try LinkPattern(pattern).matches(text) == slow(pattern[...], text[...]), "\(pattern) on \(text)")
    }
  }

  /// Backtracking would not finish within the age of the universe.
  @Test func `a pattern that defeats backtracking is matched quickly or rejected`() throws {
    let pattern = try LinkPattern(String(repeating: "*a", count: 1_000) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 2_000)))
    var variables = SubstitutionVariables()
    try variables.define("v", as: (0..<40).map { _ in "*a*a*" })
    #expect(throws: AssociationError.self) {
      try LinkPattern(String(repeating: "$(v)", count: 200), variables: variables)
    }
  }

  @Test func `texts longer than a machine word are matched`() throws {
    for length in [62, 63, 64, 65, 127, 128, 129, 500] {
      let text = String(repeating: "x", count: length)
      #expect(try LinkPattern(text).matches(text))
      #expect(try LinkPattern("*" + text).matches(text))
      #expect(try LinkPattern("?*x").matches(text))
      #expect(try !LinkPattern(text + "?").matches(text))
      #expect(try !LinkPattern(text).matches(text + "x"))
    }
  }
}
